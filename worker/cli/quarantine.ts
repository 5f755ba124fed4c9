import { once } from 'node:events';
import { z } from 'zod';
import { adviceOf, messageOf, outcomeOfError } from '../../core/errors.ts';
import { createLog } from '../operations/log.ts';
import { liveClock } from '../pipeline/clock.ts';
import { ChildBeginning, type ChildReply } from '../pipeline/quarantine.ts';
import { engineOf } from './engine-of.ts';
import { openRuntime, type RuntimeOptions } from './runtime.ts';

const Job = z.object({ id: z.number(), source: z.string(), stage: z.string(), data: z.unknown() });

/** How long this process has to close its connections once its parent has ended. Real time. */
const graceMs = 2_000;

/**
 * The child process of worker/pipeline/quarantine.ts: runs the jobs that its parent sends, until the parent has ended. Takes no job
 * from the queues.
 */
export async function quarantine(options: RuntimeOptions): Promise<number> {
  // A parent that has ended meanwhile needs no reply.
  const say = (reply: ChildReply) => void (process.connected && process.send?.(reply, () => undefined));
  // The parent ends this process: a signal to the whole group must not look like a job's crash.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);
  const gone = new Promise<void>((resolve) => {
    // The parent may have ended before this line.
    if (process.connected) process.once('disconnect', resolve);
    else resolve();
  });
  // Where Redis is gone as well, opening and closing wait for it without end. What this process has begun is taken up by others.
  void gone.then(() => setTimeout(() => process.exit(0), graceMs).unref());
  const log = createLog({ pretty: process.stdout.isTTY ?? false, level: 'info' });
  const begun = await Promise.race([once(process, 'message'), gone.then(() => undefined)]);
  if (begun === undefined) return 0;
  const { config: configText } = ChildBeginning.parse(begun[0]);
  const runtime = await openRuntime({ ...options, configText }, log);
  const engine = await engineOf(runtime, { clock: liveClock, log });
  process.on('message', (message) => {
    const { id, ...job } = Job.parse(message);
    engine.runJob(job).then(
      (result) => say({ id, result }),
      (error: unknown) => {
        const failure = { message: messageOf(error), advice: adviceOf(error), outcome: outcomeOfError(error) };
        say({ id, failure });
      },
    );
  });
  say({ ready: true });
  await gone;
  await engine.close(0);
  await runtime.close();
  return 0;
}
