import { beforeEach, expect, test } from 'vitest';
import { messageOf } from '../../../../core/errors.ts';
import { erased } from '../../../../worker/journey/forget.ts';
import type { Journey } from '../../../../worker/journey/journey.ts';
import { JourneyKeys } from '../../../../worker/journey/journey-keys.ts';
import { knownData } from '../../../../worker/journey/migrations.ts';
import { type ListEntry, stateLists } from '../../../../worker/journey/state-lists.ts';
import type { JourneyStore } from '../../../../worker/journey/store.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import type { RedisClient } from '../../../../worker/redis/client.ts';
import { knownSourcesKey } from '../../../../worker/redis/keys.ts';
import { testSeal } from '../../../support/seal.ts';
import { claimOf, useStores } from '../../../support/worker/journey/stores.ts';

const { redis, fresh, keys } = useStores();
beforeEach(async () => void (await redis.handle.client.flushall()));

const { version, migrations } = knownData('0.1.0', async () => testSeal);
const migrationTo = (to: number) => migrations.get(to) ?? expect.fail('no migration');

test('every data version up to today’s has its migration', () => {
  const steps = Array.from({ length: version - 1 }, (_, index) => index + 2);
  expect([...migrations.keys()].sort()).toEqual(steps);
});

test.each([
  ['a list with its count beside it, as today', true],
  ['a list without a count, of an earlier layout', false],
])('data of version 1 with %s are taken up only where they are of the last layout', async (_, isToday) => {
  const { client } = redis.handle;
  await client.hset(knownSourcesKey, 'shop', '{}');
  await client.zadd('{cl:shop}:state:asked', 0, '0');
  if (isToday) await client.set('{cl:shop}:state:asked:count', 1);
  const taken = migrationTo(2)(client);
  if (isToday) await taken;
  else await expect(taken).rejects.toThrow(/source shop has lists of another layout/);
});

const answer = (n: number) => ({
  grade: 1 + (n % 5),
  comment: null,
  seenAt: new Date(Date.UTC(2026, 4, 4, n)),
  version: 1,
});

/** A source with so many journeys that were answered, and one of each kind that is in no list of answers. */
async function sourceWithAnswers(count: number): Promise<JourneyStore> {
  const { store, now } = fresh();
  await redis.handle.client.hset(knownSourcesKey, store.source, '{}');
  const make = async (record: string, ...steps: ((journey: Journey) => Journey)[]) => {
    const { journey } = await store.getOrCreate(claimOf(record, 'c', `e ${record}`), []);
    for (const change of steps) await store.update(journey.id, (one) => ({ journey: change(one), trace: [] }));
  };
  const on =
    (to: Journey['state'], more: Partial<Journey> = {}) =>
    (one: Journey) =>
      step(one, to, now(), more);
  const asked = (one: Journey) => (['waiting', 'creating', 'asked'] as const).reduce((j, to) => on(to)(j), one);
  const contact = { kind: 'email', value: 'us@example.com' } as const;
  const answered = (n: number, more: Partial<Journey> = {}) => on('answered', { answer: answer(n), ...more });
  for (let n = 0; n < count; n++)
    await make(`r${n}`, asked, answered(n), ...(n % 40 === 1 ? [] : [on(n % 40 === 0 ? 'parked' : 'written')]));
  await make('unanswered', asked);
  await make('skipped', on('skipped'));
  await make('tested', asked, answered(1, { test: { contact } }));
  await make('erased', asked, answered(1), (one) => erased(one, now()));
  return store;
}

const listsOf = ({ source }: JourneyStore) => stateLists(redis.handle.client, new JourneyKeys(source, testSeal));
const listed = async (store: JourneyStore): Promise<ListEntry[]> =>
  await listsOf(store).page('answers', 'next', { id: '', at: 0 }, 1_000);
const countIn = async (store: JourneyStore): Promise<number> =>
  await listsOf(store).countIn('answers', { from: new Date(0), until: new Date(8.64e15) });

/** The data as a closeloop without lists of answers stored them. */
async function withoutLists(): Promise<void> {
  await redis.handle.client.del(await keys('*:answers*'));
}

/** Migrates to data version 3 in a process that is killed before its next command after so many. @returns how many it gave */
async function migrate(most = Number.POSITIVE_INFINITY): Promise<{ commands: number; isKilled: boolean }> {
  let commands = 0;
  const client: RedisClient = new Proxy(redis.handle.client, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]): Promise<unknown> => {
        if (commands === most) throw new Error('killed');
        commands++;
        return await value.apply(target, args);
      };
    },
  });
  const result = migrationTo(3)(client).then(() => 'done', messageOf);
  expect(['done', 'killed']).toContain(await result);
  return { commands, isKilled: (await result) === 'killed' };
}

test('answers that were stored before there was a list of them are listed as the store lists them, wherever the migration is killed', async () => {
  const stores = [await sourceWithAnswers(210), await sourceWithAnswers(3)];
  const wanted = await Promise.all(stores.map(listed));
  expect(wanted.map(({ length }) => length)).toEqual([210, 3]);
  await migrate();
  const left: number[] = [];
  for (let most = 0, isKilled = true; isKilled; most++) {
    await withoutLists();
    ({ isKilled } = await migrate(most));
    left.push((await migrate()).commands);
    expect([most, await Promise.all(stores.map(listed))]).toEqual([most, wanted]);
    expect([most, await Promise.all(stores.map(countIn))]).toEqual([most, [210, 3]]);
  }
  const [all = 0, , , ...later] = left;
  expect(all).toBeGreaterThan(40);
  // It continues where it was: the nearer to its end it is killed, the less is left.
  expect(later.at(-2)).toBeLessThan(all / 2);
  expect(await keys('{cl}:listing*')).toEqual([]);
});

test('an answer that is listed already stays as it is', async () => {
  const store = await sourceWithAnswers(5);
  await withoutLists();
  const later = new Date(Date.UTC(2026, 5, 1));
  await store.update('r3.1', (one) => ({
    journey: { ...one, answer: { ...answer(3), seenAt: later, version: 2 } },
    trace: [],
  }));
  await migrationTo(3)(redis.handle.client);
  await migrationTo(3)(redis.handle.client);
  expect((await listed(store)).map(({ id }) => id)).toEqual(['r0.1', 'r1.1', 'r2.1', 'r4.1', 'r3.1']);
  expect(await countIn(store)).toBe(5);
  await store.update('r3.1', (one) => ({ journey: erased(one, later), trace: [] }));
  expect(await countIn(store)).toBe(4);
});
