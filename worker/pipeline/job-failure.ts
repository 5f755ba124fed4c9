import type { Job } from 'bullmq';
import { z } from 'zod';
import { type Advice, CloseloopError, messageOf, stackOf } from '../../core/errors.ts';

/** The failures of a job, stored with the job. */
const Failing = z.object({ since: z.number(), attempts: z.number(), doubts: z.number() });
type Failing = z.output<typeof Failing>;

/** This failure counted. */
export function failingOf(job: Job, advice: Advice, now: number): Failing {
  const before = Failing.safeParse(job.progress).data ?? { since: now, attempts: 0, doubts: 0 };
  const isDoubtful = advice.kind !== 'transient' && advice.doubtful === true;
  return { ...before, attempts: before.attempts + 1, doubts: before.doubts + (isDoubtful ? 1 : 0) };
}

/** Resets the failures of a job that succeeded. */
export async function forgetFailures(job: Job): Promise<void> {
  if (Failing.safeParse(job.progress).success) await job.updateProgress({});
}

/** What the log tells of a failed job. */
export function aboutFailure(data: unknown, error: unknown): object {
  return { ...idsOf(data), why: messageOf(error), ...detailOf(error) };
}

/** The log has the stack of a bug; the error of a connector or client is a sentence for people. */
function detailOf(error: unknown): { stack?: string | undefined; reference?: string | undefined } {
  if (error instanceof CloseloopError) return error.reference === undefined ? {} : { reference: error.reference };
  return { stack: error instanceof Error ? stackOf(error) : undefined };
}

/** What a job is about: jobs hold ids only. */
function idsOf(data: unknown): { record?: string; journey?: string; campaign?: number } {
  const ids = JobIds.safeParse(data).data ?? {};
  return {
    ...(ids.recordId === undefined ? {} : { record: ids.recordId }),
    ...(ids.journeyId === undefined ? {} : { journey: ids.journeyId }),
    ...(ids.campaign === undefined ? {} : { campaign: ids.campaign }),
  };
}

const JobIds = z.object({
  recordId: z.string().optional(),
  journeyId: z.string().optional(),
  campaign: z.number().optional(),
});
