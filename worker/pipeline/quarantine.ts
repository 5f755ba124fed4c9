import { type ChildProcess, spawn } from 'node:child_process';
import pLimit from 'p-limit';
import { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';
import type { JobResult } from './jobs.ts';

/** A job to run in the other process. `data` as stored in the queue. */
export interface SuspectJob {
  source: string;
  stage: string;
  data: unknown;
}

/** Runs jobs in processes of their own, so that a crash hits no other job. */
export interface Quarantine {
  /** @throws CloseloopError permanent when a process of its own died of it; else what the job itself threw */
  run(job: SuspectJob): Promise<JobResult>;
}

const Advice = z.union([
  z.object({
    kind: z.literal('transient'),
    retryAfterMs: z.number().exactOptional(),
    throttled: z.boolean().exactOptional(),
  }),
  z.object({ kind: z.literal('permanent'), doubtful: z.boolean().exactOptional() }),
  z.object({
    kind: z.literal('config'),
    doubtful: z.boolean().exactOptional(),
    only: z.string().exactOptional(),
  }),
]);
const Result = z.union([z.object({ do: z.literal('done') }), z.object({ do: z.literal('wait'), delayMs: z.number() })]);
const Failure = z.object({
  message: z.string(),
  advice: Advice,
  outcome: z.enum(['never-sent', 'refused', 'unknown']),
});

/**
 * What a child is told first: the configuration's text as its parent runs by it, whatever the file holds by now. Through
 * the channel between them, since there may be secrets in it.
 */
export const ChildBeginning = z.object({ config: z.string() });

/** A child's messages: that it is ready, and the result of a job. */
export const ChildReply = z.union([
  z.object({ ready: z.literal(true) }),
  z.object({ id: z.number(), result: Result }),
  z.object({ id: z.number(), failure: Failure }),
]);
export type ChildReply = z.output<typeof ChildReply>;

/** Longer than the longest wait for a vendor's background job: a job that takes longer hangs. */
const longestMs = 20 * 60_000;
/** A child without jobs for this long is ended. */
const idleMs = 30_000;

/**
 * Child processes for jobs that were running when a process died. Most of these jobs are innocent: they run together in one child,
 * and pass. When that child dies as well, each job that it was running runs alone in a further child. A job that kills this third
 * process, too, is the culprit: the parent is alive, so the machine was not the cause.
 * @param command the program and its arguments: takes `ChildBeginning`, then `{id, ...SuspectJob}`; says `ChildReply`, ends with
 * its channel
 * @param config the configuration's text
 */
export function createQuarantine(
  command: readonly [string, ...string[]],
  config: string,
): Quarantine & { close(): void } {
  const together = new Child(command, { config });
  const alone = new Child(command, { config });
  const oneAtATime = pLimit(1);
  return {
    async run(job) {
      try {
        return await together.run(job);
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
      }
      try {
        return await oneAtATime(() => alone.run(job));
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        const message =
          'its processing crashed the process three times, at last one that did nothing else: it is set aside. ' +
          'Look for the crash in the log; when its cause is mended, replay the journey';
        throw new CloseloopError(message, { kind: 'permanent' }, { outcome: 'unknown' });
      }
    },
    close() {
      together.close();
      alone.close();
    },
  };
}

class Crash extends Error {}

interface Pending {
  resolve: (result: JobResult) => void;
  reject: (error: Error) => void;
  late: NodeJS.Timeout;
}

/** A child process, started with the first job, and again after a crash. */
class Child {
  readonly #command: readonly [string, ...string[]];
  readonly #beginning: z.output<typeof ChildBeginning>;
  readonly #pending = new Map<number, Pending>();
  #process: Promise<ChildProcess> | undefined;
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;
  #isClosed = false;

  constructor(command: readonly [string, ...string[]], beginning: z.output<typeof ChildBeginning>) {
    this.#command = command;
    this.#beginning = beginning;
  }

  /** @throws Crash when the process died while running the job */
  async run(job: SuspectJob): Promise<JobResult> {
    clearTimeout(this.#idle);
    this.#process ??= this.#start();
    const child = await this.#process;
    return await new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      const late = setTimeout(() => child.kill('SIGKILL'), longestMs).unref();
      this.#pending.set(id, { resolve, reject, late });
      // A closed channel is reported by the process's exit event.
      child.send({ id, ...job }, () => undefined);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#end();
  }

  async #start(): Promise<ChildProcess> {
    const [program, ...args] = this.#command;
    const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    return await new Promise((resolve, reject) => {
      child.on('message', (message) => {
        const reply = ChildReply.parse(message);
        if ('ready' in reply) resolve(child);
        else this.#settle(reply.id, reply);
      });
      const gone = (): void => {
        this.#process = undefined;
        reject(new CloseloopError('the process for suspected jobs could not be started', { kind: 'transient' }));
        for (const id of this.#pending.keys()) this.#settle(id, undefined);
      };
      child.once('exit', gone);
      child.once('error', gone);
      // A process that could not be started is reported by its error event.
      child.send(this.#beginning, () => undefined);
    });
  }

  #settle(id: number, reply: Exclude<ChildReply, { ready: true }> | undefined): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    this.#pending.delete(id);
    clearTimeout(pending.late);
    if (!reply) {
      pending.reject(
        this.#isClosed ? new CloseloopError('stopped before its end', { kind: 'transient' }) : new Crash(),
      );
    } else if ('result' in reply) {
      pending.resolve(reply.result);
    } else {
      const { message, advice, outcome } = reply.failure;
      pending.reject(new CloseloopError(message, advice, { outcome }));
    }
    if (this.#pending.size === 0) this.#idle = setTimeout(() => this.#end(), idleMs).unref();
  }

  #end(): void {
    clearTimeout(this.#idle);
    const ending = this.#process;
    this.#process = undefined;
    ending?.then((child) => child.disconnect()).catch(() => undefined);
  }
}
