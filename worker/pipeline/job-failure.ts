import type { Job } from 'bullmq';
import { z } from 'zod';
import { type Advice, CloseloopError, isConnectorBug, messageOf, stackOf } from '../../core/errors.ts';

/** The failures of a job, stored with the job. */
const Failing = z.object({ since: z.number(), attempts: z.number(), doubts: z.number() });
type Failing = z.output<typeof Failing>;
/** BullMQ's count of the job's stalls when its last run ended by itself, stored with the job: that count never goes back. */
const Survived = z.object({ survived: z.number() });

/** How many of the job's last runs were interrupted: their process died, or froze until another worker took the job over. */
export function stallsOf(job: Job): number {
  if (job.stalledCounter === 0) return 0;
  return job.stalledCounter - (Survived.safeParse(job.progress).data?.survived ?? 0);
}

/** The job's failures, this failure included. */
export function failingOf(job: Job, advice: Advice, now: number): Failing & z.output<typeof Survived> {
  const before = Failing.safeParse(job.progress).data ?? { since: now, attempts: 0, doubts: 0 };
  const isDoubtful = advice.kind !== 'transient' && advice.doubtful === true;
  const doubts = before.doubts + (isDoubtful ? 1 : 0);
  return { ...before, attempts: before.attempts + 1, doubts, survived: job.stalledCounter };
}

/** Resets the failures and stalls of a job that succeeded, or that is tried again like a new job. */
export async function forgetFailures(job: Job): Promise<void> {
  if (Failing.safeParse(job.progress).success || stallsOf(job) > 0)
    await job.updateProgress({ survived: job.stalledCounter });
}

/** Resets the stalls of a job that has to wait. Its failures are kept. */
export async function forgetStalls(job: Job): Promise<void> {
  if (stallsOf(job) === 0) return;
  await job.updateProgress({ ...Failing.safeParse(job.progress).data, survived: job.stalledCounter });
}

/** The log's fields about a failed job. */
export function aboutFailure(data: unknown, error: unknown): object {
  return { ...idsOf(data), why: messageOf(error), ...detailOf(error) };
}

/** The log has the stack of a bug; the error of a connector or client is a sentence for people. */
function detailOf(error: unknown): { stack?: string | undefined; reference?: string | undefined } {
  if (error instanceof CloseloopError && isConnectorBug(error)) return detailOf(error.cause);
  if (error instanceof CloseloopError) return error.reference === undefined ? {} : { reference: error.reference };
  return { stack: error instanceof Error ? stackOf(error) : undefined };
}

/** The ids in a job's data, for the log. */
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
