import { messageOf } from '../../core/errors.ts';
import type { Journey } from '../journey/journey.ts';
import { endedUnasked } from '../journey/outcomes.ts';
import { markOf } from '../journey/refs.ts';
import type { Pauses } from '../operations/pauses.ts';
import { shared } from '../redis/shared.ts';
import { isRedisUnavailable } from '../redis/unavailable.ts';
import { askAbout } from './ask/ask.ts';
import type { AskContext } from './ask/ask-steps.ts';
import { askBy } from './ask/create.ts';
import type { AskDecision } from './decision.ts';
import type { JobResult, PlanJob } from './jobs.ts';
import { plan } from './plan/plan.ts';
import type { PlanContext } from './plan/plan-context.ts';
import type { JobQueues, Queues } from './queues.ts';
import { freshMs, isFresh, type Reading, type Vendor } from './vendor.ts';

export type PlanAndAskContext = PlanContext & AskContext & Pick<Queues, 'queueAskIn'>;

/** How long a planning job waits for its turn to ask: a slow service must not stop planning. Real time. */
const patientMs = 2_000;
/** How many times a planning job tries to ask about a record that has changed meanwhile. */
const mostTimes = 3;

/** Lets a limited number of jobs ask at a time; the other jobs wait in the order of their arrival. */
class AskTurns {
  readonly #waiting = new Set<() => void>();
  readonly #patienceMs: number;
  #left: number;

  constructor(most: number, patienceMs: number) {
    this.#left = most;
    this.#patienceMs = patienceMs;
  }

  /** @returns false where no turn came in time */
  async take(): Promise<boolean> {
    if (this.#left > 0) {
      this.#left--;
      return true;
    }
    return await new Promise((resolve) => {
      const end = (isTurn: boolean) => {
        clearTimeout(timer);
        this.#waiting.delete(begin);
        resolve(isTurn);
      };
      const begin = () => end(true);
      const timer = setTimeout(() => end(false), this.#patienceMs);
      this.#waiting.add(begin);
    });
  }

  give(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#left++;
  }
}

/** Readings of records that planning hands to the asking stage: where too many customers are due at once, planning leaves them to that stage. */
export class Readings {
  readonly #all = new Map<string, Reading>();

  keep(recordId: string, reading: Reading): void {
    this.#all.set(recordId, reading);
    // Personal data is kept no longer than asking may use it, also where another process asks.
    const forget = () => this.#all.get(recordId) === reading && this.#all.delete(recordId);
    setTimeout(forget, freshMs).unref();
  }

  /** Reads like `read`, and returns the reading of planning where planning has just read the record for asking. */
  reader(read: Vendor['read']): Vendor['read'] {
    return async (recordId, by, since) => this.#take(recordId) ?? (await read(recordId, by, since));
  }

  /** Takes the reading of a record; undefined where there is no fresh reading. */
  #take(recordId: string): Reading | undefined {
    const reading = this.#all.get(recordId);
    this.#all.delete(recordId);
    return reading && isFresh(reading) ? reading : undefined;
  }
}

/** Whether a stage is stopped: a job of another stage does the work of this stage only while this stage is not stopped. */
export function isStageStopped(
  pauses: Pick<Pauses, 'stands'>,
  stage: 'ask' | 'act',
  { queue }: JobQueues['ask'] | JobQueues['act'],
): () => Promise<boolean> {
  return shared(async () => (await Promise.all([pauses.stands(stage), queue.isPaused()])).includes(true));
}

/** A journey whose customer is due, and whom this job asks. */
interface Due {
  journey: Journey;
  decision: AskDecision | undefined;
}

/**
 * Plans an event. A customer who is due now is asked in the same job, by the same decision, and the journey is stored with the intent to
 * ask, in one write. If asking fails or has to wait, a job of the asking stage continues.
 * @param isStopped as `isStageStopped`
 * @param readings for the asking stage, where too many customers are due at once
 * @param asking the most planning jobs that ask at the same time
 */
export function planAndAsk(
  isStopped: () => Promise<boolean>,
  readings: Readings,
  { asking, patienceMs = patientMs }: { asking: number; patienceMs?: number },
): (event: PlanJob, context: PlanAndAskContext) => Promise<JobResult> {
  const turns = new AskTurns(asking, patienceMs);
  return async (event, context) => {
    let due: Due | undefined;
    const giveTurn = () => {
      if (due) turns.give();
      due = undefined;
    };
    const takeDue = async (journey: Journey, decision: AskDecision | undefined): Promise<boolean> => {
      if (await turns.take()) {
        due = { journey, decision };
        // A person may have stopped the stage while the job waited for its turn.
        if (!(await isStopped())) return true;
        giveTurn();
      }
      if (decision) readings.keep(journey.recordId, decision.reading);
      return false;
    };
    try {
      for (let times = 0; ; times++) {
        // A record that changes all the time is left to the asking stage.
        const result = await plan(event, times < mostTimes ? { ...context, takeDue } : context);
        if (!due || (await askNow(due, context))) return result;
        giveTurn();
      }
    } finally {
      giveTurn();
    }
  };
}

/**
 * Asks, and queues an asking job where asking does not end here. After a kill in between the planning job is repeated, and asks again.
 * @returns false where the journey can't be stored, as its record has changed meanwhile: then its event has to be planned again
 */
async function askNow({ journey, decision }: Due, context: PlanAndAskContext): Promise<boolean> {
  const asking = decision ? askBy(decision, journey, context) : askAbout(journey, context);
  const delayMs = await asking.then(
    (result) => (result.do === 'wait' ? result.delayMs : undefined),
    (error: unknown) => {
      if (isRedisUnavailable(error)) throw error;
      context.log.debug({ source: context.name, why: messageOf(error) }, 'could not be asked at once');
      // The asking stage decides when to try the journey again.
      return 0;
    },
  );
  // The journey is still a draft where asking failed before it stored anything, and where its record has changed.
  if (!(await context.store.keep(journey, []))) {
    const other = await context.store.get(journey.id);
    // Keep the cap slot of the journey that took over this id.
    if (!other || endedUnasked(other)) await context.caps.giveBack(markOf(journey));
    return false;
  }
  if (delayMs !== undefined) await context.queueAskIn(journey.id, delayMs);
  return true;
}
