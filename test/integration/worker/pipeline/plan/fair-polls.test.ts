import { expect, test } from 'vitest';
import { startFeedbackStandin } from '../../../../../standins/feedback/standin.ts';
import { run } from '../../../../../worker/cli/app.ts';
import { loadConfig } from '../../../../../worker/config/config.ts';
import { liveClock } from '../../../../../worker/pipeline/clock.ts';
import { memoryLog, until } from '../../../../support/loop.ts';
import { useRedis } from '../../../../support/redis.ts';
import { ToyVendor } from '../../../../support/toy-connector.ts';

const redis = useRedis();

test('it polls a source as often as configured while another one is stuck (audit 40)', async () => {
  const feedback = await startFeedbackStandin({ seed: true });
  const [free, stuck] = [new ToyVendor(), new ToyVendor()];
  const polls: number[] = [];
  let stuckPolls = 0;
  free.pages = async () => {
    polls.push(Date.now());
    return { events: [], cursor: 'end', done: true, reached: new Date() };
  };
  const { promise: never, resolve: release } = Promise.withResolvers<void>();
  stuck.pages = async () => {
    stuckPolls++;
    await never;
    return { events: [], cursor: 'end', done: true, reached: new Date() };
  };
  const text = `
feedback: { baseUrl: "${feedback.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
http: { port: 0 }
collect: { every: 1h }
poll: { every: 500ms }
sources:
  fair-stuck: { connector: stuck, secret: good, rules: [{ name: all, campaign: 12, contact: customer.email }] }
  fair-free: { connector: toy, secret: good, rules: [{ name: all, campaign: 12, contact: customer.email }] }`;
  const config = loadConfig(text, { env: {}, connectors: [{ ...stuck.connector, name: 'stuck' }, free.connector] });
  const { handle } = redis;
  const runtime = { config, handle, redis: handle.client, close: async () => undefined };
  const { log } = memoryLog();
  const app = await run(runtime, { role: 'all', clock: liveClock, log, batchWindowMs: 10 });
  await until(() => stuckPolls > 0 && polls.length > 4);
  const gaps = polls.slice(1).map((at, i) => at - (polls[i] ?? 0));
  // At the next look, not every other time. The shortest: a busy machine is late as well.
  expect(Math.min(...gaps)).toBeLessThan(850);
  expect(stuckPolls).toBe(1);
  release();
  await app.close();
  await feedback.close();
});
