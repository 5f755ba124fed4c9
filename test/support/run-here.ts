import { connectors as ours } from '../../connectors/index.ts';
import type { Connector } from '../../core/connector/contract.ts';
import { run } from '../../worker/cli/app.ts';
import { loadConfig } from '../../worker/config/config.ts';
import { liveClock } from '../../worker/pipeline/clock.ts';
import { memoryLog } from './loop.ts';
import type { TestRedis } from './redis.ts';

type Options = Partial<Parameters<typeof run>[1]> & { connectors?: readonly Connector[] };

/** closeloop in this process, as the text of its configuration says, on the Redis of a test. Who calls it closes the `app`. */
export async function runHere({ handle }: TestRedis, text: string, { connectors = ours, ...options }: Options = {}) {
  const { log, told } = memoryLog();
  const config = loadConfig(text, { env: {}, connectors });
  const runtime = { config, handle, redis: handle.client, close: async () => undefined };
  const app = await run(runtime, { role: 'all', clock: liveClock, log, ...options });
  const contextOf = (source: string) => {
    const pipeline = app.engine.pipelines.get(source);
    if (pipeline === undefined) throw new Error(`there is no source ${source}`);
    return pipeline.context;
  };
  return { app, told, contextOf };
}
