import type { Journey } from '../journey/journey.ts';
import type { JourneyStore } from '../journey/store.ts';
import { type Failpoint, failpoint, isDoomed } from '../operations/failpoints.ts';
import type { SourceContext } from './context.ts';

/**
 * For tests (operations/failpoints.ts): a source whose store, queues, vendor and service kill the process just after they did their
 * work. In any other process the source itself.
 */
export function withKillPoints(context: SourceContext): SourceContext {
  if (!isDoomed) return context;
  const { store, contacts, feedback, limitedSearches, read } = context;
  return {
    ...context,
    store: replacing(store, {
      update: updateThatKills(store),
    }),
    contacts: replacing(contacts, {
      lock: diesAfter(contacts.lock.bind(contacts), 'contact-locked'),
      reserve: diesAfter(contacts.reserve.bind(contacts), 'last-asked-noted'),
    }),
    feedback: replacing(feedback, {
      create: diesAfter(feedback.create, 'create-answered'),
      cancel: diesAfter(feedback.cancel, 'request-cancelled'),
    }),
    limitedSearches: async (call) => await diesAfter(() => limitedSearches(call), 'searched')(),
    read: (recordId, purpose) =>
      diesAfter(read, purpose === 'plan' ? 'record-read' : 'record-read-again')(recordId, purpose),
    write: diesAfter(context.write, 'vendor-written'),
    askedIn: diesAfter(context.askedIn, 'campaign-noted'),
    queueAsk: diesAfter(context.queueAsk, 'ask-queued'),
    queueAskIn: diesAfter(context.queueAskIn, 'ask-queued'),
    queueWriteBack: async (journeyIds) => {
      await context.queueWriteBack(journeyIds);
      if (journeyIds.length > 0) failpoint('write-back-queued');
    },
  };
}

function diesAfter<Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>, point: Failpoint) {
  return async (...args: Args): Promise<Result> => {
    const result = await work(...args);
    failpoint(point);
    return result;
  };
}

/** The object, with some of its methods replaced. */
function replacing<T extends object>(whole: T, methods: Partial<T>): T {
  return new Proxy(whole, {
    get(target, name) {
      const own: unknown = Reflect.get(name in methods ? methods : target, name);
      return typeof own === 'function' ? own.bind(target) : own;
    },
  });
}

function updateThatKills(store: JourneyStore): JourneyStore['update'] {
  return async (id, decide, pass) => {
    let point: Failpoint | undefined;
    const watched: typeof decide = (now) => {
      const decision = decide(now);
      point = decision && pointOf(now, decision.journey);
      return decision;
    };
    const after = await store.update(id, watched, pass);
    if (point !== undefined) failpoint(point);
    return after;
  };
}

/** What has just been saved of a journey. */
function pointOf(before: Journey, { state, withdrawing }: Journey): Failpoint | undefined {
  if (withdrawing !== undefined && before.withdrawing === undefined) return 'withdrawing-saved';
  if (state === 'creating') return before.state === 'creating' ? 'unknown-noted' : 'intent-saved';
  if (state === 'waiting') return before.state === 'creating' ? 'back-to-waiting' : 'decision-saved';
  if (state === before.state) return undefined;
  const saved: Partial<Record<Journey['state'], Failpoint>> = {
    asked: 'asked-saved',
    answered: 'answer-saved',
    written: 'written-saved',
    cancelled: 'cancelled-saved',
    expired: 'expired-saved',
  };
  return saved[state];
}
