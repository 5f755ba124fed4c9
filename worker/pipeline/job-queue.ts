import { type ConnectionOptions, type JobsOptions, Queue, type Telemetry } from 'bullmq';
import { z } from 'zod';
import { slices } from '../../core/spread.ts';
import { type RedisClient, runScript } from '../redis/client.ts';
import { togetherId } from '../redis/queued-jobs.ts';
import { type Seal, SealError } from '../redis/seal.ts';
import { forgetFailures } from './job-failure.ts';

interface JobQueueOptions<Data extends z.ZodType> {
  name: string;
  /** `{cl:<source>}`, see redis/keys.ts. */
  prefix: string;
  connection: ConnectionOptions;
  /** The data of a job: ids only; personal data only with `seal`. */
  data: Data;
  /** Seals the data of the jobs in Redis. */
  seal?: Seal;
  /**
   * For jobs that hold several pieces of data: the key of a piece, and the id of a job by the key. With `claims` one job at a time works on a
   * key. Left out: each job holds one piece.
   */
  together?: {
    keyOf: (data: Given<Data>) => string;
    idOf: (key: string) => string;
    claims?: Claims;
    /** The most pieces in one job. Left out: `mostTogether`. */
    most?: number;
  };
  /** Traces of the process. */
  telemetry?: Telemetry | undefined;
  /** The connection to Redis failed. */
  onLost: (error: Error) => void;
}

/** Data as a caller gives it, or as it was read from a job. */
type Given<Data extends z.ZodType> = z.input<Data> | z.output<Data>;

interface NewJob {
  data: unknown;
  opts: JobsOptions;
}

/** A job that was given up, and why. */
export interface GivenUp<Data> {
  id: string;
  at: Date;
  why: string;
  data: Data;
}

/** The stage decides about retries, so no job ever reaches BullMQ's own limit of attempts. BullMQ removes finished jobs. */
const jobDefaults = { attempts: 1_000_000, backoff: { type: 'custom' }, removeOnComplete: true, removeOnFail: true };
/** BullMQ writes every step of a job to a stream that closeloop does not read: Redis keeps the stream as short as possible. */
const noEvents = { events: { maxLen: 0 } };
/** The most pieces of data in one job, unless a queue says otherwise: two such jobs fill a vendor's batch. */
export const mostTogether = 50;
const Sealed = z.strictObject({ sealed: z.string() });
/** A job that takes longer has met something slow, and no call of another job waits for it any more. Real time. */
const longestMs = 2_000;

/** The jobs of a stage that this process has begun, and that have not called the vendor yet: a batch waits for them. */
export class Approach {
  /** When each job began, oldest first. */
  readonly #begun = new Set<{ at: number }>();
  readonly #now: () => number;

  /** @param now milliseconds on a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @param work calls `arrived` once it has called the vendor, if it does */
  async run<Result>(work: (arrived: () => void) => Promise<Result>): Promise<Result> {
    const job = { at: this.#now() };
    const arrived = () => void this.#begun.delete(job);
    this.#begun.add(job);
    return await work(arrived).finally(arrived);
  }

  isAny(): boolean {
    const since = this.#now() - longestMs;
    for (const { at } of this.#begun) if (at >= since) return true;
    return false;
  }
}

/** The queue of a stage in Redis. Jobs with personal data are sealed. */
export class JobQueue<Data extends z.ZodType> {
  readonly queue: Queue;
  readonly options: JobQueueOptions<Data>;
  /** The most pieces of data in one job. */
  readonly mostHeld: number;
  readonly approach = new Approach();

  constructor(options: JobQueueOptions<Data>) {
    const { name, prefix, connection, telemetry, onLost } = options;
    this.options = options;
    this.mostHeld = options.together === undefined ? 1 : (options.together.most ?? mostTogether);
    this.queue = new Queue(name, {
      prefix,
      connection,
      defaultJobOptions: jobDefaults,
      streams: noEvents,
      ...(telemetry && { telemetry }),
    });
    this.queue.on('error', onLost);
  }

  /** Adds jobs in one write. A job whose id is waiting or running is not added again. `delayMs` is real time. */
  async add(jobs: readonly { id: string; data: z.input<Data>; delayMs?: number }[]): Promise<void> {
    await this.#addAll(
      jobs.map(({ id, data, delayMs }) => ({
        data,
        opts: { jobId: id, ...(delayMs === undefined ? {} : { delay: Math.ceil(delayMs) }) },
      })),
    );
  }

  /**
   * Adds data in one write, as jobs of several pieces, which a stage processes at the same time. If pieces have the same key, only the
   * first piece is added.
   * @param delayMs real time
   */
  async addTogether(all: readonly Given<Data>[], delayMs = 0): Promise<void> {
    const { keyOf } = this.#together;
    const byKey = new Map<string, Given<Data>>();
    for (const data of all) if (!byKey.has(keyOf(data))) byKey.set(keyOf(data), data);
    const groups = [...slices([...byKey.values()], this.mostHeld)];
    await this.#addGroups(groups, { opts: delayMs > 0 ? { delay: Math.ceil(delayMs) } : {} });
  }

  /**
   * Adds data that no waiting job holds, as jobs of several pieces. If a job is working on a key, another job works on the key
   * afterwards, as there may be something newer to process.
   */
  async addWanted(all: readonly z.input<Data>[]): Promise<void> {
    const { keyOf, claims } = this.#together;
    const byKey = new Map(all.map((data) => [keyOf(data), data]));
    const wanted = new Set(claims ? await claims.want([...byKey.keys()]) : byKey.keys());
    const left = [...byKey].flatMap(([key, data]) => (wanted.has(key) ? [data] : []));
    await this.#addGroups([...slices(left, this.mostHeld)]);
  }

  /**
   * Adds a job for each piece of data.
   * @param options `from`: the id of the job that has held the data
   */
  async addSingly(
    all: readonly z.output<Data>[],
    { delayMs = 0, from }: { delayMs?: number; from?: string | undefined } = {},
  ): Promise<void> {
    const opts = delayMs > 0 ? { delay: Math.ceil(delayMs) } : {};
    await this.#addGroups(
      all.map((data) => [data]),
      { opts, from },
    );
  }

  /** @returns the data that the job may work on. Other jobs are working on the rest, and add that data again when they end. */
  async begin(all: readonly z.output<Data>[], job: string): Promise<z.output<Data>[]> {
    const { keyOf, claims } = this.options.together ?? {};
    if (!keyOf || !claims) return [...all];
    const mine = new Set(await claims.begin(all.map(keyOf), job));
    return all.filter((data) => mine.has(keyOf(data)));
  }

  /** Call this when the job has ended its work on the data. Adds the data that was wanted again meanwhile. */
  async end(all: readonly z.output<Data>[], job: string): Promise<void> {
    const { keyOf, claims } = this.options.together ?? {};
    if (!keyOf || !claims) return;
    const again = new Set(await claims.end(all.map(keyOf), job));
    await this.#addGroups([all.filter((data) => again.has(keyOf(data)))], { from: job });
  }

  /** Adds a job for each group. */
  async #addGroups(
    groups: readonly Given<Data>[][],
    { opts, from }: { opts?: JobsOptions; from?: string | undefined } = {},
  ): Promise<void> {
    const { keyOf, idOf, claims } = this.#together;
    const holders = new Map<string, string>();
    const jobs = groups.flatMap((group): NewJob[] => {
      const keys = group.map(keyOf);
      const [key, ...others] = keys;
      if (key === undefined) return [];
      // The same data gives the same id, as the client repeats a write whose reply was lost.
      const jobId = others.length === 0 ? idOf(key) : togetherId(keys.map(idOf));
      for (const each of keys) holders.set(each, jobId);
      return [{ data: others.length === 0 ? group[0] : group, opts: { ...opts, jobId } }];
    });
    await claims?.hand(holders, from);
    await this.#addAll(jobs);
  }

  async #addAll(jobs: NewJob[]): Promise<void> {
    const { name } = this.options;
    const [first, ...others] = jobs.map(({ data, opts }) => ({ name, data: this.toStored(data), opts }));
    if (first === undefined) return;
    // A single script call; addBulk wraps its calls in a transaction.
    if (others.length === 0) await this.queue.add(first.name, first.data, first.opts);
    else await this.queue.addBulk([first, ...others]);
  }

  /** Whether there are jobs that have not begun yet, or that this process has begun and that have not called the vendor yet. */
  async hasMore(): Promise<boolean> {
    return this.approach.isAny() || (await this.queue.getJobCountByTypes('waiting', 'prioritized')) > 0;
  }

  /** A job's data. @throws ZodError for a job that only another version can read */
  read(stored: unknown): z.output<Data> {
    return this.options.data.parse(this.#fromStored(stored));
  }

  /** The pieces of data that a job holds. Undefined for data of another version, or that can't be unsealed. */
  dataIn(stored: unknown): z.output<Data>[] | undefined {
    const opened = this.#fromStored(stored);
    const parsed = (Array.isArray(opened) ? opened : [opened]).map((one) => this.options.data.safeParse(one));
    const all = parsed.flatMap(({ success, data }) => (success ? [data] : []));
    return all.length === parsed.length ? all : undefined;
  }

  /** Jobs that were given up and kept (the stage's `keepGivenUp`), oldest first, without jobs of other versions. */
  async givenUp(): Promise<GivenUp<z.output<Data>>[]> {
    const jobs = await this.queue.getJobs(['failed'], 0, -1, true);
    return jobs.flatMap((job) => {
      // A job of several pieces is never given up.
      const [data] = this.dataIn(job.data) ?? [];
      if (data === undefined || job.id === undefined) return [];
      return [{ id: job.id, at: new Date(job.finishedOn ?? job.timestamp), why: job.failedReason, data }];
    });
  }

  /** Retries a job that was given up, for as long as a new job is retried. */
  async replay(id: string): Promise<void> {
    const job = await this.queue.getJob(id);
    if (job === undefined) return;
    await forgetFailures(job);
    await job.retry('failed');
  }

  /** Whether there are jobs that were given up and kept. BullMQ adds no job with the id of such a job. */
  async keepsGivenUp(): Promise<boolean> {
    return (await this.queue.getFailedCount()) > 0;
  }

  /** Tries the job with this id again if it was given up. */
  async replayIfGivenUp(id: string): Promise<void> {
    if ((await this.queue.getJobState(id)) === 'failed') await this.replay(id);
  }

  get #together() {
    const { together, name } = this.options;
    if (together === undefined) throw new Error(`jobs of ${name} hold one piece of data each`);
    return together;
  }

  /** The data of a job in the form that Redis holds it in. */
  toStored(data: unknown): unknown {
    const { seal } = this.options;
    return seal === undefined ? data : { sealed: seal.seal(JSON.stringify(data), this.#about) };
  }

  /** A job's data from the form in Redis; undefined for data that can't be unsealed. */
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

// A hash holds a claim for each key: "queued <job>" while the job that holds the key waits, "begun <job>" while that job works on the key,
// "again <job>" when a caller wanted the key during that work. A claim is valid while BullMQ has its job. A worker is at work on the key
// while BullMQ has the job's lock, which expires when the worker is killed.
//
// BullMQ's own deduplication (`keepLastIfActive`) does the same for a job with one key; these jobs hold up to a hundred keys.

/** The beginning of the scripts below. KEYS claims · ARGV beginning of the keys of jobs, id of a job or '', keys… */
const reading = `
local jobs, job, found = ARGV[1], ARGV[2], {}
local function claimOf(key)
  return string.match(redis.call('HGET', KEYS[1], key) or '', '^(%a+) (.+)$')
end
-- Whether another job is working on the key. If so, notes for that job that the key is wanted again.
local function isOthers(key)
  local state, holder = claimOf(key)
  if not state or state == 'queued' or holder == job or redis.call('EXISTS', jobs .. holder .. ':lock') == 0 then return false end
  redis.call('HSET', KEYS[1], key, 'again ' .. holder)
  return true
end
`;

/** Returns the keys that no job holds. Notes for jobs at work that their keys are wanted again. */
const wantScript = `${reading}
for i = 3, #ARGV do
  local state, holder = claimOf(ARGV[i])
  if not state or redis.call('EXISTS', jobs .. holder) == 0 then
    table.insert(found, ARGV[i])
  elseif state == 'begun' then
    redis.call('HSET', KEYS[1], ARGV[i], 'again ' .. holder)
  end
end
return found`;

/** Gives keys to jobs. ARGV after the id of the job that has held the keys: pairs of a key and the id of the job that gets the key */
const handScript = `${reading}
for i = 3, #ARGV, 2 do
  if not isOthers(ARGV[i]) then redis.call('HSET', KEYS[1], ARGV[i], 'queued ' .. ARGV[i + 1]) end
end
return found`;

/** Returns the keys that no other job is working on. From now on this job works on them. */
const beginScript = `${reading}
for i = 3, #ARGV do
  if not isOthers(ARGV[i]) then
    redis.call('HSET', KEYS[1], ARGV[i], 'begun ' .. job)
    table.insert(found, ARGV[i])
  end
end
return found`;

/** Returns the keys that were wanted during the work: their claims stay until another job gets them. */
const endScript = `${reading}
for i = 3, #ARGV do
  local state, holder = claimOf(ARGV[i])
  if holder == job and state == 'again' then table.insert(found, ARGV[i]) end
  if holder == job and state == 'begun' then redis.call('HDEL', KEYS[1], ARGV[i]) end
end
return found`;

const Keys = z.array(z.string());

/** Which job of a queue holds which keys, so that over all processes one job at a time works on a key. */
export class Claims {
  readonly #redis: RedisClient;
  readonly #key: string;
  readonly #jobs: string;

  /** @param queue prefix and name of the queue */
  constructor(redis: RedisClient, { prefix, name }: { prefix: string; name: string }) {
    this.#redis = redis;
    this.#key = `${prefix}:claims:${name}`;
    this.#jobs = `${prefix}:${name}:`;
  }

  /** @returns the keys that need a new job. The others are in waiting jobs, or in jobs at work, whose `end` returns them. */
  async want(keys: readonly string[]): Promise<string[]> {
    return await this.#run(wantScript, keys);
  }

  /**
   * Gives keys to jobs that are about to be added.
   * @param jobs the job's id by key
   * @param from the job that has held the keys
   */
  async hand(jobs: ReadonlyMap<string, string>, from?: string): Promise<void> {
    await this.#run(handScript, [...jobs].flat(), from);
  }

  /** @returns the keys that the job may work on. Jobs that work on the other keys return them from `end`. */
  async begin(keys: readonly string[], job: string): Promise<string[]> {
    return await this.#run(beginScript, keys, job);
  }

  /** Call this when the job has ended its work on the keys. @returns the keys that were wanted meanwhile, and need another job */
  async end(keys: readonly string[], job: string): Promise<string[]> {
    return await this.#run(endScript, keys, job);
  }

  async #run(script: string, keys: readonly string[], job = ''): Promise<string[]> {
    if (keys.length === 0) return [];
    return Keys.parse(await runScript(this.#redis, script, [this.#key], this.#jobs, job, ...keys));
  }
}
