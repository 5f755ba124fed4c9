import { adviceOf, CloseloopError, messageOf } from '../errors.ts';

/* Background jobs: a vendor accepts a call, and executes it later. */

export interface JobWaiting<Job extends { id: string }> {
  /** Reads the status of up to a hundred jobs in one call. Jobs that the vendor doesn't know are absent. */
  read(ids: readonly string[]): Promise<readonly Job[]>;
  hasEnded(job: Job): boolean;
  sleep(ms: number): Promise<void>;
  /** After this time a job that has not ended counts as dead. */
  lifeMs: number;
  /** The job in messages: 'Zendesk job 7 (update_many)'. */
  named(id: string): string;
}

/** closeloop first asks for a job's status after the duration of the last job, and then whenever the job's age has doubled. */
const [firstMs, leastMs, mostMs] = [1_000, 500, 30_000];

/**
 * Waits until a job has ended. As calls are scarce, one call reads the status of all jobs that somebody waits for. Throws if the end can't be
 * found out (outcome `unknown`).
 */
export function jobWatch<Job extends { id: string }>(waiting: JobWaiting<Job>): (job: Job) => Promise<Job> {
  const { read, hasEnded, sleep, lifeMs, named } = waiting;
  const watched = new Set<string>();
  /** The statuses that a call for another job returned: these jobs need no call of their own. */
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
    // Waits for a call that began before this job was watched.
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

/** The call for the status failed, but the vendor may have executed the job, or may still do so. */
function unread(error: unknown): never {
  const advice = adviceOf(error);
  const mayPass = advice.kind === 'permanent' ? ({ kind: 'transient' } as const) : advice;
  throw new CloseloopError(messageOf(error), mayPass, { outcome: 'unknown', cause: error });
}
