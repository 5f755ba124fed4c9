import { type ConnectionOptions, type Job, type JobsOptions, Queue } from 'bullmq';
import { z } from 'zod';
import { slices, spread } from '../../core/spread.ts';
import { type Seal, SealError } from '../redis/seal.ts';

interface JobQueueOptions<Data extends z.ZodType> {
  name: string;
  /** `{cl:<source>}`, see redis/keys.ts. */
  prefix: string;
  connection: ConnectionOptions;
  /** What a job holds: ids only, and no personal data but with `seal`. */
  data: Data;
  /** Redis holds the data of its jobs sealed. */
  seal?: Seal;
  /** The connection to Redis failed. */
  onLost: (error: Error) => void;
}

/** A job that was given up, and why. */
export interface GivenUp<Data> {
  id: string;
  at: Date;
  why: string;
  data: Data;
}

/** The pipeline settles a journey itself, so BullMQ keeps nothing, and its own limit of attempts is never reached. */
const jobDefaults = { attempts: 1_000_000, backoff: { type: 'custom' }, removeOnComplete: true, removeOnFail: true };

/** Jobs whose data are changed at once: each may hold a delivery of 1 MiB. */
const changedAtOnce = 20;

const Sealed = z.strictObject({ sealed: z.string() });

/** Jobs that wait in Redis for a stage: as they are, or sealed where they hold personal data. */
export class JobQueue<Data extends z.ZodType> {
  readonly queue: Queue;
  readonly options: JobQueueOptions<Data>;
  /** Jobs of it that run in this process. */
  running = 0;

  constructor(options: JobQueueOptions<Data>) {
    const { name, prefix, connection, onLost } = options;
    this.options = options;
    this.queue = new Queue(name, { prefix, connection, defaultJobOptions: jobDefaults });
    this.queue.on('error', onLost);
  }

  /** Adds jobs in one write. A job whose id waits or runs already is not added again. `delayMs` is real time. */
  async add(jobs: readonly { id: string; data: z.input<Data>; delayMs?: number }[]): Promise<void> {
    await this.#addAll(
      jobs.map(({ id, data, delayMs }) => ({
        data,
        opts: { jobId: id, ...(delayMs === undefined ? {} : { delay: Math.ceil(delayMs) }) },
      })),
    );
  }

  /** As `add`, but one that comes while its like is running runs once more afterwards: it may be about something newer. */
  async addAgain(jobs: readonly { id: string; data: z.input<Data> }[]): Promise<void> {
    await this.#addAll(jobs.map(({ id, data }) => ({ data, opts: { deduplication: { id, keepLastIfActive: true } } })));
  }

  async #addAll(jobs: { data: z.input<Data>; opts: JobsOptions }[]): Promise<void> {
    if (jobs.length === 0) return;
    await this.queue.addBulk(
      jobs.map(({ data, opts }) => ({ name: this.options.name, data: this.#toStored(data), opts })),
    );
  }

  /** Are there jobs that have not begun yet? Those that run in other processes are taken for such. */
  async hasMore(): Promise<boolean> {
    return (await this.queue.getJobCountByTypes('waiting', 'active', 'prioritized')) > this.running;
  }

  /** A job's data. @throws ZodError for a job that only another version can read */
  read(stored: unknown): z.output<Data> {
    return this.options.data.parse(this.#fromStored(stored));
  }

  /** Undefined: only another version can read it, or it does not open. */
  readable(stored: unknown): { data: z.output<Data> } | undefined {
    const { success, data } = this.options.data.safeParse(this.#fromStored(stored));
    return success ? { data } : undefined;
  }

  /** Jobs that were given up and are kept (`keepGivenUp` of the stage), oldest first. Those of other versions are left out. */
  async givenUp(): Promise<GivenUp<z.output<Data>>[]> {
    const jobs = await this.queue.getJobs(['failed'], 0, -1, true);
    return jobs.flatMap((job) => {
      const readable = this.readable(job.data);
      if (readable === undefined || job.id === undefined) return [];
      return [{ id: job.id, at: new Date(job.finishedOn ?? job.timestamp), why: job.failedReason, ...readable }];
    });
  }

  /** One of them is tried again, for as long as a new one. */
  async replay(id: string): Promise<void> {
    const job = await this.queue.getJob(id);
    await job?.updateProgress({});
    await job?.retry('failed');
  }

  /**
   * Changes the data of jobs that have not ended, whether they wait or run. One that can't be read keeps no other from it.
   * @param change undefined: it stays as it is
   * @returns ids of jobs that can't be read: of another version, or broken
   */
  async change(
    change: (data: z.output<Data>) => Promise<z.input<Data> | undefined> | z.input<Data> | undefined,
  ): Promise<string[]> {
    const unreadable: string[] = [];
    // All at once: jobs move from one list to another meanwhile.
    const ids = await this.queue.getRanges(['active', 'waiting', 'prioritized', 'delayed', 'failed'], 0, -1);
    for (const some of slices(ids, changedAtOnce)) {
      const jobs = await Promise.all(some.map(async (id) => ({ id, job: await this.#jobOf(id) })));
      for await (const { id, job } of spread(jobs, 1)) {
        if (job === undefined) continue;
        const readable = job === 'unreadable' ? undefined : this.readable(job.data);
        if (job === 'unreadable' || readable === undefined) {
          unreadable.push(id);
          continue;
        }
        const changed = await change(readable.data);
        if (changed === undefined) continue;
        await job.updateData(this.#toStored(changed)).catch(async (error: unknown) => {
          // One that was done meanwhile is gone, and its data with it.
          if (await this.#jobOf(id)) throw error;
        });
      }
    }
    return unreadable;
  }

  /** BullMQ reads what a job holds as JSON. */
  async #jobOf(id: string): Promise<Job | 'unreadable' | undefined> {
    try {
      return await this.queue.getJob(id);
    } catch (error) {
      if (error instanceof SyntaxError) return 'unreadable';
      throw error;
    }
  }

  #toStored(data: z.input<Data>): unknown {
    const { seal } = this.options;
    return seal === undefined ? data : { sealed: seal.seal(JSON.stringify(data), this.#about) };
  }

  /** What does not open is left out: nobody can read such a job. */
  #fromStored(stored: unknown): unknown {
    const { seal } = this.options;
    const { data } = Sealed.safeParse(stored);
    if (seal === undefined || data === undefined) return stored;
    try {
      return JSON.parse(seal.open(data.sealed, this.#about));
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }

  get #about(): string {
    return `job of ${this.options.name}`;
  }
}
