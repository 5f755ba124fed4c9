/**
 * Every key of a source carries the tag `{cl:<source>}`, which keeps them (and the source's queues) in one slot of a
 * Redis Cluster, so that one script may touch them together.
 */
export function tagOf(source: string): string {
  return `{cl:${source}}`;
}

/** The tag of keys that belong to no source. */
export const globalTag = '{cl}';

/** Which account of the Feedback service this installation's customers are asked in. */
export const accountKey = `${globalTag}:account`;

/** A hash: what is remembered of each source, by name. */
export const knownSourcesKey = `${globalTag}:sources`;

/** Campaigns that anybody was asked in, by when. */
export const askedInKey = `${globalTag}:asked-in`;

/** By campaign: when the first collecting pass failed since the last good one. Real time. */
export const failingKey = `${globalTag}:campaigns:failing`;

/** Campaigns that the service has not for us, and never will have unless somebody acts. */
export const absentKey = `${globalTag}:campaigns:absent`;

/** By campaign: when a collecting pass over it last began. Real time. */
export const begunKey = `${globalTag}:campaigns:begun`;

/** What is remembered of a campaign's last collecting pass; forgotten, the next pass reads the whole export. */
export function seenKey(campaign: number): string {
  return `${globalTag}:campaign:${campaign}`;
}

/** While this exists the source is not worked on: it is being renamed, or has another name now. Scripts look at it, too. */
export function gateOf(source: string): string {
  return `${tagOf(source)}:gate`;
}
