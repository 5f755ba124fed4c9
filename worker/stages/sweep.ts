import type { SourceContext } from '../context.ts';
import { refOf } from '../context.ts';
import { settledStates, step } from '../journey/transitions.ts';

export interface SweepSettings {
  /** An asked journey without an answer for this long has expired; a later answer is still taken. */
  expireAfterMs: number;
  /** Settled journeys are removed, with the personal data in them, this long after their last change. */
  retentionMs: number;
}

/** A job that should have run this long ago (of real time) is added again: it was lost, or it is running, and then nothing happens. */
const overdueMs = 60_000;
const pageSize = 500;

/** What nothing else would notice: silence that has become an answer, lost jobs, and data whose time is up. */
export async function sweep(context: SourceContext, settings: SweepSettings): Promise<void> {
  const { store, clock, log } = context;
  const ago = (ms: number) => new Date(clock.now().getTime() - ms);

  for (const id of await store.idsIn('asked', { before: ago(settings.expireAfterMs), limit: pageSize })) {
    await store.update(id, (now) =>
      now.state === 'asked'
        ? { journey: step(now, 'expired', clock.now()), trace: ['expired: no answer came'] }
        : undefined,
    );
    log.info({ journey: refOf(context.name, id) }, 'expired');
  }

  for (const state of ['waiting', 'creating'] as const) {
    for (const id of await store.idsIn(state, { before: ago(overdueMs), limit: pageSize })) {
      const journey = await store.get(id);
      if (journey) await context.queueAsk(id, journey.dueAt ?? clock.now());
    }
  }
  const unwritten = [];
  for (const id of await store.idsIn('answered', { before: ago(overdueMs), limit: pageSize })) {
    const journey = await store.get(id);
    if (journey?.answer) unwritten.push(id);
  }
  await context.queueWriteBack(unwritten);

  for (const state of settledStates) {
    for (const id of await store.idsIn(state, { before: ago(settings.retentionMs), limit: pageSize })) {
      const journey = await store.get(id);
      if (journey) await store.forget(journey);
    }
  }
}
