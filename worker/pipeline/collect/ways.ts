import type { JourneyState } from '../../journey/journey.ts';
import type { JourneyStore } from '../../journey/store.ts';
import {
  type Change,
  type Expected,
  overtaken,
  readEach,
  readFrom,
  readSince,
  readWindow,
  type Way,
} from './narrow-ways.ts';
import { WindowReading, windowFrom } from './window.ts';

/** The most journeys that are read in each state of a source, oldest first. */
const mostJourneys = 100;
/** How long an answer may still be changed, or get a comment. */
const lateMs = 86_400_000;
/** The service's clock may differ: a window begins this much before the request of the oldest journey. */
const marginMs = 3_600_000;

/** Lists the campaign's journeys. `areAll` and `oldest` are of all campaigns and sources, as their requests share one numbering. */
export async function expectedIn(
  campaign: number,
  sources: readonly { store: JourneyStore }[],
  now: Date,
): Promise<Expected> {
  const since = new Date(now.getTime() - lateMs);
  const journeys: Expected['journeys'] = [];
  let areAll = true;
  for (const source of sources) {
    const { store } = source;
    const oldestIn = async (state: JourneyState, from?: Date) =>
      await store.those(await store.lists.idsIn(state, { ...(from && { since: from }), limit: mostJourneys }));
    const lists = await Promise.all([
      oldestIn('asked'),
      oldestIn('answered', since),
      oldestIn('written', since),
      oldestIn('tested', since),
    ]);
    areAll &&= lists.every(({ length }) => length < mostJourneys);
    for (const journey of lists.flat()) {
      if (journey.requestId !== undefined) journeys.push({ journey, requestId: journey.requestId });
    }
  }
  const isHere = ({ journey }: Expected['journeys'][number]) => journey.campaign === campaign;
  return { journeys: journeys.filter(isHere), areAll, oldest: oldestOf(journeys) };
}

function oldestOf(journeys: Expected['journeys']): Expected['oldest'] {
  if (journeys.length === 0) return undefined;
  const ids = journeys.map(({ requestId }) => requestId);
  const least = ids.reduce((a, b) => (Number(b) < Number(a) ? b : a));
  const times = journeys.map(({ journey }) => (journey.askedAt ?? journey.closedAt).getTime());
  const first = times.reduce((a, b) => Math.min(a, b));
  return { id: least, scheduled: new Date(first - marginMs) };
}

/** The most requests on a page of the service (specification, section 8). */
const pageSize = 1_000;

/** The filters for which `feedback.operations.list.filters` names a parameter. */
export interface Narrowed {
  changedSince: boolean;
  dateFrom: boolean;
}

/** The ways to read the requests that may have changed, in the order to try: the way with the fewest calls first, the whole export last. */
export function waysFor(
  expected: Expected,
  { window, since }: Change,
  { total, narrowed }: { total: number; narrowed: Narrowed },
): Way[] {
  const { journeys, areAll, oldest } = expected;
  if (narrowed.changedSince && since) return [readSince];
  if (narrowed.dateFrom && oldest) return [readFrom];
  const all = { way: readAll, calls: Math.max(1, Math.ceil(total / pageSize)) };
  const ways = [all];
  if (window && oldest && windowFrom(window, oldest) !== undefined) {
    ways.push({ way: readWindow, calls: Math.ceil(window.rows / window.pageSize) + 1 });
  }
  if (areAll && journeys.length > 0) ways.push({ way: readEach, calls: journeys.length });
  const byCost = ways.toSorted((a, b) => a.calls - b.calls).map(({ way }) => way);
  return byCost.slice(0, byCost.indexOf(readAll) + 1);
}

/** Reads the whole export, and finds out how it is ordered, if at all, for the next passes. */
export const readAll: Way = async ({ oldest }, { campaign, now }, context) => {
  const readings = WindowReading.ofEach(oldest);
  let isReadable = true;
  for await (const page of context.feedback.requestPages({ campaign })) {
    if (!(await context.renew())) return overtaken;
    for (const reading of readings) reading.add(page);
    isReadable &&= page.unreadable.length === 0;
    await context.take(page);
  }
  const window = isReadable
    ? readings.map((reading) => reading.window(now)).find((one) => one !== undefined)
    : undefined;
  return { is: 'explained', window };
};
