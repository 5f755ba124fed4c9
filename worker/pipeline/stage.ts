import { DelayedError, type Job, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import type { z } from 'zod';
import { adviceOf, messageOf } from '../../core/errors.ts';
import type { Log, Ports } from '../../core/ports.ts';
import { nextStep, patient } from '../../core/retry.ts';
import type { Holds } from '../operations/holds.ts';
import type { Outage } from '../operations/outage.ts';
import { isRedisUnavailable } from '../redis/unavailable.ts';
import { Door } from './admission.ts';
import { aboutFailure, failingOf, forgetFailures } from './job-failure.ts';
import type { JobQueue } from './job-queue.ts';
import type { JobResult } from './jobs.ts';
import type { Quarantine } from './quarantine.ts';
import { RedisTrouble, troubleMs } from './redis-trouble.ts';

export interface StageOptions<Data extends z.ZodType> {
  jobs: JobQueue<Data>;
  /** For the log. */
  source: string;
  concurrency: number;
  process: (data: z.output<Data>) => Promise<JobResult>;
  /** No further attempt will be made: settle what the job was about, with this reason. */
  giveUp: (data: z.output<Data>, why: string) => Promise<void>;
  /** No journey tells of it: the job itself is kept when it is given up, so long, to be replayed. Real time. */
  keepGivenUp?: { isKept: (data: z.output<Data>) => boolean; forMs: number };
  /** What its jobs call: while one of these is down one job finds out for all. */
  endpoints?: readonly Outage[];
  /** Where jobs wait whose campaign, rule or operation is at fault; left out: the stage stops. */
  holds?: Holds;
  /** A job is given up when it has failed for so long. Real time. Default a week. */
  retryForMs?: number;
  /** Where a job runs that was running when a process ended. Left out: here, like any other. */
  quarantine?: Quarantine;
  /** A job came through. */
  onDone?: () => Promise<void>;
  /** A person has to act before any job of this stage can succeed. The stage stops itself. */
  onConfigError: (why: string) => Promise<void>;
  /** Tells a person: a job can't be read, and is kept for whoever can. */
  alert: (kind: 'to-do', why: string, remedy: string) => Promise<void>;
  /** Writes something to Redis. */
  probe: () => Promise<unknown>;
  ports: Pick<Ports, 'random' | 'now'>;
  log: Log;
}

/** A job that only another version can read: how often this one looks whether it still can't. Real time. */
const asideMs = 600_000;
const foreignRemedy =
  'run one version everywhere; it is kept, and goes on within ten minutes once a version that can read it runs';

/** Until a held job looks by itself whether it is still held; mended, it goes on at once. Spread. Real time. */
const heldMs = 600_000;

/** A job that was running when a process ended is suspected. Nearly all are innocent: a kill hits many at once. */
const suspectedAfter = 1;

/** A killed worker's jobs are taken up after 10 s at the latest, however often that happens. */
const crashSettings = { lockDuration: 10_000, stalledInterval: 5_000, maxStalledCount: 1_000 };

/** Works on the jobs of one queue: `start` runs them in this process. */
export class Stage<Data extends z.ZodType> {
  readonly jobs: JobQueue<Data>;
  readonly #options: StageOptions<Data>;
  readonly #trouble: RedisTrouble;
  readonly #door: Door;
  #worker: Worker | undefined;

  constructor(options: StageOptions<Data>) {
    this.#options = options;
    this.jobs = options.jobs;
    this.#trouble = new RedisTrouble(options.probe);
    this.#door = new Door({
      endpoints: options.endpoints ?? [],
      concurrency: options.concurrency,
      setConcurrency: (jobs) => {
        if (this.#worker) this.#worker.concurrency = jobs;
      },
      random: options.ports.random,
    });
  }

  /** One job, outside the queue: what `process` of a queued one does. */
  async run(data: unknown): Promise<JobResult> {
    return await this.#options.process(this.jobs.read(data));
  }

  /** Nothing where it has been started already. */
  start(): void {
    if (this.#worker) return;
    const { jobs } = this;
    const { name, prefix, connection } = jobs.options;
    const work = async (job: Job, token?: string) => {
      jobs.running += 1;
      await this.#process(job, token).finally(() => {
        jobs.running -= 1;
      });
    };
    this.#worker = new Worker(name, work, {
      prefix,
      connection,
      concurrency: this.#options.concurrency,
      ...crashSettings,
      // Only what fails while a failure is being settled comes here.
      settings: { backoffStrategy: () => troubleMs },
    });
    this.#worker.on('error', (error) => {
      this.#lost(error);
      // A worker that is refused a job asks for the next at once, again and again.
      if (isRedisUnavailable(error)) void this.#trouble.over(this.#worker);
    });
  }

  /**
   * Finishes what runs, up to `graceMs`, and begins no more. What is left then is run again by another worker once its lock has
   * ended; a second call of BullMQ's `close` would only wait on, so it isn't waited for.
   */
  async stop(graceMs: number): Promise<void> {
    const worker = this.#worker;
    if (!worker) return;
    this.#worker = undefined;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([worker.close(), late]);
    clearTimeout(timer);
  }

  /** `stop`, for good: also for adding. */
  async close(graceMs: number): Promise<void> {
    this.#door.close();
    await this.stop(graceMs);
    // With Redis away BullMQ's own closing never ends.
    await Promise.race([this.jobs.queue.close(), new Promise((resolve) => setTimeout(resolve, 2_000).unref())]);
  }

  /** Redis in trouble says nothing about a job: that one is begun anew when Redis takes writes again. */
  async #process(job: Job, token: string | undefined): Promise<void> {
    for (;;) {
      try {
        await this.#attempt(job, token);
        return;
      } catch (error) {
        if (!isRedisUnavailable(error)) throw error;
        this.#lost(error);
        await this.#trouble.over(this.#worker);
      }
    }
  }

  async #attempt(job: Job, token: string | undefined): Promise<void> {
    const readable = this.jobs.readable(job.data);
    if (!readable) {
      const { source, alert, log } = this.#options;
      const why = 'a job of another version of closeloop, or of a faulty connector, is set aside';
      log.error({ source, stage: this.#name, job: job.id }, why);
      await alert('to-do', `stage ${this.#name}: ${why}`, foreignRemedy);
      return await this.#delay(job, token, asideMs);
    }
    const admission = await this.#door.admit(token ?? '');
    if (admission.may === 'wait') return await this.#delay(job, token, admission.delayMs);
    try {
      // It may have been in hand for hours, and its stage been paused since.
      if (admission.hasWaited && (await this.jobs.queue.isPaused())) await this.#putBack(job, token);
      await this.#work(job, token, readable.data);
    } finally {
      await admission.done();
    }
  }

  async #work(job: Job, token: string | undefined, data: z.output<Data>): Promise<void> {
    try {
      const { source, quarantine } = this.#options;
      const isSuspect = quarantine !== undefined && job.stalledCounter >= suspectedAfter;
      const result = isSuspect
        ? await quarantine.run({ source, stage: this.#name, data: job.data })
        : await this.#options.process(data);
      if (result.do === 'done') return await this.#options.onDone?.();
      await forgetFailures(job);
      await this.#delay(job, token, result.delayMs);
    } catch (error) {
      if (error instanceof DelayedError) throw error;
      await this.#handle(job, token, data, error);
    }
  }

  async #handle(job: Job, token: string | undefined, data: z.output<Data>, error: unknown): Promise<never> {
    if (isRedisUnavailable(error)) throw error;
    const { source, log, ports, retryForMs } = this.#options;
    const advice = adviceOf(error);
    const now = ports.now().getTime();
    const failing = failingOf(job, advice, now);
    const step = nextStep(
      advice,
      { attempt: failing.attempts, elapsedMs: now - failing.since, doubts: failing.doubts },
      ports.random(),
      { ...patient, ...(retryForMs !== undefined && { forMs: retryForMs }) },
    );
    if (step.do === 'wait') return await this.#delay(job, token, step.delayMs);
    const about = { source, stage: this.#name, ...aboutFailure(data, error) };
    if (step.do === 'retry') {
      // That an endpoint is down is told once, not for each job.
      const isTold = (await this.#door.down()) !== undefined;
      log[isTold ? 'debug' : 'warn']({ ...about, attempt: failing.attempts }, 'will be retried');
      await job.updateProgress(failing);
      return await this.#delay(job, token, step.delayMs);
    }
    if (advice.kind === 'config') return await this.#stop(job, token, messageOf(error), advice.only);
    if (!(await this.#isOurs(job, token))) throw new DelayedError();
    log.error(about, 'given up');
    await this.#options.giveUp(data, messageOf(error));
    const { keepGivenUp } = this.#options;
    if (keepGivenUp?.isKept(data)) job.opts.removeOnFail = { age: Math.ceil(keepGivenUp.forMs / 1_000) };
    throw new UnrecoverableError(messageOf(error));
  }

  /** A person has to act: this job waits, and with it those that need the same, or the whole stage. */
  async #stop(job: Job, token: string | undefined, why: string, only: string | undefined): Promise<never> {
    const { holds, ports } = this.#options;
    if (only !== undefined && holds && job.id !== undefined) {
      await holds.set(this.#name, only, why, job.id);
      await job.moveToDelayed(Date.now() + Math.ceil(heldMs * (1 + ports.random())), token);
      // Lifted in between, which nobody would tell this job.
      if (!(await holds.stands(this.#name, only))) await job.promote();
      throw new DelayedError();
    }
    // In this order: a queue that nobody knows to be stopped would stand still for good.
    await this.#options.onConfigError(why);
    await this.jobs.queue.pause();
    return await this.#putBack(job, token);
  }

  async #putBack(job: Job, token: string | undefined): Promise<never> {
    await job.moveToWait(token);
    throw new WaitingError();
  }

  /** A worker that stood still has lost its jobs to others: what became of them is theirs to say. */
  async #isOurs(job: Job, token: string | undefined): Promise<boolean> {
    return token !== undefined && (await job.extendLock(token, crashSettings.lockDuration)) === 1;
  }

  async #delay(job: Job, token: string | undefined, delayMs: number): Promise<never> {
    await job.moveToDelayed(Date.now() + Math.ceil(delayMs), token);
    throw new DelayedError();
  }

  get #name(): string {
    return this.jobs.options.name;
  }

  #lost(error: unknown): void {
    this.jobs.options.onLost(error instanceof Error ? error : new Error(String(error)));
  }
}
