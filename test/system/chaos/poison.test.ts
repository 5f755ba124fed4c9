import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import { mayFollow } from '../../../worker/journey/transitions.ts';
import { until } from '../../support/loop.ts';
import { useRedis } from '../../support/redis.ts';
import { journeysIn } from './evidence.ts';
import { keepCloseloop } from './processes.ts';

const server = useRedis();

/** closeloop in a process that is started again whenever it ends, with a vendor whose records may be poison. */
async function startPoisoned(source: string) {
  const dir = mkdtempSync(join(tmpdir(), 'closeloop-poison-'));
  const feedback = await startFeedbackStandin({ seed: true });
  const redis = new Redis({ path: server.socket });
  // An installation of its own: with another service, and without a source that this one could be under a new name.
  await redis.flushall();
  const config = join(dir, 'closeloop.yaml');
  writeFileSync(
    config,
    `
feedback: { baseUrl: "${feedback.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
redis: { path: ${server.socket} }
http: { port: 0 }
sources:
  ${source}:
    connector: ${resolve(import.meta.dirname, 'poisoned-connector.ts')}
    rules: [{ name: all, campaign: 12, contact: email }]
`,
  );
  let url: string | undefined;
  const onUrl = (where: string | undefined) => {
    url = where;
  };
  const loop = keepCloseloop({ role: 'all', name: source, config, logs: dir, onUrl });
  onTestFinished(async () => {
    await loop.end();
    redis.disconnect();
    await feedback.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return {
    loop,
    standin: feedback.standin,
    deliver: async (ids: readonly string[]) => {
      const body = JSON.stringify(ids);
      const where = `${await until(() => url)}/hooks/${source}`;
      const answer = await fetch(where, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      expect(answer.status).toBe(202);
    },
    journeyOf: async (id: string) =>
      (await journeysIn(redis, 'demo-key')).find((journey) => journey.source === source && journey.recordId === id),
  };
}

test('a job that crashes its process again and again is set aside with a reason, and those beside it go on', async () => {
  const { loop, standin, deliver, journeyOf } = await startPoisoned('poisoned');
  const innocent = ['a', 'b', 'c', 'd', 'e'];
  await deliver([...innocent.slice(0, 3), 'poison', ...innocent.slice(3)]);
  const poison = await until(async () => {
    const journey = await journeyOf('poison');
    return journey?.state === 'failed' && journey;
  });
  expect(poison.why).toMatch(/crashed or froze 4 times/);
  // A person may take it up again.
  expect(mayFollow('failed', 'received')).toBe(true);
  await until(async () => (await Promise.all(innocent.map(journeyOf))).every((one) => one?.state === 'asked'));
  expect(
    standin
      .requests()
      .map(({ email }) => email)
      .sort(),
  ).toEqual(innocent.map((id) => `${id}@example.com`));
  // Together with those beside it, twice among others by itself, and twice as the only suspect.
  expect(loop.crashes).toHaveLength(5);
  await deliver(['afterwards']);
  await until(async () => (await journeyOf('afterwards'))?.state === 'asked');
  expect(loop.crashes).toHaveLength(5);
});

test('a record that always fails never holds up the others', async () => {
  const { loop, standin, deliver, journeyOf } = await startPoisoned('moody');
  await deliver(['moody']);
  const others = Array.from({ length: 20 }, (_, i) => `m${i}`);
  for (const id of others) await deliver([id, 'moody']);
  await until(async () => (await Promise.all(others.map(journeyOf))).every((one) => one?.state === 'asked'));
  expect(standin.requests()).toHaveLength(20);
  expect(await journeyOf('moody')).toBeUndefined();
  expect(loop.crashes).toHaveLength(0);
});
