import { expect, test } from 'vitest';
import { rateLimit } from '../../../../worker/redis/rate-limit.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
const began = 1_700_000_000_000;
const turn = (id: string, at: number, key = '{cl:shop}:backfill') =>
  rateLimit(redis.handle.client, key, id, { spacingMs: 1_000, now: began + at });

test('who comes together goes one after the other, each at the turn it was given, whoever comes first then', async () => {
  expect([await turn('a', 0), await turn('b', 0), await turn('c', 0)]).toEqual([0, 1_000, 2_000]);
  expect(await turn('c', 1_500)).toBe(500);
  expect([await turn('c', 2_100), await turn('b', 2_100)]).toEqual([0, 0]);
  // Both turns are used up: the next free one is a second after the last that was given.
  expect([await turn('d', 2_100), await turn('d', 3_000)]).toEqual([900, 0]);
});

test('who comes alone, and not too soon, never waits', async () => {
  const alone = '{cl:shop}:alone';
  for (const at of [0, 1_000, 2_500]) expect(await turn(`at ${at}`, at, alone)).toBe(0);
});
