import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createVault } from '../../../worker/redis/vault.ts';
import { useRedis } from '../../redis.ts';

const redis = useRedis();
const key = randomBytes(32);
let sources = 0;
const open = (tag: string, own: Uint8Array | undefined = key) =>
  createVault(redis.handle.client, { tag, key: own }, { sleep: (ms) => sleep(ms) });

describe('the vault', () => {
  test('it gives every process what one has stored, and nobody reads it in Redis', async () => {
    const tag = `{cl:v${++sources}}`;
    await open(tag).set('refresh', 'tëxt-of-any-length'.repeat(60));
    expect(await open(tag).get('refresh')).toBe('tëxt-of-any-length'.repeat(60));
    expect(await open(tag).get('other')).toBeUndefined();
    expect(await redis.handle.client.get(`${tag}:vault:refresh`)).not.toContain('text');
  });

  test('it does not open with another key, under another name or changed, and says what to do', async () => {
    const tag = `{cl:v${++sources}}`;
    await open(tag).set('one', 'secret');
    const sealed = (await redis.handle.client.get(`${tag}:vault:one`)) ?? '';
    await redis.handle.client.set(`${tag}:vault:two`, sealed);
    await redis.handle.client.set(`${tag}:vault:three`, `${sealed.slice(0, -2)}AA`);
    await redis.handle.client.set(`${tag}:vault:four`, 'nonsense');
    await expect(open(tag, randomBytes(32)).get('one')).rejects.toMatchObject({ advice: { kind: 'config' } });
    for (const name of ['two', 'three', 'four']) await expect(open(tag).get(name)).rejects.toThrow(/secretsKey/);
  });

  test('it stores nothing without a key, and names the setting', async () => {
    const keyless = createVault(redis.handle.client, { tag: `{cl:v${++sources}}`, key: undefined }, { sleep });
    await expect(keyless.set('one', 'x')).rejects.toThrow(/secretsKey/);
    expect(await keyless.get('one')).toBeUndefined();
  });

  test('it lets one at a time work under a name', async () => {
    const tag = `{cl:v${++sources}}`;
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await sleep(20);
      inside--;
    };
    await Promise.all([1, 2, 3].map(() => open(tag).locked('refresh', work)));
    expect(most).toBe(1);
  });
});
