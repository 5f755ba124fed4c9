/**
 * Every key of a source carries the tag `{cl:<source>}`, which keeps them (and the source's queues) in one slot of a
 * Redis Cluster, so that one script may touch them together.
 * @param source the name that its data is stored under (`storedAs`)
 */
export function tagOf(source: string): string {
  return `{cl:${source}}`;
}

/** The tag of keys that belong to no source. */
export const globalTag = '{cl}';

const dryPrefix = 'dry-run.';

/** What a source is called while it runs dry (`start --dry-run`): no configured name has a dot, so the two never meet. */
export function dryRunName(source: string): string {
  return `${dryPrefix}${source}`;
}

/** By whatever a person calls it: what a process calls the source. */
export function nameIn(source: string, { dryRun }: { dryRun: boolean }): string {
  return dryRun ? dryRunName(nameInEarnest(source)) : source;
}

export function isDryRun(source: string): boolean {
  return source.startsWith(dryPrefix);
}

/** What the configuration calls the source, dry or not. */
export function nameInEarnest(source: string): string {
  return isDryRun(source) ? source.slice(dryPrefix.length) : source;
}

/** Beginnings of the keys of what sources share about people and caps: dry runs have their own. */
export const sharedSpaces = [globalTag, `${globalTag}:dry-run`] as const;

export function spaceOf(source: string): string {
  const [inEarnest, dry] = sharedSpaces;
  return isDryRun(source) ? dry : inEarnest;
}

/** The account of the Feedback service that this installation asks in. */
export const accountKey = `${globalTag}:account`;

/** A hash: what is remembered of each source, by the name that its data is stored under. */
export const knownSourcesKey = `${globalTag}:sources`;

/** A hash: by each name that a source was given later, the name that its data is stored under. */
export const storedAsKey = `${globalTag}:sources:stored-as`;

/** A sorted set: campaigns that were asked in, by the last time. */
export const askedInKey = `${globalTag}:asked-in`;

/** By campaign: when the first collecting pass failed since the last good one. Real time. */
export const failingKey = `${globalTag}:campaigns:failing`;

/** A set: campaigns that the service does not have for this account. */
export const absentKey = `${globalTag}:campaigns:absent`;

/** By campaign: when a collecting pass over it last began. Real time. */
export const begunKey = `${globalTag}:campaigns:begun`;

/** What a campaign's last collecting pass stored; without it the next pass reads the whole export. */
export function seenKey(campaign: number): string {
  return `${globalTag}:campaign:${campaign}`;
}

/** The generation of the campaign's collecting pass that is under way, or was the last; without it that pass stores nothing (`seenKey`). */
export function passKey(campaign: number): string {
  return `${seenKey(campaign)}:pass`;
}
