import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JourneyKeys } from '../../../../worker/journey/journey-keys.ts';
import { type ListEntry, stateLists } from '../../../../worker/journey/state-lists.ts';
import { tagOf } from '../../../../worker/redis/keys.ts';
import { useRedis } from '../../../support/redis.ts';
import { testSeal } from '../../../support/seal.ts';
import { listOf } from '../../../support/state-lists.ts';

const redis = useRedis();
let sources = 0;

function fresh() {
  const { client } = redis.handle;
  const source = `lists-${++sources}`;
  const lists = stateLists(client, new JourneyKeys(source, testSeal));
  const keys = async () => await client.keys(`${tagOf(source)}*`);
  return { client, lists, keys, list: listOf(client, source, 'skipped'), name: `${tagOf(source)}:state:skipped` };
}

const byTime = (one: ListEntry, other: ListEntry) => one.at - other.at || (one.id < other.id ? -1 : 1);

/** Few instants, some of which have hundreds of entries; ids of which one begins as another. */
const entry = fc.record({ at: fc.oneof(fc.constant(7), fc.nat(9), fc.nat(5_000)), id: fc.nat(2_000) });
const batch = fc.record({ added: fc.array(entry, { minLength: 1, maxLength: 400 }), gone: fc.nat(100) });

test('lists agree with a plain list after any changes, page by page from anywhere, and nothing is left of an empty one', async () => {
  const where = fc.record({ at: fc.nat(5_000), id: fc.nat(2_000), size: fc.integer({ min: 1, max: 300 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 4 }), where, async (batches, { at, id, size }) => {
      const { lists, list, keys } = fresh();
      const model = new Map<string, ListEntry>();
      for (const { added, gone } of batches) {
        const rows = added.map((one) => ({ at: one.at, id: `r${one.id}.${one.at}` }));
        await list.add(rows.map((one) => [one.id, one.at]));
        for (const one of rows) model.set(one.id, one);
        const leave = [...model.values()].filter((_, i) => i % 100 < gone);
        await list.remove(leave.map((one) => [one.id, one.at]));
        for (const one of leave) model.delete(one.id);
      }
      const all = [...model.values()].sort(byTime);
      const place = { at, id: `r${id}.${at}` };
      const behind = all.filter((one) => byTime(place, one) < 0 && one.id !== place.id);
      expect(await lists.page('skipped', 'next', place, size)).toEqual(behind.slice(0, size));
      const before = all.filter((one) => byTime(one, place) < 0 && one.id !== place.id).toReversed();
      expect(await lists.page('skipped', 'previous', place, size)).toEqual(before.slice(0, size));
      const within = all.filter((one) => one.at >= 5 && one.at < at).length;
      expect(await lists.countIn('skipped', { from: new Date(5), until: new Date(at) })).toBe(within);
      expect((await lists.counts()).skipped).toBe(all.length);
      await list.remove(all.map((one) => [one.id, one.at]));
      expect(await keys()).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test('every piece is small enough for Redis to pack it, except for entries of one instant', async () => {
  const { client, list, name } = fresh();
  // What a Redis has that nobody has told otherwise.
  await client.config('SET', 'zset-max-ziplist-entries', '128');
  const inOrder = Array.from({ length: 3_000 }, (_, n) => [`r${n}.1`, n] as const);
  await list.add(inOrder);
  await list.add(inOrder.map(([id], n) => [`${id}9`, (n * 7_919) % 3_000] as const));
  await list.add(Array.from({ length: 500 }, (_, n) => [`together${n}.1`, 90_000] as const));
  for (const begin of await client.zrange(name, '0', '-1')) {
    const form = await client.object('ENCODING', `${name}:${begin}`);
    expect([begin, form]).toEqual([begin, begin === '90000' ? 'skiplist' : 'listpack']);
  }
});

// Their members read as numbers far from their scores: what comes behind a member is the same member again.
test.each([
  ['next', '10.1', 1_795_168_800_000, 0],
  ['previous', '9000000000000.1', 1_795_168_800_000, 1_795_168_900_000],
] as const)(
  'a list of another layout, whose entries are journeys, is refused by name when it is read on (%s)',
  async (which, id, score, at) => {
    const { client, lists, name } = fresh();
    await client.zadd(name, score, id);
    const read = lists.page('skipped', which, { id: '', at }, 10);
    await expect(read).rejects.toThrow(/is of another version of closeloop: run one version everywhere/);
    await expect(client.ping()).resolves.toBe('PONG');
  },
);
