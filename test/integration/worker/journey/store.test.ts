import { describe, expect, test } from 'vitest';
import { ifStill, step } from '../../../../worker/journey/transitions.ts';
import { claimOf, useStores } from '../../../support/worker/journey/stores.ts';

const { redis, fresh, keys } = useStores();

describe('claim', () => {
  test('it makes one journey of 50 claims at once, of one closing by two events', async () => {
    const { store } = fresh();
    const claims = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        store.getOrCreate(claimOf('r', 'first', i % 2 ? 'webhook' : 'trigger'), ['here']),
      ),
    );
    expect(new Set(claims.map(({ journey }) => journey.id))).toEqual(new Set(['r.1']));
    expect(claims.filter(({ created }) => created)).toHaveLength(1);
    expect(await store.trace('r.1')).toMatchObject([{ text: 'here' }]);
    expect((await store.lists.counts()).received).toBe(1);
    for (const key of ['webhook', 'trigger'])
      expect((await (await store.records.read('r')).journeyOf(key, undefined))?.id).toBe('r.1');
  });

  test('it takes an event that is known for its first closing, whatever the record says now', async () => {
    const { store } = fresh();
    await store.getOrCreate(claimOf('r', 'first', 'a'), []);
    expect(await store.getOrCreate(claimOf('r', 'second', 'a'), [])).toMatchObject({
      created: false,
      journey: { id: 'r.1' },
    });
    expect(await store.getOrCreate(claimOf('r', 'second', 'b'), [])).toMatchObject({
      created: true,
      journey: { id: 'r.2' },
    });
    expect(await store.records.historyOf('r')).toEqual({ latest: 'r.2', asked: undefined });
  });

  test('it keeps records and sources apart', async () => {
    const [one, other] = [fresh().store, fresh().store];
    for (const [store, record] of [
      [one, 'a'],
      [one, 'b'],
      [other, 'a'],
    ] as const) {
      expect(await store.getOrCreate(claimOf(record, 'first', 'same'), [])).toMatchObject({
        created: true,
        journey: { id: `${record}.1`, source: store.source, state: 'received' },
      });
    }
    expect(await (await one.records.read('a')).journeyOf('never seen', undefined)).toBeUndefined();
  });

  test('it starts anew, without an error, when the journey of a late event has been removed', async () => {
    const { store } = fresh();
    const { journey } = await store.getOrCreate(claimOf('r', 'first', 'a'), []);
    await store.getOrCreate(claimOf('r', 'second', 'b'), []);
    await store.forget(journey);
    const again = await store.getOrCreate(claimOf('r', 'first', 'a'), []);
    expect(again.created).toBe(true);
  });
});

describe('update', () => {
  test('it loses no change of 40 at once', async () => {
    const { store, now } = fresh();
    await store.getOrCreate(claimOf('r', 'first', 'a'), []);
    const wait = async (n: number) =>
      await store.update('r.1', (journey) => ({
        journey: step(journey, 'waiting', now(), { values: { ...journey.values, [`n${n}`]: n } }),
        trace: [`n${n}`],
      }));
    await Promise.all(Array.from({ length: 40 }, (_, n) => wait(n)));
    const names = Array.from({ length: 40 }, (_, n) => `n${n}`).sort();
    expect(Object.keys((await store.get('r.1'))?.values ?? {}).sort()).toEqual(names);
    expect((await store.trace('r.1')).map(({ text }) => text).sort()).toEqual(names);
    expect(await store.lists.counts()).toMatchObject({ received: 0, waiting: 1 });
  });

  test('it lets one of many win a step that only one may make', async () => {
    const { store, now } = fresh();
    await store.getOrCreate(claimOf('r', 'first', 'a'), []);
    await store.update('r.1', (journey) => ({ journey: step(journey, 'waiting', now()), trace: [] }));
    const attempts = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        store.update('r.1', (journey) =>
          journey.state === 'waiting'
            ? { journey: step(journey, 'creating', now(), { rule: `worker ${i}` }), trace: ['creating'] }
            : undefined,
        ),
      ),
    );
    expect(new Set(attempts.map((journey) => journey?.rule)).size).toBe(1);
    expect(await store.trace('r.1')).toHaveLength(1);
  });

  test('it leaves alone what is declined, and knows no journey that is not there', async () => {
    const { store } = fresh();
    await store.getOrCreate(claimOf('r', 'first', 'a'), []);
    expect(await store.update('r.1', () => undefined)).toMatchObject({ id: 'r.1', state: 'received' });
    expect(await store.update('r.9', () => expect.fail('shown a journey'))).toBeUndefined();
  });
});

describe('what somebody may send again and again', () => {
  test('does not make a trace, or what is remembered of a record, ever longer (audit loop)', async () => {
    const { store } = fresh();
    await store.getOrCreate(claimOf('r', 'first', 'event 0'), ['begun']);
    for (let i = 1; i <= 1_200; i++) {
      await store.getOrCreate(claimOf('r', 'first', `event ${i}`), []);
      await store.note('r.1', `another webhook for the same closing: ${i}`);
    }
    expect((await store.trace('r.1')).length).toBe(1_000);
    const [records = ''] = await keys(`{cl:${store.source}}:records:*`);
    expect(await redis.handle.client.hstrlen(records, 'r')).toBeLessThanOrEqual(12_100);
    // One that is not remembered is counted to its closing all the same.
    expect(await store.getOrCreate(claimOf('r', 'first', 'event 1200'), [])).toMatchObject({ created: false });
  });
});

describe('a journey that was read or changed before', () => {
  const cancelled = (now: () => Date, why: string) =>
    ifStill('received', { to: 'cancelled', at: now(), why, trace: [why] });

  test('it is changed without being read again, as often as nobody else changes it', async () => {
    const { store, now } = fresh();
    const { journey } = await store.getOrCreate(claimOf('r', 'first', 'a'), []);
    expect(journey).toEqual(await store.get('r.1'));
    await redis.handle.client.config('RESETSTAT');
    const waiting = await store.update(
      journey,
      ifStill('received', { to: 'waiting', at: now(), change: { rule: 'x' } }),
    );
    await store.update(waiting ?? journey, ifStill('waiting', { to: 'skipped', at: now(), why: 'no' }));
    // The change itself compares what is stored.
    const stats = await redis.handle.client.info('commandstats');
    expect(stats).not.toContain('cmdstat_get:');
    expect(stats).toContain('cmdstat_getrange:calls=2,');
    expect(await store.get('r.1')).toMatchObject({ state: 'skipped', rule: 'x', why: 'no' });
  });

  test('it is read again when somebody else has changed it, and is decided on as it is now', async () => {
    const { store, now } = fresh();
    const { journey } = await store.getOrCreate(claimOf('r', 'first', 'a'), []);
    await store.update('r.1', cancelled(now, 'first'));
    expect(await store.update(journey, cancelled(now, 'second'))).toMatchObject({ state: 'cancelled', why: 'first' });
    expect(await store.trace('r.1')).toMatchObject([{ text: 'first' }]);
    await store.forget((await store.get('r.1')) ?? journey);
    expect(await store.update(journey, cancelled(now, 'third'))).toBeUndefined();
  });
});
