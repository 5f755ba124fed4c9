import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createSeal, type Seal } from '../../../../worker/redis/seal.ts';
import { createVault } from '../../../../worker/redis/vault.ts';
import { useRedis } from '../../../support/redis.ts';
import { testSeal } from '../../../support/seal.ts';

const redis = useRedis();
let sources = 0;
const open = (tag: string, seal: Seal = testSeal) =>
  createVault(redis.handle.client, { tag, seal }, { sleep: (ms) => sleep(ms) });

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
    const end = sealed.endsWith('AA') ? 'QQ' : 'AA';
    await redis.handle.client.set(`${tag}:vault:three`, `${sealed.slice(0, -2)}${end}`);
    await redis.handle.client.set(`${tag}:vault:four`, 'nonsense');
    await expect(open(tag, createSeal(new Uint8Array(32))).get('one')).rejects.toMatchObject({
      advice: { kind: 'config' },
    });
    for (const name of ['two', 'three', 'four'])
      await expect(open(tag).get(name)).rejects.toThrow(/[Cc]onnect the account anew/);
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
