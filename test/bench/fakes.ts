import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { z } from 'zod';

/** What the fakes' process is told. */
export const Command = z.discriminatedUnion('do', [
  z.object({ do: z.literal('reset'), latencyMs: z.number(), requests: z.number() }),
  /** Tell when so many requests have been created, or tickets written. */
  z.object({ do: z.literal('wait'), of: z.enum(['creates', 'writes']), count: z.number() }),
  /** So many of the requests created since the last reset are graded, the first ones first. */
  z.object({ do: z.literal('grade'), count: z.number() }),
  /** Tell when each of them was created. */
  z.object({ do: z.literal('times') }),
]);
export type Command = z.output<typeof Command>;

const Counts = z.object({
  /** Calls to the help desk, and to the service. */
  vendor: z.number(),
  service: z.number(),
  /** Feedback requests created, and when the first and the last were: milliseconds, since 1970. */
  creates: z.number(),
  firstCreateAt: z.number(),
  lastCreateAt: z.number(),
  /** Pages of the export, and when the first was read since the last grade was given. */
  pages: z.number(),
  firstPageAt: z.number(),
  /** Tickets that answers were written on, and when the last was. */
  writes: z.number(),
  lastWriteAt: z.number(),
});
export type Counts = z.output<typeof Counts>;

const Listening = z.object({ is: z.literal('listening'), port: z.number(), closedAt: z.coerce.date() });
const Told = z.object({ is: z.literal('counts'), counts: Counts });
const Times = z.object({ is: z.literal('times'), times: z.array(z.number()) });

export interface Fakes {
  url: string;
  pid: number;
  /**
   * Counts from 0 again.
   * @param options `latencyMs`: every answer waits so long; `requests`: so many are in the export, before those created from now on
   */
  reset(options?: { latencyMs?: number; requests?: number }): Promise<void>;
  /** Resolves when so many requests have been created since the last `reset`. */
  created(count: number): Promise<Counts>;
  /** Resolves when answers have been written on so many tickets since the last `reset`. */
  written(count: number): Promise<Counts>;
  /** So many of the requests created since the last `reset` are graded, the first ones first. */
  grade(count: number): Promise<Counts>;
  /** When requests were created, one after the other, since the last `reset`: milliseconds, since 1970. */
  times(): Promise<number[]>;
  /** When every ticket of its help desk was closed. */
  closedAt: Date;
  close(): Promise<void>;
}

/** A help desk and the Feedback service, in a process of their own. */
export async function startFakes(): Promise<Fakes> {
  const child = fork(join(import.meta.dirname, 'fakes-process.ts'));
  const [first] = await once(child, 'message');
  const { port, closedAt } = Listening.parse(first);
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    closedAt,
    reset: async ({ latencyMs = 0, requests = 0 } = {}) =>
      void Told.parse(await asked(child, { do: 'reset', latencyMs, requests })),
    created: async (count) => Told.parse(await asked(child, { do: 'wait', of: 'creates', count })).counts,
    written: async (count) => Told.parse(await asked(child, { do: 'wait', of: 'writes', count })).counts,
    grade: async (count) => Told.parse(await asked(child, { do: 'grade', count })).counts,
    times: async () => Times.parse(await asked(child, { do: 'times' })).times,
    close: async () => {
      const closed = once(child, 'close');
      child.kill();
      await closed;
    },
  };
}

async function asked(child: ChildProcess, command: z.input<typeof Command>): Promise<unknown> {
  const answer = once(child, 'message');
  child.send(command);
  const [message] = await answer;
  return message;
}
