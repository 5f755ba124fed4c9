import { expect, test } from 'vitest';
import { step } from '../../../../worker/journey/transitions.ts';
import { claimOf, useStores } from '../../../support/worker/journey/stores.ts';

const { redis, fresh } = useStores();

test('journeyIdsOf tells ours from others', async () => {
  const { store, now } = fresh();
  await store.getOrCreate(claimOf('r', 'c', 'e'), []);
  for (const [to, more] of [
    ['waiting', {}],
    ['creating', {}],
    ['asked', { requestId: '77' }],
  ] as const) {
    await store.update('r.1', (one) => ({ journey: step(one, to, now(), more), trace: [] }));
  }
  expect(await store.requests.journeyIdsOf(['1', '77', 'seventy-seven'])).toEqual([undefined, 'r.1', undefined]);
  expect(await store.requests.journeyIdsOf([])).toEqual([]);
  expect(await store.records.historyOf('r')).toEqual({
    latest: 'r.1',
    asked: 'r.1',
    askedClosedAt: expect.any(Date),
  });
});

test.each([
  ['r', 1, 'r'],
  ['100', 1, '100'],
  ['100', 2, '100.2'],
  ['a.b', 1, 'a.b.1'],
  ['a.1', 1, 'a.1.1'],
])('a request of record %s by its journey %d is noted as %j, and stays that journey’s', async (record, nth, entry) => {
  const { store, now } = fresh();
  for (let n = 1; n <= nth; n++) await store.getOrCreate(claimOf(record, `closing ${n}`, `event ${n}`), []);
  await store.getOrCreate(claimOf('other', 'c', 'e'), []);
  const take = async (id: string, requestId: string) =>
    await store.update(id, (one) => ({ journey: { ...one, requestId, updatedAt: now() }, trace: [] }));
  const owner = `${record}.${nth}`;
  await take(owner, '77');
  const { client } = redis.handle;
  const [bucket = ''] = await client.keys(`{cl:${store.source}}:requests:*`);
  expect(await client.hget(bucket, '77')).toBe(entry);
  // As it was noted formerly, too.
  for (const noted of [entry, owner]) {
    await client.hset(bucket, '77', noted);
    expect(await store.requests.journeyIdsOf(['77'])).toEqual([owner]);
    await take(owner, '78');
    expect(await take(owner, '77')).toMatchObject({ requestId: '77' });
    expect((await take('other.1', '77'))?.requestId).toBeUndefined();
  }
});
