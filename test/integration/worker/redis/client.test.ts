import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { runScript } from '../../../../worker/redis/client.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
const add = `return redis.call('INCRBY', KEYS[1], ARGV[1])`;
const sent = async (): Promise<string> => {
  const info = await redis.handle.client.info('commandstats');
  const calls = (command: string) => /calls=(\d+)/.exec(info.split(`cmdstat_${command}:`)[1] ?? '')?.[1] ?? '0';
  return `${calls('eval')} by text, ${calls('evalsha')} by digest`;
};

test('a script is sent as text once, and again to a server that has forgotten it, and runs once each time', async () => {
  const { client } = redis.handle;
  await client.config('RESETSTAT');
  for (const expected of [2, 4, 6]) expect(await runScript(client, add, ['{cl:script}:n'], 2)).toBe(expected);
  expect(await sent()).toBe('1 by text, 3 by digest');
  await client.script('FLUSH');
  expect(await runScript(client, add, ['{cl:script}:n'], 2)).toBe(8);
  expect(await sent()).toBe('2 by text, 4 by digest');
});

test("a script's own error is not taken for a server that does not know it", async () => {
  const fails = `return redis.error_reply('GATED not now')`;
  for (let i = 0; i < 2; i++)
    await expect(runScript(redis.handle.client, fails, ['{cl:script}:n'])).rejects.toThrow('GATED');
});

const keep = `redis.call('RPUSH', KEYS[1], unpack(ARGV)) return #ARGV`;

test.each<[string, ...(string | number | Buffer)[]]>([
  ['texts', 'a', '', 'Võru 🌲', 'two\r\nlines'],
  ['numbers', 0, -1, 1_790_000_000_000, 0.5],
  ['bytes', Buffer.from([0, 13, 10, 36, 255]), Buffer.alloc(0), Buffer.alloc(70_000, 200)],
  ['texts among bytes', 'ö', Buffer.from([200]), 7, Buffer.from([201]), '🌲'],
])('a script gets %s as they are', async (what, ...args) => {
  const { client } = redis.handle;
  const key = `{cl:script}:${what}`;
  for (let i = 1; i <= 2; i++) {
    expect(await runScript(client, keep, [key], ...args)).toBe(args.length);
    const bytes = args.map((one) => (Buffer.isBuffer(one) ? one : Buffer.from(String(one))));
    expect(await client.lrangeBuffer(key, -args.length, -1)).toEqual(bytes);
  }
});

test('a call that meets a server which has become a replica is sent again, as it was', async () => {
  const { client } = redis.handle;
  const key = '{cl:script}:replica';
  await runScript(client, keep, [key], 'known');
  const operator = new Redis(redis.socket);
  await operator.call('REPLICAOF', '127.0.0.1', '1');
  const again = new Promise((resolve) => client.once('close', resolve));
  const kept = runScript(client, keep, [key], Buffer.from([200]), 'a');
  await again;
  await operator.call('REPLICAOF', 'NO', 'ONE');
  operator.disconnect();
  expect(await kept).toBe(2);
  expect(await client.lrangeBuffer(key, 1, -1)).toEqual([Buffer.from([200]), Buffer.from('a')]);
});
