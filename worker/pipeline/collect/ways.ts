import { chunks } from '../../../core/connector/batches.ts';
import { aboutRecords } from '../../../core/connector/calls.ts';
import type { FeedbackClient, RequestPage } from '../../../core/feedback/client.ts';
import { FeedbackError } from '../../../core/feedback/failure.ts';
import { dayBefore, type FeedbackRequest, type RequestQuery } from '../../../core/feedback/request-form.ts';
import type { Journey } from '../../journey/journey.ts';
import type { JourneyStore } from '../../journey/store.ts';
import { areSame, type Counts, countsOfAnswer, minus, sum } from './counts.ts';
import { isAllWithin, type Window, WindowReading, windowFrom } from './window.ts';

/** The most journeys that are read in each state of a source, oldest first. */
const mostJourneys = 100;
/** How long an answer may still be changed, or get a comment. */
const lateMs = 86_400_000;
/** The service's clock is its own: a window begins this much before the request of the oldest journey. */
const marginMs = 3_600_000;

interface Expected {
  /** Journeys whose answer is expected, or came lately, with their requests. */
  journeys: { journey: Journey; requestId: string }[];
  /** Whether `journeys` is complete; else there are newer ones. */
  areAll: boolean;
  /** A lower bound of the journeys' requests, by id and by time; undefined where there are none. */
  oldest: { id: string; scheduled: Date } | undefined;
}

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
    const { queries } = source.store;
    const lists = await Promise.all([
      queries.oldestIn('asked', { limit: mostJourneys }),
      queries.oldestIn('answered', { since, limit: mostJourneys }),
      queries.oldestIn('written', { since, limit: mostJourneys }),
      queries.oldestIn('tested', { since, limit: mostJourneys }),
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

interface WaysContext {
  feedback: Pick<FeedbackClient, 'request' | 'requestPages'>;
  /** False where the pass has lost its lock: another pass, or the next one, reads everything again. */
  renew(): Promise<boolean>;
  take(page: Pick<RequestPage, 'results' | 'unreadable'>): Promise<void>;
}

/** The result of a way of reading. `unexplained`: the service's counts show a change that the way has not found. */
export type Reading = { is: 'explained'; window?: Window | undefined } | { is: 'unexplained' } | { is: 'overtaken' };

const overtaken: Reading = { is: 'overtaken' };

/** The most that the service puts on a page (specification, section 8). */
const pageSize = 1_000;
/** Requests that are read at once. */
const atOnce = 5;

/** The service's counts at the last pass (`before`) and now, and what else the last pass stored. */
export interface Change {
  campaign: number;
  before: Counts;
  now: Counts;
  window?: Window | undefined;
  /** When the last pass was. */
  since?: Date | undefined;
}

/** Which of these `feedback.operations.list.filters` names a parameter for. */
export interface Narrowed {
  changedSince: boolean;
  dateFrom: boolean;
}

type Way = (expected: Expected, change: Change, context: WaysContext) => Promise<Reading>;

/** The ways of reading what may have changed, in the order to try: fewest calls first, the whole export last. */
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

/** Reads the requests that changed since the day before the last pass. */
const readSince: Way = async (_, { campaign, since }, context) =>
  await readList({ campaign, changedSince: since && dayBefore(since) }, context);

/** Reads the requests scheduled since the day before the oldest request whose answer is expected. */
const readFrom: Way = async ({ oldest }, { campaign }, context) =>
  await readList({ campaign, dateFrom: oldest && dayBefore(oldest.scheduled) }, context);

async function readList(query: RequestQuery, { feedback, renew, take }: WaysContext): Promise<Reading> {
  for await (const page of feedback.requestPages(query)) {
    if (!(await renew())) return overtaken;
    await take(page);
  }
  return { is: 'explained' };
}

/** Reads the requests whose answers are expected, one by one. */
const readEach: Way = async ({ journeys }, { campaign, before, now }, context) => {
  const changes: Counts[] = [];
  for (const some of chunks(journeys, atOnce)) {
    if (!(await context.renew())) return overtaken;
    const requests = await Promise.all(
      some.map(({ requestId }) => aboutRecords([requestId], () => requestOf(requestId, context))),
    );
    await context.take({ results: requests.filter((one) => one !== undefined), unreadable: [] });
    for (const [i, { journey }] of some.entries()) {
      const request = requests[i];
      if (!request || (request.campaign ?? campaign) !== campaign) continue;
      changes.push(minus(countsOfAnswer(request), journey.answer ? countsOfAnswer(journey.answer) : {}));
    }
  }
  return { is: areSame(sum(changes), minus(now, before)) ? 'explained' : 'unexplained' };
};

/** Undefined for a request that the service no longer has. */
async function requestOf(id: string, { feedback }: WaysContext): Promise<FeedbackRequest | undefined> {
  try {
    return await feedback.request(id);
  } catch (error) {
    if (error instanceof FeedbackError && (error.status === 404 || error.status === 403)) return undefined;
    throw error;
  }
}

/** Reads the pages of an ordered export that begin with the oldest request whose answer is expected. */
const readWindow: Way = async ({ oldest }, { campaign, now, window: known }, context) => {
  const from = known && oldest && windowFrom(known, oldest);
  if (known === undefined || from === undefined) return { is: 'unexplained' };
  const reading = new WindowReading(known.by, from, known.width);
  let isReadable = true;
  for await (const page of known.isRising
    ? newestLast(campaign, known, reading, context)
    : newestFirst(campaign, reading, context)) {
    if (!(await context.renew())) return overtaken;
    isReadable &&= page.unreadable.length === 0;
    await context.take(page);
  }
  const window = isReadable ? reading.window(now, known) : undefined;
  return window && isAllWithin(known, window) ? { is: 'explained', window } : { is: 'unexplained' };
};

async function* newestFirst(
  campaign: number,
  reading: WindowReading,
  { feedback }: WaysContext,
): AsyncGenerator<RequestPage> {
  for await (const page of feedback.requestPages({ campaign })) {
    reading.add(page);
    yield page;
    if (reading.isBefore(page.results.at(-1))) return;
  }
}

/** Yields the former last page and the pages after it, then earlier pages back to the beginning of the window. */
async function* newestLast(
  campaign: number,
  { count, pageSize: size }: Window,
  reading: WindowReading,
  { feedback }: WaysContext,
): AsyncGenerator<RequestPage> {
  let at = Math.max(1, Math.ceil(count / size));
  let first: FeedbackRequest | undefined;
  for await (const page of feedback.requestPages({ campaign, page: at })) {
    first ??= page.results[0];
    reading.add(page);
    yield page;
  }
  while (at > 1 && !reading.isBefore(first)) {
    at -= 1;
    reading.jump();
    for await (const page of feedback.requestPages({ campaign, page: at })) {
      [first] = page.results;
      reading.add(page);
      yield page;
      break;
    }
  }
}
