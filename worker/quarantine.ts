import { type ChildProcess, spawn } from 'node:child_process';
import pLimit from 'p-limit';
import { z } from 'zod';
import { CloseloopError } from '../core/errors.ts';
import type { StageResult } from './stages/stage.ts';

/** A job as the other process finds it again. `data` as the queue holds it. */
export interface SuspectJob {
  source: string;
  stage: string;
  data: unknown;
}

/** Runs jobs where a crash harms nobody. */
export interface Quarantine {
  /**
   * @throws CloseloopError permanent when the process died of the job; else what the job itself threw
   */
  run(job: SuspectJob): Promise<StageResult>;
}

const Advice = z.union([
  z.object({
    kind: z.literal('transient'),
    retryAfterMs: z.number().exactOptional(),
    throttled: z.boolean().exactOptional(),
  }),
  z.object({ kind: z.enum(['permanent', 'config']) }),
]);

/** What the other process says: that it can begin, and what became of a job. */
export const QuarantineReply = z.union([
  z.object({ is: z.literal('ready') }),
  z.object({
    is: z.literal('done'),
    result: z.union([z.object({ do: z.literal('done') }), z.object({ do: z.literal('wait'), delayMs: z.number() })]),
  }),
  z.object({
    is: z.literal('failed'),
    message: z.string(),
    advice: Advice,
    outcome: z.enum(['never-sent', 'refused', 'unknown']),
  }),
]);
export type QuarantineReply = z.output<typeof QuarantineReply>;

/** Longer than the longest wait for a vendor's background job; who is not done by then stands still for good. */
const longestMs = 20 * 60_000;
/** Nothing to do for this long: it is ended. */
const idleMs = 30_000;

/**
 * A process beside this one for jobs that were running more than once when their process ended, one at a time. Most of
 * them had nothing to do with it (the process was killed, or crashed by another job), and pass. One that kills this
 * process too, while its parent lives, is the culprit.
 * @param command the program and its arguments: it answers messages with `QuarantineReply`, and ends with its channel
 */
export function createQuarantine(command: readonly [string, ...string[]]): Quarantine & { close(): void } {
  const oneAtATime = pLimit(1);
  let child: ChildProcess | undefined;
  let idle: NodeJS.Timeout | undefined;
  let closing = false;

  /** @throws CloseloopError transient when it can't be started: no verdict on any job */
  async function ready(): Promise<ChildProcess> {
    if (child?.connected) return child;
    const [program, ...args] = command;
    const started = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    child = started;
    const first = await next(started);
    if (first?.is === 'ready') return started;
    throw new CloseloopError('the process for suspected jobs could not be started', { kind: 'transient' });
  }

  async function run(job: SuspectJob): Promise<StageResult> {
    clearTimeout(idle);
    try {
      const process = await ready();
      process.send(job);
      const reply = await next(process);
      if (reply?.is === 'done') return reply.result;
      if (reply?.is === 'failed') {
        throw new CloseloopError(reply.message, reply.advice, { outcome: reply.outcome });
      }
      if (closing) throw new CloseloopError('stopped before it was done', { kind: 'transient' });
      throw new CloseloopError(
        'its processing crashed the process three times, the last time alone in it: it is set aside. Look for the crash in the log; when its cause is mended, replay the journey',
        { kind: 'permanent' },
        { outcome: 'unknown' },
      );
    } finally {
      idle = setTimeout(end, idleMs).unref();
    }
  }

  function end(): void {
    clearTimeout(idle);
    if (child?.connected) child.disconnect();
    child = undefined;
  }

  return {
    run: (job) => oneAtATime(() => run(job)),
    close() {
      closing = true;
      end();
    },
  };
}

/** The next message; `undefined` when the process has ended instead, or had to be. */
async function next(child: ChildProcess): Promise<QuarantineReply | undefined> {
  return await new Promise((resolve) => {
    const settle = (reply: QuarantineReply | undefined): void => {
      clearTimeout(late);
      child.off('message', heard);
      child.off('exit', gone);
      child.off('error', gone);
      resolve(reply);
    };
    const heard = (message: unknown): void => settle(QuarantineReply.parse(message));
    const gone = (): void => settle(undefined);
    const late = setTimeout(() => child.kill('SIGKILL'), longestMs).unref();
    child.on('message', heard);
    child.on('exit', gone);
    child.on('error', gone);
  });
}
