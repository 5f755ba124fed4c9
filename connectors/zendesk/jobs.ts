import { z } from 'zod';
import { listOf } from '../../core/entries.ts';
import { adviceOf, CloseloopError, messageOf } from '../../core/errors.ts';
import { ticketUpdates, type ZendeskApi } from './api.ts';
import { userUpdates } from './responses.ts';

const JobResult = z.object({
  id: z.union([z.number(), z.string()]).transform(String),
  success: z.boolean().default(false),
  error: z.unknown().optional(),
});
export type JobResult = z.output<typeof JobResult>;

const Job = z.object({
  id: z.string().min(1),
  /** queued, working, completed, failed, killed */
  status: z.string(),
  /** One per ticket when completed; anything else before and after a failure. */
  results: z.array(z.unknown()).catch([]),
});
export type Job = z.output<typeof Job>;

const JobResponse = z.object({ job_status: Job });
const JobsResponse = z.object({ job_statuses: listOf(Job) });

/** A job that has not ended after so long is taken for dead, which nothing begins any more. Zendesk documents no limit. */
export const jobLifeMs = 15 * 60_000;

/** The first request for a job's status comes after the duration of the last job, the next when the job is twice as old. */
const waits = { firstMs: 1000, leastMs: 500, mostMs: 30_000, giveUpMs: jobLifeMs };

interface Watched {
  ageMs: number;
  dueMs: number;
  resolve: (job: Job) => void;
  reject: (error: unknown) => void;
}

/** Waits until a job has completed or failed. Throws if its status can't be read (outcome `unknown`). */
export type JobWatch = (job: Job) => Promise<Job>;

/**
 * Waits for background jobs. One call reads the status of all jobs that this source waits for, at growing intervals, as calls are
 * scarce.
 */
export function jobWatch(api: ZendeskApi, sleep: (ms: number) => Promise<void>): JobWatch {
  const watched = new Map<string, Watched>();
  let usualMs = waits.firstMs;
  let isPolling = false;

  async function poll(): Promise<void> {
    const waitMs = Math.min(...[...watched.values()].map(({ ageMs, dueMs }) => dueMs - ageMs));
    const waiters = [...watched];
    await sleep(waitMs);
    for (const [, waiter] of waiters) waiter.ageMs += waitMs;
    const ids = [...watched.keys()].slice(0, 100);
    const { job_statuses } = await api.get(`/api/v2/job_statuses/show_many.json?ids=${ids.join(',')}`, JobsResponse);
    const jobs = new Map(job_statuses.map((job) => [job.id, job]));
    for (const id of ids) settle(id, jobs.get(id));
  }

  function settle(id: string, job: Job | undefined): void {
    const waiter = watched.get(id);
    if (waiter === undefined) return;
    if (job !== undefined && hasEnded(job)) {
      usualMs = Math.min(Math.max(waiter.ageMs * 0.8, waits.leastMs), waits.mostMs);
      watched.delete(id);
      waiter.resolve(job);
    } else if (job === undefined || waiter.ageMs > waits.giveUpMs) {
      watched.delete(id);
      waiter.reject(lost(id));
    } else {
      waiter.dueMs = waiter.ageMs + Math.min(Math.max(waiter.ageMs, waits.firstMs), waits.mostMs);
    }
  }

  async function pollUntilDone(): Promise<void> {
    if (isPolling) return;
    isPolling = true;
    try {
      while (watched.size > 0) await poll();
    } catch (error) {
      const waiting = [...watched.values()];
      watched.clear();
      for (const { reject } of waiting) reject(unread(error));
    } finally {
      isPolling = false;
    }
  }

  return (job) => {
    if (hasEnded(job)) return Promise.resolve(job);
    return new Promise((resolve, reject) => {
      watched.set(job.id, { ageMs: 0, dueMs: usualMs, resolve, reject });
      void pollUntilDone();
    });
  };
}

const updates = { tickets: ticketUpdates, users: userUpdates };

/** Changes up to 100 tickets or users in one job, and waits for its end. @returns `resultsOf` the job */
export async function updateMany(
  api: ZendeskApi,
  finished: JobWatch,
  what: keyof typeof updates,
  changes: readonly object[],
): Promise<ReadonlyMap<string, JobResult>> {
  const path = `/api/v2/${what}/update_many.json`;
  const { job_status } = await api.send('PUT', path, { [what]: changes }, JobResponse, updates[what]);
  return resultsOf(await finished(job_status));
}

/** The job's result for each ticket, by id. Tickets without a result are absent. */
export function resultsOf(job: Job): ReadonlyMap<string, JobResult> {
  const results = job.results
    .map((raw) => JobResult.safeParse(raw))
    .flatMap(({ data }) => (data === undefined ? [] : [data]));
  return new Map(results.map((result) => [result.id, result]));
}

function hasEnded({ status }: Job): boolean {
  return status !== 'queued' && status !== 'working';
}

/** Whatever became of the call for its status, the job itself may have been carried out, or may be yet. */
function unread(error: unknown): CloseloopError {
  const advice = adviceOf(error);
  return new CloseloopError(messageOf(error), advice.kind === 'permanent' ? { kind: 'transient' } : advice, {
    outcome: 'unknown',
    cause: error,
  });
}

function lost(id: string): CloseloopError {
  const message = `Zendesk job ${id} (update_many): its end can't be found out; what it was to change is read before the next attempt.`;
  return new CloseloopError(message, { kind: 'transient' }, { outcome: 'unknown' });
}
