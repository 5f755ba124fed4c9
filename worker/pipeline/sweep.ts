import { type Journey, type JourneyState, journeyStates } from '../journey/journey.ts';
import { ifStill, settledStates } from '../journey/transitions.ts';
import { failpoint } from '../operations/failpoints.ts';
import { isRedisTrouble } from '../redis/unavailable.ts';
import type { SourceContext } from './context.ts';
import { refOf } from './context.ts';
import { attempt } from './erase/erase.ts';

export interface SweepSettings {
  /** An asked journey without an answer for this long has expired; a later answer is still taken. */
  expireAfterMs: number;
  /** Settled journeys are removed, with the personal data in them, this long after their last change. */
  retentionMs: number;
  /** No process has this source in its configuration: nobody will take up what is outstanding, so its time ends alike. */
  isGone?: boolean;
  /** Default 500. */
  pageSize?: number;
}

/** A job that should have run this long ago (of real time) is added again: it was lost, or it is running, and then nothing happens. */
const overdueMs = 60_000;
/** A closing that is being planned all this time has lost its job, or waits with others for its stage to go on. */
const unplannedMs = 600_000;
/** As many journeys of a state are looked at in one sweep; the next one goes on behind them. */
const pageSize = 500;

/** Where the sweep of a source has come to, by state and purpose. */
export type SweepPlaces = Map<string, AsyncGenerator<string[]>>;

/** What nothing else would notice: silence that has become an answer, lost jobs, and data whose time is up. */
export async function sweep(
  context: SourceContext,
  settings: SweepSettings,
  places: SweepPlaces = new Map(),
): Promise<void> {
  const { store, clock, log } = context;
  const next = (what: string, state: JourneyState, ms: number) =>
    nextPage(places, `${what} ${state}`, () =>
      store.pagesIn(state, new Date(clock.now().getTime() - ms), settings.pageSize ?? pageSize),
    );

  /** One that can't be read (another version wrote it) must not keep the others from being looked at. */
  const each = async (ids: readonly string[], work: (id: string) => Promise<unknown>) => {
    for (const id of ids) {
      try {
        await work(id);
      } catch (error) {
        if (isRedisTrouble(error)) throw error;
        const why = error instanceof Error ? error.name : 'unknown';
        log.warn({ journey: refOf(context.name, id), why }, 'the sweep could not look at a journey');
      }
    }
  };

  await each(await next('expire', 'asked', settings.expireAfterMs), async (id) => {
    // Queued first: a process killed in between leaves a journey that is still asked, and the next sweep does both.
    if (context.source.writesNoAnswer) await context.queueNoAnswer(id);
    await store.update(id, ifStill('asked', { to: 'expired', at: clock.now(), trace: ['expired: no answer came'] }));
    failpoint('expired-saved');
    log.info({ journey: refOf(context.name, id) }, 'expired');
  });

  for (const id of await context.erasures.overdue(new Date(context.ports.now().getTime() - overdueMs))) {
    // Nobody runs the jobs of a source that is gone.
    if (settings.isGone) await attempt(id, context);
    else await context.queueErasure(id, 0);
  }
  await each(await next('plan', 'received', unplannedMs), async (id) => {
    const journey = await store.get(id);
    if (journey) await planAgain(journey, context);
  });
  for (const state of ['waiting', 'creating'] as const) {
    await each(await next('ask', state, overdueMs), async (id) => {
      const journey = await store.get(id);
      if (journey) await context.queueAsk(id, journey.dueAt ?? clock.now());
    });
  }
  const unwritten: string[] = [];
  await each(await next('write', 'answered', overdueMs), async (id) => {
    const journey = await store.get(id);
    if (journey?.answer) unwritten.push(id);
  });
  await context.queueWriteBack(unwritten);

  for (const state of settings.isGone ? journeyStates : settledStates) {
    await each(await next('forget', state, settings.retentionMs), async (id) => {
      const journey = await store.get(id);
      if (journey) await store.forget(journey);
    });
  }
}

async function planAgain(journey: Journey, context: SourceContext): Promise<void> {
  const { id, recordId, closing, closedAt, receivedAt } = journey;
  if (closing.startsWith('event:')) {
    // It was made to say that its event failed, and the process ended before it did.
    const why = 'its record could not be read';
    await context.store.update(id, ifStill('received', { to: 'failed', at: context.clock.now(), why }));
    return;
  }
  await context.queueEvent({
    kind: 'closed',
    recordId,
    at: closedAt,
    key: `received:${id}`,
    what: 'its planning was lost',
    receivedAt,
  });
}

/** Behind the last one; from the beginning again after the last of all. */
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
