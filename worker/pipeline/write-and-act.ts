import { messageOf } from '../../core/errors.ts';
import { isRedisUnavailable } from '../redis/unavailable.ts';
import { type ActContext, actOn } from './act/act.ts';
import type { JobResult, WriteBackJob } from './jobs.ts';
import { afterFailure } from './work-together.ts';
import { type WriteBackContext, writeBack } from './write-back/write-back.ts';

type WriteAndActContext = WriteBackContext & ActContext;

/**
 * Writes an answer back, and in the same job does the actions for which the answer has settled: the written answer is stored together with
 * the actions that begin. Actions that fail or have to wait are left to a job of the acting stage.
 * @param isStopped whether the acting stage is stopped
 */
export function writeAndAct(isStopped: () => Promise<boolean>) {
  return async (job: WriteBackJob, context: WriteAndActContext): Promise<JobResult> => {
    const { store, clock, ports, log, name } = context;
    /** The wait of the actions that are left to the acting stage, if acting began in this job. */
    let left: { inMs: number | undefined } | undefined;
    const saveAndAct: NonNullable<WriteBackContext['saveAndAct']> = async (journey, written) => {
      if (await isStopped()) return await store.update(journey, written);
      try {
        const { after, waits } = await actOn(journey, written, { ...context, isActingStopped: isStopped });
        left = { inMs: waits.length === 0 ? undefined : Math.min(...waits) };
        return after;
      } catch (error) {
        if (isRedisUnavailable(error)) throw error;
        log.debug({ source: name, why: messageOf(error) }, 'could not be acted on at once');
        left = { inMs: afterFailure(error, ports).delayMs };
        return await store.update(journey.id, written);
      }
    };
    const queueAct: WriteBackContext['queueAct'] = async (id, version, settledAt) => {
      if (left === undefined) await context.queueAct(id, version, settledAt);
      else if (left.inMs !== undefined)
        await context.queueAct(id, version, new Date(clock.now().getTime() + left.inMs));
    };
    return await writeBack(job, { ...context, saveAndAct, queueAct });
  };
}
