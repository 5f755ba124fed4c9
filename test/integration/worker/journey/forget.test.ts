import { describe, expect, test } from 'vitest';
import { step } from '../../../../worker/journey/transitions.ts';
import { claimOf, useStores } from '../../../support/worker/journey/stores.ts';

const { redis, fresh, keys } = useStores();

describe('forget', () => {
  test('it leaves no key, and no value in any key, with the journey or its record', async () => {
    const { store, now } = fresh();
    const { journey } = await store.getOrCreate(claimOf('gone', 'c', 'e'), ['a line']);
    let last = journey;
    for (const to of ['waiting', 'creating', 'asked', 'expired'] as const) {
      const more = to === 'asked' ? { requestId: 'request-of-gone' } : {};
      const after = await store.update(journey.id, (one) => ({ journey: step(one, to, now(), more), trace: [to] }));
      last = after ?? expect.fail('no journey');
    }
    expect(await keys(`*${store.source}}*gone*`)).not.toEqual([]);
    await store.forget(last);
    expect(await store.get('gone.1')).toBeUndefined();
    // Empty hashes and sets are no keys: that nothing is left says all.
    expect(await keys(`*${store.source}}*`)).toEqual([]);
  });

  test('it keeps what the record remembers while a later journey lives', async () => {
    const { store, now } = fresh();
    const { journey } = await store.getOrCreate(claimOf('r', 'one', 'a'), []);
    await store.update(journey.id, (one) => ({ journey: step(one, 'waiting', now()), trace: [] }));
    const asking = await store.update(journey.id, (one) => ({ journey: step(one, 'creating', now()), trace: [] }));
    await store.getOrCreate(claimOf('r', 'two', 'b'), []);
    await store.forget(asking ?? expect.fail('no journey'));
    expect(await store.records.historyOf('r')).toEqual({ latest: 'r.2', asked: 'r.1' });
  });

  test.each(['first', 'last'])(
    'it leaves no key of merged records, the one that remains being forgotten %s',
    async (when) => {
      const { store } = fresh();
      const claim = async (id: string) => (await store.getOrCreate(claimOf(id, 'c', `e of ${id}`), [])).journey;
      const [a, c] = [await claim('a'), await claim('c')];
      // No journey was ever of b.
      await store.records.merge('a', 'b');
      await store.records.merge('b', 'c');
      for (const one of when === 'first' ? [c, a] : [a, c]) {
        expect(await keys(`*${store.source}}:records:*`)).not.toEqual([]);
        await store.forget(one);
      }
      expect(await keys(`*${store.source}}*`)).toEqual([]);
    },
  );

  test('it remembers merges of records that never had a journey for a while only', async () => {
    const { store } = fresh();
    await store.records.merge('x', 'y');
    expect(await store.records.remainingOf('w', 'x')).toBe('y');
    for (const key of await keys(`*${store.source}}*`)) expect(await redis.handle.client.pttl(key)).toBeGreaterThan(0);
    // One that gets a journey is remembered as long as that.
    await store.getOrCreate(claimOf('x', 'c', 'e'), []);
    expect(await redis.handle.client.pttl(`{cl:${store.source}}:merges:x`)).toBe(-1);
  });

  test('it leaves a journey alone that went on since it was read: a late answer is not lost', async () => {
    const { store, now } = fresh();
    const { journey } = await store.getOrCreate(claimOf('r', 'c', 'e'), []);
    await store.update(journey.id, (one) => ({ journey: step(one, 'waiting', now()), trace: [] }));
    await store.forget(journey);
    expect(await store.get('r.1')).toMatchObject({ state: 'waiting' });
    expect(await store.lists.idsIn('waiting')).toEqual(['r.1']);
  });

  test('it is not undone by a line that comes late', async () => {
    const { store } = fresh();
    const { journey } = await store.getOrCreate(claimOf('late', 'c', 'e'), []);
    await store.forget(journey);
    await store.note(journey.id, 'another webhook');
    expect(await keys(`*${store.source}}*`)).toEqual([]);
  });
});
