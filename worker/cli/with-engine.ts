import { refusal } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import { createLog } from '../operations/log.ts';
import { liveClock } from '../pipeline/clock.ts';
import type { Engine } from '../pipeline/engine.ts';
import type { SourcePipeline } from '../pipeline/source-pipeline.ts';
import { nameIn, nameInEarnest } from '../redis/keys.ts';
import { checkAccount } from './check-account.ts';
import { engineOf } from './engine-of.ts';
import { openForNow, openToRead, type Runtime, type RuntimeOptions } from './runtime.ts';

export interface Sources {
  runtime: Runtime;
  engine: Engine;
  /** @throws CloseloopError config for a name that isn't in the configuration */
  pipeline(name: string): SourcePipeline;
  /** The one named, or all. */
  pipelines(name?: string): SourcePipeline[];
}

/**
 * The configured sources, for a command beside the loop: no job runs in this process; the workers run what the command queues.
 * `reads`: refuses an installation that has never run; `only`: reads nothing but Redis. Its log goes to standard error, from warnings up.
 */
export async function withSources<T>(
  options: RuntimeOptions & { reads?: boolean | 'only' },
  work: (sources: Sources) => Promise<T>,
): Promise<T> {
  const { reads = false } = options;
  const runtime = await (reads ? openToRead(options, reads === 'only' ? { uses: 'redis' } : {}) : openForNow(options));
  const log: Log = createLog({ pretty: process.stderr.isTTY ?? false, level: 'warn', stream: process.stderr });
  // A command that only reads Redis makes no call to the service, and may not have its key.
  const engine = await (reads === 'only' ? Promise.resolve() : checkAccount(runtime))
    .then(() => engineOf(runtime, { clock: liveClock, log }))
    .catch(async (error: unknown) => {
      await runtime.close();
      throw error;
    });
  const pipeline = (name: string): SourcePipeline => {
    const found = engine.pipelines.get(nameIn(name, runtime.config));
    if (found) return found;
    const names = [...engine.pipelines.keys()].map(nameInEarnest).join(', ');
    throw refusal(`There is no source "${name}"; there are: ${names}.`);
  };
  const pipelines = (name?: string): SourcePipeline[] =>
    name === undefined ? [...engine.pipelines.values()] : [pipeline(name)];
  try {
    return await work({ runtime, engine, pipeline, pipelines });
  } finally {
    await engine.close(0);
    await runtime.close();
  }
}
