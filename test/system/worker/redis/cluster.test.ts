import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBudget } from '../../../../worker/redis/budget.ts';
import { checkRedis } from '../../../../worker/redis/check-redis.ts';
import { runScript } from '../../../../worker/redis/client.ts';
import { connect, type RedisHandle } from '../../../../worker/redis/connection.ts';
import { findServerBinary } from '../../../../worker/redis/server-binary.ts';
import { useFolder } from '../../../support/folder.ts';
import { freePort } from '../../../support/free-port.ts';
import { serverCache } from '../../../support/redis-cache.ts';

const password = 'p@ss word';
const dir = useFolder();
let server: ChildProcess;
let handle: RedisHandle;

/** A cluster of one node that has all slots. */
beforeAll(async () => {
  const say = () => undefined;
  const binary = await findServerBinary({ cache: serverCache, path: process.env.PATH ?? '', say });
  const [port, busPort] = [await freePort(), await freePort()];
  const settings: [name: string, value: string][] = [
    ['port', String(port)],
    ['bind', '127.0.0.1'],
    ['cluster-enabled', 'yes'],
    ['cluster-port', String(busPort)],
    // A node that has met no other doesn't know its own address.
    ['cluster-announce-ip', '127.0.0.1'],
    ['requirepass', password],
    ['appendonly', 'yes'],
    ['appendfsync', 'always'],
    ['dir', dir],
  ];
  const args = settings.flatMap(([name, value]) => [`--${name}`, value]);
  server = spawn(binary.command, args, { stdio: 'ignore', env: { ...process.env, ...binary.env } });
  const admin = new Redis({ host: '127.0.0.1', port, password, enableReadyCheck: false, maxRetriesPerRequest: null });
  admin.on('error', say);
  await admin.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  while (!/cluster_state:ok/.test(String(await admin.call('CLUSTER', 'INFO')))) await sleep(20);
  admin.disconnect();
  handle = connect({ cluster: [`redis://:${encodeURIComponent(password)}@127.0.0.1:${port}`] }, say);
});
afterAll(async () => {
  await handle?.close();
  if (server?.exitCode === null) {
    server.kill('SIGKILL');
    await once(server, 'exit');
  }
});

test('a Redis Cluster with a password serves commands, queues and budgets', async () => {
  const { client } = handle;
  await client.set('{cl:a}:k', 'v');
  expect(await client.get('{cl:a}:k')).toBe('v');
  for (const connection of [handle.bull(), handle.bullIntake()]) {
    const queue = new Queue('plan', { connection, prefix: '{cl:a}' });
    queue.on('error', () => undefined);
    await queue.waitUntilReady();
    await queue.addBulk([{ name: 'plan', data: {}, opts: { jobId: 'once' } }]);
    expect(await queue.getWaitingCount()).toBe(1);
    await queue.close();
  }
  const keep = `redis.call('SET', KEYS[1], ARGV[1]) return KEYS[1]`;
  expect(await runScript(client, keep, ['{cl:b}:k'], Buffer.from([200]))).toBe('{cl:b}:k');
  expect(await client.getBuffer('{cl:b}:k')).toEqual(Buffer.from([200]));
  const budget = createBudget(client, { account: 'a' }, { sleep, now: () => new Date() });
  await budget.take('search');
  await budget.pause(60_000, 'search');
  await expect(budget.take('search')).rejects.toThrow(/used up/);
});

test('a Redis Cluster is checked as one server is', async () => {
  expect(await checkRedis(handle.client)).toEqual({ warnings: [] });
  await handle.client.call('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru');
  expect(await checkRedis(handle.client)).toEqual({ refuse: expect.stringMatching(/volatile-lru/), warnings: [] });
});
