import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError, type Job, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import pLimit from 'p-limit';
import type { z } from 'zod';
import { adviceOf, CloseloopError, isConnectorBug, messageOf } from '../../core/errors.ts';
import type { Log, Ports } from '../../core/ports.ts';
import { nextStep, patient } from '../../core/retry.ts';
import type { Holds } from '../operations/holds.ts';
import { type JobEnd, type Observer, unobserved } from '../operations/observer.ts';
import type { Outage } from '../operations/outage.ts';
import { isRedisUnavailable } from '../redis/unavailable.ts';
import { ConcurrencyLimiter, Gate } from './admission.ts';
import { aboutFailure, failingOf, forgetFailures, forgetStalls, stallsOf } from './job-failure.ts';
import type { JobQueue } from './job-queue.ts';
import type { JobResult } from './jobs.ts';
import { workTogether } from './work-together.ts';

export interface StageOptions<Data extends z.ZodType> {
  jobs: JobQueue<Data>;
  /** The name of the source, for the log. */
  source: string;
  /** The most pieces of data that the stage processes at once. */
  concurrency: number;
  /** The limit while the process is busy. Left out: `concurrency`. */
  busyConcurrency?: number;
  process: (data: z.output<Data>) => Promise<JobResult>;
  /** Called when the job is given up, with the reason: settles the job's journey. */
  giveUp: (data: z.output<Data>, why: string) => Promise<void>;
  /** Keeps jobs that were given up and have no journey, to be replayed. Real time. */
  keepGivenUp?: { isKept: (data: z.output<Data>) => boolean; forMs: number };
  /** The endpoints that the jobs call: while one is down a single job probes it. */
  endpoints?: readonly Outage[];
  /** Holds the jobs that need a campaign, rule or operation that a person has to mend. Left out: the whole stage stops instead. */
  holds?: Holds;
  /** A job that has failed for this long is given up. Real time. Default a week. */
  retryForMs?: number;
  /** Called when a job has succeeded. */
  onDone?: () => Promise<void>;
  /** Called when a job begins again after its process died: the outcome of its calls is unknown. */
  onInterrupted?: (data: z.output<Data>) => Promise<void>;
  /** Called when no job of the stage can succeed until a person acts, before the stage stops. */
  onConfigError: (why: string) => Promise<void>;
  /** Alerts a person to a job that this version can't read, or that the connector's own code fails. The job is kept. */
  alert: (kind: 'to-do', why: string, remedy: string) => Promise<void>;
  observer?: Observer | undefined;
  /** Writes something to Redis. */
  probe: () => Promise<unknown>;
  ports: Pick<Ports, 'random' | 'now'>;
  log: Log;
}

/** The wait between two tries of a job that only another version can read. Real time. */
const asideMs = 600_000;

const foreignRemedy =
  'run one version everywhere; the job is kept, and continues within ten minutes once a version that can read it runs';

/** After this many failures of a job by the connector's own code a person is told. */
const toldAfter = 3;
const bugRemedy = 'correct the connector, or report this to its author; what failed is tried again by itself';

/** The time after which a held job checks whether it is still held, with jitter. A hold that ends resumes its jobs at once. Real time. */
const heldMs = 600_000;

/**
 * BullMQ runs a killed worker's jobs again once their locks expire. BullMQ counts these stalls for each job, and would fail a job after
 * `maxStalledCount` stalls without calling `giveUp`, which would leave the journey unsettled: so the stage gives the job up before that.
 */
const crashSettings = { lockDuration: 10_000, stalledInterval: 5_000, maxStalledCount: 1_000 };
/** A crash interrupts all jobs of the process. A job that two crashes in a row have interrupted is suspected of causing them. */
const suspectedAfter = 2;
/** A suspect is given up after this many crashes: during the last crashes its process ran no other suspect. */
const givenUpAfter = 4;
/** A process runs one suspect at a time, over all stages, so that its next crash counts against no innocent suspect. */
const suspects = pLimit(1);
/** BullMQ fetches all jobs that a worker may run before the first job begins. After this wait the other suspects are back in the queue. Real time. */
const othersGoBackMs = 500;
const isSuspect = (job: Job, all: readonly unknown[]): boolean => all.length === 1 && stallsOf(job) >= suspectedAfter;

const crashed =
  `its process crashed or froze ${givenUpAfter} times while it ran this job, at last with no other suspected job beside it. ` +
  'The job is set aside. Look for the crash in the log';

/** Works on the jobs of one queue: `start` runs them in this process. */
export class Stage<Data extends z.ZodType> {
  readonly jobs: JobQueue<Data>;
  readonly #options: StageOptions<Data>;
  readonly #redisWait: RedisWait;
  readonly #gate: Gate;
  readonly #limiter: ConcurrencyLimiter;
  #worker: Worker | undefined;

  constructor(options: StageOptions<Data>) {
    this.#options = options;
    this.jobs = options.jobs;
    const { concurrency: most, busyConcurrency = most } = options;
    this.#limiter = new ConcurrencyLimiter(
      { least: Math.min(busyConcurrency, most), most },
      options.jobs.mostHeld,
      (jobsAtOnce) => {
        if (this.#worker) this.#worker.concurrency = jobsAtOnce;
      },
    );
    this.#redisWait = new RedisWait(options.probe);
    this.#gate = new Gate({
      endpoints: options.endpoints ?? [],
      narrow: (isNarrow) => this.#limiter.narrow(isNarrow),
      random: options.ports.random,
    });
  }

  /** Processes a job outside the queue. */
  async run(data: unknown): Promise<JobResult> {
    return await this.#options.process(this.jobs.read(data));
  }

  /** @param busy the share of the last moments in which the process was working, from 0 to 1 */
  adapt(busy: number): void {
    this.#limiter.adapt(busy);
  }

  /** Does nothing when the stage is running. */
  start(): void {
    if (this.#worker) return;
    const { jobs } = this;
    const { name, prefix, connection, telemetry } = jobs.options;
    const work = async (job: Job, token?: string) => {
      const all = jobs.dataIn(job.data);
      await this.#limiter.run(all?.length ?? 1, () => this.#process(job, token, all));
    };
    this.#worker = new Worker(name, work, {
      prefix,
      connection,
      concurrency: this.#limiter.jobsAtOnce,
      ...crashSettings,
      ...(telemetry && { telemetry }),
      // Used only where handling a failure has failed itself.
      settings: { backoffStrategy: () => tryRedisEveryMs },
    });
    this.#worker.on('error', (error) => {
      this.#lost(error);
      // BullMQ's worker would ask Redis for the next job in a tight loop.
      if (isRedisUnavailable(error)) void this.#redisWait.over(this.#worker);
    });
  }

  /** Begins no more jobs and waits up to `graceMs` for the running jobs. Another worker repeats the rest once their locks expire. */
  async stop(graceMs: number): Promise<void> {
    const worker = this.#worker;
    if (!worker) return;
    this.#worker = undefined;
    const waiting = new AbortController();
    await Promise.race([worker.close(), sleep(graceMs, undefined, waiting).catch(() => undefined)]);
    waiting.abort();
  }

  /** Stops the stage as `stop` does, and closes the queue. */
  async close(graceMs: number): Promise<void> {
    this.#gate.close();
    await this.stop(graceMs);
    // While Redis is down BullMQ's `close` never resolves.
    await Promise.race([this.jobs.queue.close(), sleep(2_000, undefined, { ref: false })]);
  }

  /** Repeats a job after an error of Redis, once Redis accepts writes: such an error says nothing about the job. */
  async #process(job: Job, token: string | undefined, all: z.output<Data>[] | undefined): Promise<void> {
    for (;;) {
      try {
        await this.#attempt(job, token, all);
        return;
      } catch (error) {
        if (!isRedisUnavailable(error)) throw error;
        this.#lost(error);
        await this.#redisWait.over(this.#worker);
      }
    }
  }

  async #attempt(job: Job, token: string | undefined, all: z.output<Data>[] | undefined): Promise<void> {
    if (all?.[0] === undefined) return await this.#setAside(job, token);
    if (!isSuspect(job, all)) return await this.#admit(job, token, all);
    if (stallsOf(job) >= givenUpAfter) {
      return await this.#handle(job, token, all[0], new CloseloopError(crashed, { kind: 'permanent' }));
    }
    if (suspects.activeCount > 0) return await delay(job, token, this.#gate.laterMs());
    await suspects(async () => {
      await sleep(othersGoBackMs);
      await this.#admit(job, token, all);
    });
  }

  /** Another version may be able to read the job. */
  async #setAside(job: Job, token: string | undefined): Promise<never> {
    const { source, alert, log } = this.#options;
    const why = 'a job of another version of closeloop, or of a faulty connector, is set aside';
    log.error({ source, stage: this.#name, job: job.id }, why);
    await alert('to-do', `stage ${this.#name}: ${why}`, foreignRemedy);
    return await delay(job, token, asideMs);
  }

  async #admit(job: Job, token: string | undefined, all: z.output<Data>[]): Promise<void> {
    // A suspect that waited here for its endpoint would keep all other suspects waiting.
    const admission = await this.#gate.admit(token ?? '', { mayWait: !isSuspect(job, all) });
    if (admission.may === 'wait') return await delay(job, token, admission.delayMs);
    try {
      // The job may have been held for hours, and its stage been paused meanwhile.
      if (admission.hasWaited && (await this.jobs.queue.isPaused())) await putBack(job, token);
      const mine = await this.jobs.begin(all, job.id ?? '');
      const isInterrupted = stallsOf(job) > 0;
      if (isInterrupted) for (const data of mine) await this.#options.onInterrupted?.(data);
      if (all.length === 1) for (const data of mine) await this.#work(job, token, data);
      // One piece of data may have ended the process: with a job for each piece closeloop finds out which.
      else if (isInterrupted) await this.jobs.addSingly(mine, { from: job.id });
      else await this.#workTogether(job, token, { all: mine, isProbe: admission.hasWaited });
      await this.jobs.end(mine, job.id ?? '');
    } finally {
      await admission.done();
    }
  }

  async #workTogether(
    job: Job,
    token: string | undefined,
    { all, isProbe }: { all: z.output<Data>[]; isProbe: boolean },
  ): Promise<void> {
    const { source, ports, log, onDone } = this.#options;
    const process = async (data: z.output<Data>) => await this.#timed(data);
    const ended = (end: JobEnd) => this.#ended(end);
    const within = (delayMs: number) => this.#gate.within(delayMs);
    const options = { jobs: this.jobs, job: job.id, source, process, ended, within, ports, log };
    const work = async (some: z.output<Data>[]) => await workTogether(some, options);
    // One piece of data probes an endpoint that may still be down.
    const isOneDone = isProbe && (await work(all.slice(0, 1)));
    if (isProbe && (await this.#gate.down())) return await delay(job, token, this.#gate.laterMs());
    if ((await work(isProbe ? all.slice(1) : all)) || isOneDone) await onDone?.();
  }

  async #work(job: Job, token: string | undefined, data: z.output<Data>): Promise<void> {
    try {
      const result = await this.#timed(data);
      this.#ended(result.do === 'done' ? 'done' : 'waits');
      if (result.do === 'done') return await this.#options.onDone?.();
      await forgetFailures(job);
      await delay(job, token, result.delayMs);
    } catch (error) {
      if (error instanceof DelayedError) throw error;
      await this.#handle(job, token, data, error);
    }
  }

  async #timed(data: z.output<Data>): Promise<JobResult> {
    const { source, process, observer = unobserved } = this.#options;
    const begun = performance.now();
    try {
      return await process(data);
    } finally {
      observer.worked(source, this.#name, (performance.now() - begun) / 1_000);
    }
  }

  #ended(end: JobEnd): void {
    const { source, observer = unobserved } = this.#options;
    observer.ended(source, this.#name, end);
  }

  async #handle(job: Job, token: string | undefined, data: z.output<Data>, error: unknown): Promise<never> {
    if (isRedisUnavailable(error)) throw error;
    const { source, alert, log, ports, retryForMs } = this.#options;
    const advice = adviceOf(error);
    const now = ports.now().getTime();
    const failing = failingOf(job, advice, now);
    const step = nextStep(
      advice,
      { attempt: failing.attempts, elapsedMs: now - failing.since, doubts: failing.doubts },
      ports.random(),
      { ...patient, ...(retryForMs !== undefined && { forMs: retryForMs }) },
    );
    if (step.do === 'wait') {
      this.#ended('waits');
      await forgetStalls(job);
      return await delay(job, token, await this.#gate.within(step.delayMs));
    }
    const about = { source, stage: this.#name, ...aboutFailure(data, error) };
    if (step.do === 'retry') {
      // The outage of an endpoint is logged once, not for each job.
      const isReported = (await this.#gate.down()) !== undefined;
      log[isReported ? 'debug' : 'warn']({ ...about, attempt: failing.attempts }, 'will be retried');
      this.#ended('retried');
      await job.updateProgress(failing);
      if (isConnectorBug(error) && failing.attempts >= toldAfter) await alert('to-do', messageOf(error), bugRemedy);
      return await delay(job, token, step.delayMs);
    }
    if (advice.kind === 'config') return await this.#stop(job, token, messageOf(error), advice.only);
    if (!(await isOurs(job, token))) throw new DelayedError();
    log.error(about, 'given up');
    this.#ended('given-up');
    await this.#options.giveUp(data, messageOf(error));
    await this.jobs.end([data], job.id ?? '');
    const { keepGivenUp } = this.#options;
    if (keepGivenUp?.isKept(data)) job.opts.removeOnFail = { age: Math.ceil(keepGivenUp.forMs / 1_000) };
    throw new UnrecoverableError(messageOf(error));
  }

  /** A person has to act: this job waits, and so do the jobs that need the same, or the whole stage. */
  async #stop(job: Job, token: string | undefined, why: string, only: string | undefined): Promise<never> {
    const { holds, ports } = this.#options;
    this.#ended('stopped');
    if (only !== undefined && holds && job.id !== undefined) {
      await holds.set(this.#name, only, why, job.id);
      await job.moveToDelayed(Date.now() + Math.ceil(heldMs * (1 + ports.random())), token);
      // The hold may have ended in between, too early to resume this job.
      if (!(await holds.stands(this.#name, only))) await job.promote();
      throw new DelayedError();
    }
    // The pause is recorded first: without a record no process would resume the queue.
    await this.#options.onConfigError(why);
    await this.jobs.queue.pause();
    return await putBack(job, token);
  }

  get #name(): string {
    return this.jobs.options.name;
  }

  #lost(error: unknown): void {
    this.jobs.options.onLost(error instanceof Error ? error : new Error(String(error)));
  }
}

async function delay(job: Job, token: string | undefined, delayMs: number): Promise<never> {
  await job.moveToDelayed(Date.now() + Math.ceil(delayMs), token);
  throw new DelayedError();
}

async function putBack(job: Job, token: string | undefined): Promise<never> {
  await job.moveToWait(token);
  throw new WaitingError();
}

/** Whether this worker still has the job. A worker that was frozen has lost its jobs to other workers, which now decide about the jobs. */
async function isOurs(job: Job, token: string | undefined): Promise<boolean> {
  return token !== undefined && (await job.extendLock(token, crashSettings.lockDuration)) === 1;
}

/** The time between two probes of Redis while Redis accepts no writes. Jobs spend no attempt on this. Real time. */
export const tryRedisEveryMs = 1_000;

interface Pausable {
  pause(doNotWaitActive: boolean): Promise<void>;
  resume(): unknown;
}

/** Holds back jobs while Redis accepts no writes. */
export class RedisWait {
  readonly #probe: () => Promise<unknown>;
  #over: Promise<void> | undefined;

  constructor(probe: () => Promise<unknown>) {
    this.#probe = probe;
  }

  /** Resolves when Redis accepts writes again. */
  over(worker: Pausable | undefined): Promise<void> {
    this.#over ??= this.#untilWritable(worker).finally(() => {
      this.#over = undefined;
    });
    return this.#over;
  }

  async #untilWritable(worker: Pausable | undefined): Promise<void> {
    await worker?.pause(true);
    const isRefused = () => this.#probe().then(() => false, isRedisUnavailable);
    do await sleep(tryRedisEveryMs);
    while (await isRefused());
    await worker?.resume();
  }
}
