import { expect, test } from 'vitest';
import { z } from 'zod';
import { lastChanged } from '../../../../worker/cli/journeys.ts';
import type { Journey } from '../../../../worker/journey/journey.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import type { JourneyFilter } from '../../../../worker/support/journey-filter.ts';
import { useManual } from '../../../support/manual.ts';
import { listOf } from '../../../support/state-lists.ts';

const { redis, unitContext } = useManual();
const at = (day: number): Date => new Date(Date.UTC(2026, 4, day));

/** Stores journeys, and lists some of them. */
function journeys() {
  const { context } = unitContext();
  const { store } = context;
  return {
    store,
    add: async (recordId: string, to: Journey['state'], changedAt: Date, change: Partial<Journey>) => {
      const closing = { recordId, closing: 'c', closedAt: changedAt, eventKey: recordId, receivedAt: changedAt };
      const { journey } = await store.getOrCreate(closing, []);
      await store.update(journey, (now) => ({ journey: step(now, to, changedAt, change), trace: [] }));
    },
    list: async (filter: JourneyFilter, limit = 2) => {
      const { found, readBackTo } = await lastChanged([context], filter, limit);
      return { ids: found.map(({ journey }) => journey.recordId), readBackTo };
    },
  };
}

test('those that wait for long do not hide what changed since', async () => {
  const { add, list } = journeys();
  for (const record of ['x', 'y', 'z']) await add(record, 'waiting', at(1), { dueAt: at(30) });
  await add('a', 'skipped', at(2), {});
  await add('b', 'failed', at(3), {});
  expect(await list({})).toEqual({ ids: ['b', 'a'], readBackTo: undefined });
  expect(await list({ since: '2026-05-03' })).toEqual({ ids: ['b'], readBackTo: undefined });
  expect(await list({ until: '2026-05-03' })).toEqual({ ids: ['a'], readBackTo: undefined });
  expect(await list({ until: '2026-05-31' })).toEqual({ ids: ['b', 'a'], readBackTo: undefined });
});

test('a reason that few have is looked for among the last ones, and further back from where that ended', async () => {
  const { add, list, store } = journeys();
  await add('old', 'skipped', at(1), { why: 'something rare' });
  const many = Array.from({ length: 50_000 }, (_, n) => [`gone${n}.1`, at(9).getTime() + n] as const);
  await listOf(redis.handle.client, store.source, 'skipped').add(many);
  await redis.handle.client.config('RESETSTAT');
  const first = await list({ error: 'rare' });
  expect(first).toEqual({ ids: [], readBackTo: new Date(at(9).getTime() + 50_000) });
  // None of the many is there: each one that was looked at is a miss.
  const stats = z.string().parse(await redis.handle.client.info('stats'));
  const looks = Number(/keyspace_misses:(\d+)/.exec(stats)?.[1]);
  expect(looks).toBeGreaterThan(100);
  expect(looks).toBeLessThan(600);
  expect(await list({ error: 'rare', until: at(9).toISOString() })).toEqual({ ids: ['old'], readBackTo: undefined });
});
