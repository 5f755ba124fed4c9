import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { z } from 'zod';

/** What a process with nothing but BullMQ is told to do, on the Redis at this socket. */
export const Task = z.discriminatedUnion('do', [
  /** Add jobs, so many at a time; each holds as much as a delivery. */
  z.object({ do: z.literal('add'), socket: z.string(), jobs: z.number(), inFlight: z.number(), bytes: z.number() }),
  /** Add jobs that wait for a month. */
  z.object({ do: z.literal('delay'), socket: z.string(), jobs: z.number(), bytes: z.number() }),
  /** Add jobs that are all due at one instant, and work on them: `ms` is how late the slowest hundredth began. */
  z.object({ do: z.literal('due'), socket: z.string(), jobs: z.number(), inMs: z.number() }),
  /** Work on so many jobs, each of which does nothing. */
  z.object({ do: z.literal('process'), socket: z.string(), jobs: z.number(), concurrency: z.number() }),
]);
export type Task = z.output<typeof Task>;

export const Result = z.object({ ms: z.number(), cpuMs: z.number() });
export type Result = z.output<typeof Result>;

/** Has a process of its own do it, after it has warmed up. */
export async function bareBullmq(task: Task): Promise<Result> {
  const child = fork(join(import.meta.dirname, 'bare-bullmq-process.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const closed = once(child, 'close');
  const answer = once(child, 'message');
  child.send(task);
  const [message] = await answer;
  child.kill();
  await closed;
  return Result.parse(message);
}
