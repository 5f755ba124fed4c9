import { adviceOf, messageOf } from '../../../core/errors.ts';
import { isRedisUnavailable } from '../../redis/unavailable.ts';
import { ask } from '../ask/ask.ts';
import type { AskContext } from '../ask/ask-steps.ts';
import type { Queues, Vendor } from '../context.ts';
import type { JobResult, PlanJob } from '../jobs.ts';
import type { RecordStatus } from '../vendor.ts';
import { type PlanContext, plan } from './plan.ts';

type PlanAndAskContext = PlanContext & AskContext & Pick<Queues, 'queueAskIn'>;

/** What planning read of a record counts for asking as well, for so long. Real time. */
const freshMs = 5_000;
/** Of the jobs that plan in this process, so many may go on to ask: the others must not wait for a slow service. */
const mostAsking = 500;

/**
 * Plans an event; a closing whose customer is to be asked at once is asked in the same job, by what was read of its record
 * just now. What can't be done at once is left to the asking stage, which meets the error itself, waits, or is stopped.
 * @param isStopped is nobody to ask now?
 */
export function planAndAsk(
  isStopped: () => Promise<boolean>,
): (event: PlanJob, context: PlanAndAskContext) => Promise<JobResult> {
  let asking = 0;
  return async (event, context) => {
    const read = readOnce(context);
    const due: string[] = [];
    const queueAsk: Queues['queueAsk'] = async (journeyId, dueAt) => {
      const isNow = asking < mostAsking && dueAt <= context.clock.now() && !(await isStopped());
      if (!isNow) return await context.queueAsk(journeyId, dueAt);
      asking++;
      due.push(journeyId);
    };
    try {
      const result = await plan(event, { ...context, read, queueAsk });
      for (const journeyId of due) await askNow(journeyId, { ...context, read });
      return result;
    } finally {
      asking -= due.length;
    }
  };
}

/** The asking stage takes up what does not come to an end here. Who is killed in between plans again, and comes here again. */
async function askNow(journeyId: string, context: PlanAndAskContext): Promise<void> {
  try {
    const result = await ask({ journeyId }, context);
    if (result.do === 'wait') await context.queueAskIn(journeyId, result.delayMs);
  } catch (error) {
    if (isRedisUnavailable(error)) throw error;
    context.log.debug({ source: context.name, why: messageOf(error) }, 'could not be asked at once');
    const advice = adviceOf(error);
    await context.queueAskIn(journeyId, (advice.kind === 'transient' && advice.retryAfterMs) || 0);
  }
}

/** Asking looks at what planning has read, while that is fresh. */
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
