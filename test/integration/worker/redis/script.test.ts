import { expect, test } from 'vitest';
import { runScript } from '../../../../worker/redis/script.ts';
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
