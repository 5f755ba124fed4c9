import { beforeEach, describe, expect, test } from 'vitest';
import { DataKey, operatorKeys } from '../../../../worker/redis/data-key.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
beforeEach(async () => void (await redis.handle.client.flushall()));

const key = (n: number) => new Uint8Array(32).fill(n);
const open = async (...keys: Uint8Array[]) => (await DataKey.open(redis.handle.client, keys)).seal;

describe('the key of an installation', () => {
  test('it is one for all processes, whichever began first (audit 8)', async () => {
    const seals = await Promise.all(Array.from({ length: 20 }, () => open(key(1))));
    expect(new Set(seals.map((seal) => seal.digest('anna@example.com'))).size).toBe(1);
    expect((await open(key(1))).open(seals[0]?.seal('text') ?? '')).toBe('text');
  });

  test('it is made anew for another Redis, even with the same secretsKey (audit 8)', async () => {
    const one = (await open(key(1))).digest('anna@example.com');
    await redis.handle.client.flushall();
    expect((await open(key(1))).digest('anna@example.com')).not.toBe(one);
  });

  test('it is on a replica before it is used', async () => {
    const steps: string[] = [];
    await DataKey.open(redis.handle.client, [key(1)], async () => void steps.push('replicated'));
    await DataKey.open(redis.handle.client, [key(1)], async () => void steps.push('again'));
    expect(steps).toEqual(['replicated']);
  });

  test('it opens with no other secretsKey, and the error says what to give back (audit 8)', async () => {
    await open(key(1));
    await expect(open(key(2))).rejects.toMatchObject({
      advice: { kind: 'config' },
      message: expect.stringMatching(/sealed with another key.*secretsKey: \[new, earlier\].*feedback\.apiKey/),
    });
    await open(key(1));
  });

  test('it stays the same while secretsKey is changed: all that was sealed opens, and people are found (audit 8)', async () => {
    const before = await open(key(1));
    const sealed = before.seal('text');
    const both = await open(key(2), key(1));
    const after = await open(key(2));
    for (const seal of [both, after]) {
      expect(seal.open(sealed)).toBe('text');
      expect(seal.digest('anna@example.com')).toBe(before.digest('anna@example.com'));
    }
    await expect(open(key(1))).rejects.toMatchObject({ advice: { kind: 'config' } });
  });

  test('it is kept from whoever reads Redis alone', async () => {
    const seal = await open(key(1));
    const { client } = redis.handle;
    const stored = await Promise.all((await client.keys('*')).map((name) => client.get(name)));
    expect(stored).toHaveLength(1);
    expect(stored[0]).toMatch(/^1\./);
    expect(() => seal.open(stored[0] ?? '')).toThrow();
  });
});

describe('the key of an installation whose Redis is emptied while processes run', () => {
  const begin = (...keys: Uint8Array[]) => DataKey.open(redis.handle.client, keys);

  test('it is put back, and whoever starts later seals with it (audit twice)', async () => {
    const running = await begin(key(1));
    expect(await running.check()).toBe('same');
    await redis.handle.client.flushall();
    const sealed = running.seal.seal('text');
    expect(await running.check()).toBe('restored');
    const later = await open(key(1));
    expect([later.open(sealed), later.digest('anna')]).toEqual(['text', running.seal.digest('anna')]);
    expect(await running.check()).toBe('same');
  });

  test('that it is put back is told although no replica has it yet: nobody would hear of the emptied Redis', async () => {
    const behind = () => Promise.reject(new Error('No replica of Redis took a write'));
    const before = await begin(key(1));
    const running = await DataKey.open(redis.handle.client, [key(1)], behind);
    await redis.handle.client.flushall();
    expect(await running.check()).toBe('restored');
    expect([await running.check(), await before.check()]).toEqual(['same', 'same']);
  });

  test('one that began with another ends, and what it has stored opens everywhere (audit twice)', async () => {
    const before = await begin(key(1));
    await redis.handle.client.flushall();
    const sealed = before.seal.seal('text');
    const running = await begin(key(1));
    expect([await before.check(), await before.check()]).toEqual(['another', 'another']);
    expect(await running.check()).toBe('same');
    expect(running.seal.open(sealed)).toBe('text');
    const later = await open(key(2), key(1));
    expect([later.open(sealed), later.digest('anna')]).toEqual(['text', running.seal.digest('anna')]);
    expect((await open(key(2))).open(sealed)).toBe('text');
    expect(() => later.open(`${sealed}x`)).toThrow(/does not open/);
    // Emptied once more, both are put back.
    const both = await begin(key(2));
    await redis.handle.client.flushall();
    expect(await both.check()).toBe('restored');
    expect((await open(key(2))).open(sealed)).toBe('text');
  });

  test('one that runs goes on while secretsKey is changed by those that start later (audit twice)', async () => {
    const running = await begin(key(1));
    const later = await begin(key(2), key(1));
    expect([await running.check(), await later.check()]).toEqual(['same', 'same']);
    expect((await open(key(2))).open(running.seal.seal('text'))).toBe('text');
    await redis.handle.client.flushall();
    await begin(key(2));
    expect(await running.check()).toBe('another');
  });

  test("one that finds a key which another operator's has sealed ends, and changes nothing (audit twice)", async () => {
    const running = await begin(key(1));
    await redis.handle.client.flushall();
    await begin(key(9));
    expect(await running.check()).toBe('another');
    await open(key(9));
  });
});

describe("the operator's keys", () => {
  const feedback = { apiKey: 'demo-key' };

  test('a Redis elsewhere is sealed without secretsKey too, and goes on when it is set later (audit 8)', async () => {
    const sealed = (await open(...operatorKeys({ feedback }))).seal('text');
    const later = operatorKeys({ feedback, secretsKey: [key(1)] });
    expect((await open(...later)).open(sealed)).toBe('text');
    const withNewApiKey = operatorKeys({ feedback: { apiKey: 'another' }, secretsKey: [key(1)] });
    expect((await open(...withNewApiKey)).open(sealed)).toBe('text');
  });

  test("the embedded Redis' own key needs no API key, and secretsKey comes before it", async () => {
    expect(operatorKeys({ feedback }, key(3))).toEqual([key(3)]);
    expect(operatorKeys({ feedback, secretsKey: [key(1), key(2)] }, key(3))).toEqual([key(1), key(2), key(3)]);
  });
});
