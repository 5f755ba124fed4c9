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

/** A job that has not ended after so long is taken for dead, which nothing begins any more. Zendesk documents no limit. */
export const jobLifeMs = 15 * 60_000;

/** The first request for a job's status comes after the duration of the last job, the next when the job is twice as old. */
const [firstMs, leastMs, mostMs] = [1_000, 500, 30_000];

/** Waits until a job has completed or failed. Throws if its status can't be read (outcome `unknown`). */
export type JobWatch = (job: Job) => Promise<Job>;

/** Waits for background jobs. A call reads the status of all jobs that this source waits for, as calls are scarce. */
export function jobWatch(api: ZendeskApi, sleep: (ms: number) => Promise<void>): JobWatch {
  const waiting = new Set<string>();
  const ended = new Map<string, Job>();
  let usualMs = firstMs;
  let running: { ids: readonly string[]; read: Promise<ReadonlyMap<string, Job>> } | undefined;

  async function read(ids: readonly string[]): Promise<ReadonlyMap<string, Job>> {
    const path = `/api/v2/job_statuses/show_many.json?ids=${ids.join(',')}`;
    const { job_statuses } = await api.get(path, z.object({ job_statuses: listOf(Job) }));
    for (const job of job_statuses) if (hasEnded(job)) ended.set(job.id, job);
    return new Map(job_statuses.map((job) => [job.id, job]));
  }

  function begin(id: string): NonNullable<typeof running> {
    const ids = [...new Set([id, ...waiting])].slice(0, 100);
    const end = () => {
      running = undefined;
    };
    return { ids, read: read(ids).finally(end) };
  }

  /** @throws CloseloopError where the job's end can't be found out */
  async function statusOf(id: string): Promise<Job> {
    // A call that began before this job's.
    while (running !== undefined && !running.ids.includes(id)) await Promise.allSettled([running.read]);
    const known = ended.get(id);
    if (known !== undefined) return known;
    running ??= begin(id);
    const job = (await running.read.catch(unread)).get(id);
    if (job === undefined) throw lost(id);
    return job;
  }

  return async (job) => {
    let now = job;
    waiting.add(job.id);
    try {
      for (let [ageMs, waitMs] = [0, usualMs]; !hasEnded(now); waitMs = Math.min(Math.max(ageMs, firstMs), mostMs)) {
        if (ageMs > jobLifeMs) throw lost(job.id);
        await sleep(waitMs);
        ageMs += waitMs;
        now = await statusOf(job.id);
        if (hasEnded(now)) usualMs = Math.min(Math.max(ageMs * 0.8, leastMs), mostMs);
      }
      return now;
    } finally {
      waiting.delete(job.id);
      ended.delete(job.id);
    }
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
  const { job_status } = await api.send('PUT', path, { [what]: changes }, z.object({ job_status: Job }), updates[what]);
  return resultsOf(await finished(job_status));
}

/** The job's result for each ticket, by id. Tickets without a result are absent. */
export function resultsOf(job: Job): ReadonlyMap<string, JobResult> {
  const results = job.results.map((raw) => JobResult.safeParse(raw).data);
  return new Map(results.flatMap((result) => (result === undefined ? [] : [[result.id, result]])));
}

const hasEnded = ({ status }: Job): boolean => status !== 'queued' && status !== 'working';

/** Whatever became of the call for its status, the job itself may have been carried out, or may be yet. */
function unread(error: unknown): never {
  const advice = adviceOf(error);
  const mayPass = advice.kind === 'permanent' ? ({ kind: 'transient' } as const) : advice;
  throw new CloseloopError(messageOf(error), mayPass, { outcome: 'unknown', cause: error });
}

function lost(id: string): CloseloopError {
  const message = `Zendesk job ${id} (update_many): its end can't be found out; what it was to change is read before the next attempt.`;
  return new CloseloopError(message, { kind: 'transient' }, { outcome: 'unknown' });
}
