import type { Journey } from '../journey/journey.ts';
import type { Searched } from './journey-filter.ts';
import { journeyPage } from './journey-pages.ts';
import { instants } from './shown-time.ts';

/** The common text of reasons that differ only in instants, numbers and ids. Pure. */
export function causeOf(why: string): string {
  return why
    .replaceAll(instants, '…')
    .replaceAll(/[\w-]*\d[\w.-]*/g, '…')
    .trim();
}

/** Journeys that stopped for one cause. */
export interface Issue {
  source: string;
  state: 'failed' | 'parked';
  cause: string;
  /** The reason of the last one. */
  why: string;
  count: number;
  /** Between which they stopped. */
  first: Date;
  last: Date;
}

/** The causes that keep journeys from going on, the most frequent first. `isCut`: only the last `most` journeys were read. */
export async function issuesIn(
  sources: readonly Searched[],
  most: number,
): Promise<{ issues: Issue[]; isCut: boolean }> {
  const { found, next } = await journeyPage(sources, { lists: ['failed', 'parked'], size: most, most });
  const groups = Map.groupBy(found, ({ journey: { state, why = '' }, context }) =>
    JSON.stringify([context.name, state, causeOf(why)]),
  );
  const issues = [...groups.values()].flatMap((group) => issueOf(group));
  return { issues: issues.toSorted((a, b) => b.count - a.count), isCut: next !== undefined };
}

/** How many of the last closings were skipped for a reason. */
export interface SkipCount {
  reason: string;
  count: number;
}

/** The most frequent reason first. `of`: how many of the last closings were counted. */
export async function skipsIn(sources: readonly Searched[], most: number): Promise<{ skips: SkipCount[]; of: number }> {
  const { found } = await journeyPage(sources, { lists: ['skipped'], size: most, most });
  const groups = Map.groupBy(found, ({ journey: { reason = '' } }) => reason);
  const skips = [...groups].flatMap(([reason, { length }]) => (reason === '' ? [] : [{ reason, count: length }]));
  return { skips: skips.toSorted((a, b) => b.count - a.count), of: found.length };
}

/** @param group the last changed first */
function issueOf(group: readonly { journey: Journey; context: { name: string } }[]): Issue[] {
  const [newest, oldest] = [group[0], group.at(-1)];
  if (!newest || !oldest) return [];
  const { state, why = '', updatedAt: last } = newest.journey;
  if (state !== 'failed' && state !== 'parked') return [];
  const times = { first: oldest.journey.updatedAt, last };
  return [{ source: newest.context.name, state, cause: causeOf(why), why, count: group.length, ...times }];
}
