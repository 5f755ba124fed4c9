import type { Source } from '../../core/connector/contract.ts';
import type { Log, Ports } from '../../core/ports.ts';
import { isOverdue, placeOf } from '../journey/follow-up.ts';
import { type Journey, type JourneyState, journeyStates } from '../journey/journey.ts';
import { settledStates } from '../journey/outcomes.ts';
import { refOf } from '../journey/refs.ts';
import { firstOf, ifStill } from '../journey/transitions.ts';
import type { AlertOfSource } from '../operations/alerts.ts';
import { isRedisUnavailable } from '../redis/unavailable.ts';
import type { Clock } from './clock.ts';
import type { Queues } from './queues.ts';
import type { Journeys } from './source-store.ts';

/** The parts of a source that the sweep needs. */
interface SweepContext extends Pick<Journeys, 'store' | 'erasures' | 'followUps'>, Queues {
  name: string;
  alert: AlertOfSource;
  clock: Clock;
  ports: Pick<Ports, 'now'>;
  log: Log;
  source: Pick<Source, 'writesNoAnswer'>;
}

interface SweepSettings {
  /** An asked journey without an answer for this long has expired; a later answer is still taken. */
  expireAfterMs: number;
  /** Settled journeys are removed, with the personal data in them, this long after their last change. */
  retentionMs: number;
  /** No process has this source in its configuration: no worker will finish its open journeys, so these are removed after the same time. */
  isGone?: boolean;
  /** Default 500. */
  pageSize?: number;
}

/** A job that should have run this long ago is added again: the job was lost. Adding a job that still runs changes nothing. Real time. */
const overdueMs = 60_000;
/** A closing that is still not planned after this time has lost its job, or waits until its stage goes on. */
const unplannedMs = 600_000;
/** The sweep handles this many journeys of a state together. Journeys that it can't handle stay, and the next sweep goes on after them. */
const pageSize = 500;
/** The most time that a sweep spends on one state and purpose. Real time. */
const longestMs = 2_000;

/** How far the sweep of a source has got, by state and purpose. */
export type SweepPlaces = Map<string, AsyncGenerator<string[]>>;

/** Handles what no event reports: customers who did not answer in time, lost jobs, and data whose retention has ended. */
export async function sweep(
  context: SweepContext,
  settings: SweepSettings,
  places: SweepPlaces = new Map(),
): Promise<void> {
  const due = dueJourneys(context, settings, places);
  await untilNone(() => due('expire', 'asked', settings.expireAfterMs, (id) => expire(id, context)));
  await continueErasures(context);
  await addLostJobs(context, due);
  await alertOverdue(context, settings, places);
  for (const state of settings.isGone ? journeyStates : settledStates) {
    const forget = async (id: string) => {
      const journey = await context.store.get(id);
      if (journey) await context.store.forget(journey);
      if (journey?.followUp) await context.followUps.relist(id, context.store);
    };
    await untilNone(() => due('forget', state, settings.retentionMs, forget));
  }
}

type Due = ReturnType<typeof dueJourneys>;

/** Works on the next page of journeys that have been in a state for at least `ms`. */
function dueJourneys(context: SweepContext, settings: SweepSettings, places: SweepPlaces) {
  const { store, clock } = context;
  const size = settings.pageSize ?? pageSize;
  return async (what: string, state: JourneyState, ms: number, work: (id: string) => Promise<unknown>) => {
    const begin = () => store.queries.pagesIn(state, new Date(clock.now().getTime() - ms), size);
    const page = await nextPage(places, `${what} ${state}`, begin);
    await workOn(page, work, context);
    return { isLast: page.length < size };
  };
}

async function workOn(
  ids: readonly string[],
  work: (id: string) => Promise<unknown>,
  { name, log }: SweepContext,
): Promise<void> {
  for (const id of ids) {
    try {
      await work(id);
    } catch (error) {
      // A journey that can't be read, because another version wrote it, must not stop the sweep of the other journeys.
      if (isRedisUnavailable(error)) throw error;
      const why = error instanceof Error ? error.name : 'unknown';
      log.warn({ journey: refOf(name, id), why }, 'the sweep could not look at a journey');
    }
  }
}

/** Handles due journeys page by page for a limited time. The next sweep handles the rest, as other sources wait for this sweep. */
async function untilNone(step: () => Promise<{ isLast: boolean }>): Promise<void> {
  const end = performance.now() + longestMs;
  while (!(await step()).isLast && performance.now() < end);
}

async function expire(id: string, context: SweepContext): Promise<void> {
  const { store, clock, log } = context;
  // The job is queued first: after a kill in between the journey is still `asked`, and the next sweep does both steps.
  if (context.source.writesNoAnswer) await context.queueNoAnswer(id);
  const at = clock.now();
  const silent = ifStill('asked', { to: 'expired', at, trace: ['expired: no answer came'], when: ({ test }) => !test });
  const tested = ifStill('asked', { to: 'tested', at, trace: ['TEST: no answer came'] });
  const after = await store.update(id, firstOf(silent, tested));
  log.info({ journey: refOf(context.name, id) }, after?.state ?? 'gone');
}

async function continueErasures(context: SweepContext): Promise<void> {
  const by = new Date(context.ports.now().getTime() - overdueMs);
  for (const id of await context.erasures.overdue(by)) await context.queueErasure(id, 0);
}

async function addLostJobs(context: SweepContext, due: Due): Promise<void> {
  const { store, clock } = context;
  await due('plan', 'received', unplannedMs, async (id) => {
    const journey = await store.get(id);
    if (journey) await planAgain(journey, context);
  });
  for (const state of ['waiting', 'creating'] as const) {
    await due('ask', state, overdueMs, async (id) => {
      const journey = await store.get(id);
      if (!journey) return;
      const dueAt = journey.dueAt ?? clock.now();
      // The job for the planned time may still be waiting in the queue.
      await (journey.hurried ? context.queueAskAhead(journey, dueAt) : context.queueAsk(journey, dueAt));
    });
  }
  const unwritten: string[] = [];
  await due('write', 'answered', overdueMs, async (id) => {
    if ((await store.get(id))?.answer) unwritten.push(id);
  });
  await context.queueWriteBack(unwritten);
}

async function planAgain(journey: Journey, context: SweepContext): Promise<void> {
  const { id, recordId, closing, closedAt, receivedAt } = journey;
  if (closing.startsWith('event:')) {
    // The journey was created to record that its event failed, and the process ended before it stored the failure.
    const why = 'its record could not be read';
    await context.store.update(id, ifStill('received', { to: 'failed', at: context.clock.now(), why }));
    return;
  }
  await context.queueEvent({
    kind: 'closed',
    recordId,
    closing,
    at: closedAt,
    key: `received:${id}`,
    what: 'its planning was lost',
    receivedAt,
  });
}

/** Alerts a person once to each overdue follow-up. */
async function alertOverdue(context: SweepContext, { pageSize: size = pageSize }: SweepSettings, places: SweepPlaces) {
  const { name, store, followUps, clock, alert } = context;
  const page = await nextPage(places, 'overdue', async function* () {
    const until = clock.now();
    for await (const entries of followUps.pages('open', { until, size })) yield entries.map(({ id }) => id);
  });
  const remedy = 'see "closeloop follow-ups list --overdue"';
  const tell = async (id: string) => {
    const journey = await store.get(id);
    const place = placeOf(journey);
    if (place === 'nowhere' || (place !== 'awaited' && place.list === 'done')) return await followUps.relist(id, store);
    if (!isToTell(journey, clock.now())) return;
    // The alert is raised first: after a kill in between it is raised again, and equal alerts count as one.
    await alert('to-do', 'a follow-up is overdue', remedy, [refOf(name, id)]);
    await store.update(id, (now) =>
      now.followUp && isToTell(now, clock.now())
        ? {
            journey: { ...now, followUp: { ...now.followUp, alertedAt: clock.now() } },
            trace: ['follow-up is overdue'],
          }
        : undefined,
    );
  };
  await workOn(page, tell, context);
}

const isToTell = (journey: Journey | undefined, now: Date): boolean =>
  journey?.followUp !== undefined && isOverdue(journey.followUp, now) && journey.followUp.alertedAt === undefined;

/** The page after the last page that was handled; after the last page the first page again. */
async function nextPage(
  places: SweepPlaces,
  place: string,
  begin: () => AsyncGenerator<string[]>,
): Promise<readonly string[]> {
  const known = places.get(place);
  const pages = known ?? begin();
  places.set(place, pages);
  const page = await pages.next().catch((error: unknown) => {
    places.delete(place);
    throw error;
  });
  if (!page.done) return page.value;
  places.delete(place);
  return known ? await nextPage(places, place, begin) : [];
}
