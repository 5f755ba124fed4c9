/**
 * Every key of a source carries the tag `{cl:<source>}`, which keeps them (and the source's queues) in one slot of a
 * Redis Cluster, so that one script may touch them together.
 * @param source the name that the source's data is stored under (`storedAs`)
 */
export function tagOf(source: string): string {
  return `{cl:${source}}`;
}

/** The tag of keys that belong to no source. */
export const globalTag = '{cl}';

const dryPrefix = 'dry-run.';

/** The name of a source in a dry run (`start --dry-run`): no configured name has a dot, so the names of dry runs are never configured names. */
export function dryRunName(source: string): string {
  return `${dryPrefix}${source}`;
}

/** The name of a source in a process, from the name in the configuration or the name of its dry run. */
export function nameIn(source: string, { dryRun }: { dryRun: boolean }): string {
  return dryRun ? dryRunName(nameInEarnest(source)) : source;
}

export function isDryRun(source: string): boolean {
  return source.startsWith(dryPrefix);
}

/** The source's name in the configuration, in a dry run or in earnest. */
export function nameInEarnest(source: string): string {
  return isDryRun(source) ? source.slice(dryPrefix.length) : source;
}

/** The prefixes of keys that sources share about people and caps. Dry runs have a prefix of their own. */
export const sharedSpaces = [globalTag, `${globalTag}:dry-run`] as const;

export function spaceOf(source: string): string {
  const [inEarnest, dry] = sharedSpaces;
  return isDryRun(source) ? dry : inEarnest;
}

/** The account of the Feedback service that this installation asks in. */
export const accountKey = `${globalTag}:account`;

/** A hash with an entry for each source, by the name that its data is stored under. */
export const knownSourcesKey = `${globalTag}:sources`;

/** A hash that maps each later name of a source to the name that its data is stored under. */
export const storedAsKey = `${globalTag}:sources:stored-as`;

/** A sorted set: the campaigns in which closeloop has asked, scored by the last time. */
export const askedInKey = `${globalTag}:asked-in`;

/** A hash by campaign: when the first collecting pass after the last successful pass failed. Real time. */
export const failingKey = `${globalTag}:campaigns:failing`;

/** A set: campaigns that do not exist for this account of the service. */
export const absentKey = `${globalTag}:campaigns:absent`;

/** A hash by campaign: when a collecting pass over the campaign last began. Real time. */
export const begunKey = `${globalTag}:campaigns:begun`;

/** The key of the result of a campaign's last collecting pass. Without this result the next pass reads the whole export. */
export function seenKey(campaign: number): string {
  return `${globalTag}:campaign:${campaign}`;
}

/** The key of the generation of the campaign's present or last collecting pass. Without it that pass stores no result (`seenKey`). */
export function passKey(campaign: number): string {
  return `${seenKey(campaign)}:pass`;
}
