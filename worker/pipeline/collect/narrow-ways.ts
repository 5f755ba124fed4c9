import { chunks } from '../../../core/connector/batches.ts';
import { aboutRecords } from '../../../core/connector/calls.ts';
import type { FeedbackClient, RequestPage } from '../../../core/feedback/client.ts';
import { FeedbackError } from '../../../core/feedback/failure.ts';
import { dayBefore, type FeedbackRequest, type RequestQuery } from '../../../core/feedback/request-form.ts';
import type { Journey } from '../../journey/journey.ts';
import { areSame, type Counts, countsOfAnswer, minus, sum } from './counts.ts';
import { isAllWithin, type Window, WindowReading, windowFrom } from './window.ts';

export interface Expected {
  /** Journeys whose answer is expected, or came recently, with their requests. */
  journeys: { journey: Journey; requestId: string }[];
  /** Whether `journeys` is complete; else there are newer journeys. */
  areAll: boolean;
  /** A lower bound of the journeys' requests, by id and by time; undefined where no request is known. */
  oldest: { id: string; scheduled: Date } | undefined;
}

interface WaysContext {
  feedback: Pick<FeedbackClient, 'request' | 'requestPages'>;
  /** Returns false where the pass has lost its lock: then another pass, or the next pass, reads everything again. */
  renew(): Promise<boolean>;
  take(page: Pick<RequestPage, 'results' | 'unreadable'>): Promise<void>;
}

/** The result of a way of reading. `unexplained`: the service's counts show a change that the way has not found. */
export type Reading = { is: 'explained'; window?: Window | undefined } | { is: 'unexplained' } | { is: 'overtaken' };

export const overtaken: Reading = { is: 'overtaken' };
/** How many requests are read at the same time. */
const atOnce = 5;

/** The service's counts at the last pass (`before`) and now, and the other values that the last pass stored. */
export interface Change {
  campaign: number;
  before: Counts;
  now: Counts;
  window?: Window | undefined;
  /** When the last pass was. */
  since?: Date | undefined;
}

export type Way = (expected: Expected, change: Change, context: WaysContext) => Promise<Reading>;

/** Reads the requests that changed since the day before the last pass. */
export const readSince: Way = async (_, { campaign, since }, context) =>
  await readList({ campaign, changedSince: since && dayBefore(since) }, context);

/** Reads the requests scheduled since the day before the oldest request whose answer is expected. */
export const readFrom: Way = async ({ oldest }, { campaign }, context) =>
  await readList({ campaign, dateFrom: oldest && dayBefore(oldest.scheduled) }, context);

async function readList(query: RequestQuery, { feedback, renew, take }: WaysContext): Promise<Reading> {
  for await (const page of feedback.requestPages(query)) {
    if (!(await renew())) return overtaken;
    await take(page);
  }
  return { is: 'explained' };
}

/** Reads the requests whose answers are expected, one by one. */
export const readEach: Way = async ({ journeys }, { campaign, before, now }, context) => {
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

/** Reads a request; undefined where the service no longer has it. */
async function requestOf(id: string, { feedback }: WaysContext): Promise<FeedbackRequest | undefined> {
  try {
    return await feedback.request(id);
  } catch (error) {
    if (error instanceof FeedbackError && (error.status === 404 || error.status === 403)) return undefined;
    throw error;
  }
}

/** Reads the pages of an ordered export that begin with the oldest request whose answer is expected. */
export const readWindow: Way = async ({ oldest }, { campaign, now, window: known }, context) => {
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
