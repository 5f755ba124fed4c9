import { expect } from 'vitest';
import { connectors } from '../../connectors/index.ts';
import { startFeedbackStandin } from '../../standins/feedback/standin.ts';
import { run } from '../../worker/cli/app.ts';
import { loadConfig } from '../../worker/config/config.ts';
import { liveClock } from '../../worker/pipeline/clock.ts';
import { memoryLog, until } from './loop.ts';
import type { useRedis } from './redis.ts';

interface Thousand {
  /** As output names it. */
  vendor: string;
  /** Its section of the configuration, without a name. */
  settings: string;
  closings: number;
  /** How many of the requests are answered. Default: all. */
  answered?: number;
  /** Closes all records, which the vendor tells the hook. */
  close: (hook: string) => Promise<unknown>;
  standin: { idle(): Promise<unknown>; totalCalls(): number; callCounts(): object };
}

/**
 * The loop in this process on one source, until every answer is written. Fails for errors in its log.
 * @returns the calls that the vendor has seen, and how many requests were made
 */
export async function countCalls(redis: ReturnType<typeof useRedis>, thousand: Thousand) {
  const { vendor, settings, closings, answered = closings, standin } = thousand;
  const service = await startFeedbackStandin({ seed: true });
  const source = `${vendor.toLowerCase()}-thousand`;
  const text = `
feedback: { baseUrl: "${service.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
policy: { sms: { from: "00:00", until: "24:00" } }
http: { port: 0 }
collect: { every: 1h }
poll: { every: 1h }
sources:
  ${source}:
${settings}
`;
  const { log, told } = memoryLog();
  const { handle } = redis;
  const config = loadConfig(text, { env: {}, connectors });
  const runtime = { config, handle, redis: handle.client, close: async () => undefined };
  const app = await run(runtime, { role: 'all', clock: liveClock, log });
  const { lists } = app.engine.pipelines.get(source)?.context.store ?? expect.fail('no pipeline');
  await thousand.close(`${app.url}/hooks/${source}`);
  await until(async () => (await lists.counts()).asked === closings);
  const requests = service.standin.requests();
  for (const { id } of requests.slice(0, answered)) service.standin.answer({ request: id, grade: 4 });
  await app.engine.collecting.now();
  await until(async () => (await lists.counts()).written === answered);
  await standin.idle();
  const calls = standin.totalCalls();
  process.stdout.write(`${vendor}, ${closings} closings: ${calls} calls ${JSON.stringify(standin.callCounts())}\n`);
  // On a starved machine Redis may answer late: the vendor is told to come again, and does.
  const errors = told.filter(({ level, message }) => level === 'error' && !message.startsWith('delivery not stored'));
  expect(errors).toEqual([]);
  // Its own writes have told the loop of nothing new.
  expect((await lists.counts()).written).toBe(answered);
  await app.close();
  await service.close();
  return { calls, requests: requests.length };
}
