import { expect, test } from 'vitest';
import { Heartbeat, runningProcesses } from '../../../../worker/operations/processes.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
const key = '{cl}:processes';
const about = { role: 'worker', version: '1.0.0', configuration: 'abc', dryRun: false };

test('it shows every process that tells of itself, as it is now, until it ends', async () => {
  const { client } = redis.handle;
  let configuration = 'abc';
  const one = new Heartbeat(client, () => ({ ...about, configuration }));
  const other = new Heartbeat(client, () => ({ ...about, role: 'intake' }));
  for (const heartbeat of [one, other, one]) await heartbeat.report();
  expect((await runningProcesses(client)).map(({ role }) => role).sort()).toEqual(['intake', 'worker']);
  await other.end();
  configuration = 'def';
  await one.report();
  expect(await runningProcesses(client)).toEqual([
    {
      ...about,
      configuration,
      host: expect.any(String),
      pid: process.pid,
      startedAt: expect.any(Date),
      heartbeatAt: expect.any(Date),
    },
  ]);
  await one.end();
});

test('it forgets a process that ended without a goodbye: with the heartbeat of another, or by itself', async () => {
  const { client } = redis.handle;
  await new Heartbeat(client, () => about).report();
  const [[id = '', text = ''] = []] = Object.entries(await client.hgetall(key));
  expect(await client.pttl(key)).toBeGreaterThan(0);
  await client.hset(
    key,
    id,
    text.replace(/^\d+/, (ms) => String(Number(ms) - 11_000)),
  );
  expect(await runningProcesses(client)).toEqual([]);
  const other = new Heartbeat(client, () => about);
  await other.report();
  expect(Object.keys(await client.hgetall(key))).toHaveLength(1);
  expect(await client.hexists(key, id)).toBe(0);
});
