import type { Queue } from 'bullmq';
import { type RedisClient, runScript } from '../redis/client.ts';

/** Ends a hold, and notes in the same step that its jobs have to be queued again. KEYS holds, lifted · ARGV field */
const liftScript = `
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('SADD', KEYS[2], ARGV[1])
return 1`;

/** How many held jobs are queued again at once. */
const chunk = 100;
/** Jobs that ended for another reason stay in the list of held jobs: a probe passes over at most this many of them. */
const mostGone = 20;

/** The jobs that wait for the end of a hold, by the hold's field: its stage and what is faulty (holds.ts). */
export class HeldJobs {
  readonly #redis: RedisClient;
  readonly #tag: string;
  readonly #queues: () => readonly Queue[];

  constructor(redis: RedisClient, tag: string, queues: () => readonly Queue[]) {
    this.#redis = redis;
    this.#tag = tag;
    this.#queues = queues;
  }

  async add(field: string, jobId: string): Promise<void> {
    await this.#redis.sadd(this.#jobs(field), jobId);
  }

  async count(field: string): Promise<number> {
    return await this.#redis.scard(this.#jobs(field));
  }

  /** Ends the hold. Its jobs have to be queued again: `promoteAll`. @returns false where another process has ended it */
  async lift(holds: string, field: string): Promise<boolean> {
    return (await runScript(this.#redis, liftScript, [holds, this.#lifted], field)) === 1;
  }

  /** Finishes lifting the holds of a process that was killed while it lifted them. */
  async finishLifts(): Promise<void> {
    for (const field of await this.#redis.smembers(this.#lifted)) await this.promoteAll(field);
  }

  /** Queues one of the jobs as a probe. */
  async promoteOne(field: string): Promise<void> {
    const queue = this.#queueOf(field);
    for (const id of await this.#redis.srandmember(this.#jobs(field), mostGone)) {
      if (queue && (await promote(queue, id))) return;
      await this.#redis.srem(this.#jobs(field), id);
    }
  }

  /** Queues all jobs of a hold that was lifted. */
  async promoteAll(field: string): Promise<void> {
    const queue = this.#queueOf(field);
    for (;;) {
      const ids = await this.#redis.srandmember(this.#jobs(field), chunk);
      if (ids.length === 0) break;
      await Promise.all(ids.map(async (id) => queue && (await promote(queue, id))));
      // Last: after a kill in between the next sweep finds the other jobs.
      await this.#redis.srem(this.#jobs(field), ...ids);
    }
    await this.#redis.srem(this.#lifted, field);
  }

  #queueOf(field: string): Queue | undefined {
    const [stage] = splitOnce(field);
    return this.#queues().find(({ name }) => name === stage);
  }

  /** A set: the lifted holds whose jobs may not all be queued again yet. */
  get #lifted(): string {
    return `${this.#tag}:holds:lifted`;
  }

  #jobs(field: string): string {
    return `${this.#tag}:held:${field}`;
  }
}

/** The stage of a hold's field, which has no space in its name, and what is faulty. */
export function splitOnce(field: string): [string, string] {
  const at = field.indexOf(' ');
  return [field.slice(0, at), field.slice(at + 1)];
}

/** Queues a job that waits for its time. False: the job is gone, or does not wait any more. */
export async function promote(queue: Queue, id: string): Promise<boolean> {
  const job = await queue.getJob(id);
  if (!job || !(await job.isDelayed())) return false;
  return await job.promote().then(
    () => true,
    async (error: unknown) => {
      if (await job.isDelayed()) throw error;
      return false;
    },
  );
}
