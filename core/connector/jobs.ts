import { adviceOf, CloseloopError, messageOf } from '../errors.ts';

/* Background jobs: a vendor takes a call, and carries it out later. */

export interface JobWaiting<Job extends { id: string }> {
  /** Reads the status of up to a hundred jobs in one call. Jobs that the vendor doesn't know are absent. */
  read(ids: readonly string[]): Promise<readonly Job[]>;
  hasEnded(job: Job): boolean;
  sleep(ms: number): Promise<void>;
  /** A job that has not ended after so long is taken for dead. */
  lifeMs: number;
  /** In messages: 'Zendesk job 7 (update_many)'. */
  named(id: string): string;
}

/** The first request for a job's status comes after the duration of the last job, the next when the job is twice as old. */
const [firstMs, leastMs, mostMs] = [1_000, 500, 30_000];

/** Waits until a job has ended. A call reads the status of all jobs that are waited for, as calls are scarce. Throws if its end can't be found out (outcome `unknown`). */
export function jobWatch<Job extends { id: string }>(waiting: JobWaiting<Job>): (job: Job) => Promise<Job> {
  const { read, hasEnded, sleep, lifeMs, named } = waiting;
  const watched = new Set<string>();
  /** What a call for another job has told of a job, which need not be asked about then. */
  const told = new Map<string, Job>();
  let usualMs = firstMs;
  let running: { ids: readonly string[]; jobs: Promise<readonly Job[]> } | undefined;

  function begin(id: string): NonNullable<typeof running> {
    const ids = [...new Set([id, ...watched])].slice(0, 100);
    const jobs = read(ids).then((found) => {
      for (const job of found) if (watched.has(job.id)) told.set(job.id, job);
      return found;
    });
    const end = () => {
      running = undefined;
    };
    return { ids, jobs: jobs.finally(end) };
  }

  const lost = (id: string): CloseloopError => {
    const message = `${named(id)}: its end can't be found out; what it was to change is read before the next attempt.`;
    return new CloseloopError(message, { kind: 'transient' }, { outcome: 'unknown' });
  };

  async function statusOf(id: string): Promise<Job> {
    // A call that began before this job's.
    while (running !== undefined && !running.ids.includes(id)) await Promise.allSettled([running.jobs]);
    const known = told.get(id);
    if (known === undefined) running ??= begin(id);
    const job = known ?? (await running?.jobs.catch(unread))?.find((one) => one.id === id);
    told.delete(id);
    if (job === undefined) throw lost(id);
    return job;
  }

  return async (job) => {
    let now = job;
    watched.add(job.id);
    try {
      for (let [ageMs, waitMs] = [0, usualMs]; !hasEnded(now); waitMs = Math.min(Math.max(ageMs, firstMs), mostMs)) {
        if (ageMs > lifeMs) throw lost(job.id);
        await sleep(waitMs);
        ageMs += waitMs;
        now = await statusOf(job.id);
        if (hasEnded(now)) usualMs = Math.min(Math.max(ageMs * 0.8, leastMs), mostMs);
      }
      return now;
    } finally {
      watched.delete(job.id);
      told.delete(job.id);
    }
  };
}

/** Whatever became of the call for its status, the job itself may have been carried out, or may be yet. */
function unread(error: unknown): never {
  const advice = adviceOf(error);
  const mayPass = advice.kind === 'permanent' ? ({ kind: 'transient' } as const) : advice;
  throw new CloseloopError(messageOf(error), mayPass, { outcome: 'unknown', cause: error });
}
