import { adviceOf, messageOf } from '../../../core/errors.ts';
import type { Journey } from '../../journey/journey.ts';
import { isRedisUnavailable } from '../../redis/unavailable.ts';
import { askAbout } from '../ask/ask.ts';
import type { AskContext } from '../ask/ask-steps.ts';
import type { Queues, Vendor } from '../context.ts';
import type { JobResult, PlanJob } from '../jobs.ts';
import type { RecordStatus } from '../vendor.ts';
import { type PlanContext, plan } from './plan.ts';

type PlanAndAskContext = PlanContext & AskContext & Pick<Queues, 'queueAskIn'>;

/** How long asking may use the reading of the record that planning made. Real time. */
const freshMs = 5_000;
/** The most planning jobs of this process that ask at the same time: the others must not wait for a slow service. */
const mostAsking = 500;

/**
 * Plans an event. A customer who is due now is asked in the same job, by the same reading of the record. Whatever fails or has to
 * wait is left to a job of the asking stage.
 * @param isStopped whether the asking stage is stopped
 */
export function planAndAsk(
  isStopped: () => Promise<boolean>,
): (event: PlanJob, context: PlanAndAskContext) => Promise<JobResult> {
  let asking = 0;
  return async (event, context) => {
    const read = readOnce(context);
    const due: Journey[] = [];
    const queueAsk: PlanContext['queueAsk'] = async (journey, dueAt) => {
      const isNow = asking < mostAsking && dueAt <= context.clock.now() && !(await isStopped());
      if (!isNow) return await context.queueAsk(journey, dueAt);
      asking++;
      due.push(journey);
    };
    try {
      const result = await plan(event, { ...context, read, queueAsk });
      for (const journey of due) await askNow(journey, { ...context, read });
      return result;
    } finally {
      asking -= due.length;
    }
  };
}

/** Asks, and queues an asking job for what does not end here. After a kill in between the planning job is repeated, and asks again. */
async function askNow(journey: Journey, context: PlanAndAskContext): Promise<void> {
  try {
    const result = await askAbout(journey, context);
    if (result.do === 'wait') await context.queueAskIn(journey.id, result.delayMs);
  } catch (error) {
    if (isRedisUnavailable(error)) throw error;
    context.log.debug({ source: context.name, why: messageOf(error) }, 'could not be asked at once');
    const advice = adviceOf(error);
    await context.queueAskIn(journey.id, (advice.kind === 'transient' && advice.retryAfterMs) || 0);
  }
}

/** Lets asking use planning's reading of the record while the reading is fresh. */
function readOnce({ read }: Pick<Vendor, 'read'>): Vendor['read'] {
  let last: { recordId: string; status: RecordStatus; at: number } | undefined;
  return async (recordId, purpose) => {
    const isFresh = last?.recordId === recordId && performance.now() - last.at < freshMs;
    if (purpose === 'ask' && last && isFresh) return last.status;
    const at = performance.now();
    const status = await read(recordId, purpose);
    last = { recordId, status, at };
    return status;
  };
}
