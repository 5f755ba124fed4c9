import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { z } from 'zod';

/** What the fakes' process is told. */
export const Command = z.discriminatedUnion('do', [
  z.object({ do: z.literal('reset'), latencyMs: z.number() }),
  /** Tell when so many requests have been created. */
  z.object({ do: z.literal('wait'), creates: z.number() }),
]);

const Counts = z.object({
  /** Calls to the help desk, and to the service. */
  vendor: z.number(),
  service: z.number(),
  /** Feedback requests created, and when the first and the last were: milliseconds, since 1970. */
  creates: z.number(),
  firstCreateAt: z.number(),
  lastCreateAt: z.number(),
});
export type Counts = z.output<typeof Counts>;

const Listening = z.object({ is: z.literal('listening'), port: z.number() });
const Told = z.object({ is: z.literal('counts'), counts: Counts });

export interface Fakes {
  url: string;
  pid: number;
  /** Counts from 0 again. @param latencyMs every answer waits so long */
  reset(latencyMs?: number): Promise<void>;
  /** Resolves when so many requests have been created since the last `reset`. */
  created(count: number): Promise<Counts>;
  close(): Promise<void>;
}

/** A help desk and the Feedback service, in a process of their own. */
export async function startFakes(): Promise<Fakes> {
  const child = fork(join(import.meta.dirname, 'fakes-process.ts'));
  const [first] = await once(child, 'message');
  const { port } = Listening.parse(first);
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    reset: async (latencyMs = 0) => void (await asked(child, { do: 'reset', latencyMs })),
    created: (creates) => asked(child, { do: 'wait', creates }),
    close: async () => {
      const closed = once(child, 'close');
      child.kill();
      await closed;
    },
  };
}

async function asked(child: ChildProcess, command: z.input<typeof Command>): Promise<Counts> {
  const answer = once(child, 'message');
  child.send(command);
  const [message] = await answer;
  return Told.parse(message).counts;
}
