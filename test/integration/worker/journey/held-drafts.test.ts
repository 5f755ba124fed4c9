import { expect, test } from 'vitest';
import type { Journey } from '../../../../worker/journey/journey.ts';
import { JourneyStore } from '../../../../worker/journey/store.ts';
import { ifStill } from '../../../../worker/journey/transitions.ts';
import { useRedis } from '../../../support/redis.ts';
import { testSeal } from '../../../support/seal.ts';

const redis = useRedis();
let sources = 0;
const at = new Date('2026-05-04T08:00:00Z');
const closing = { recordId: 'r', closing: 'one', closedAt: at, eventKey: 'event', receivedAt: at };
const contact = { kind: 'email', value: 'held@example.com' } as const;
const waits = ifStill('received', { to: 'waiting', at, change: { contact, dueAt: at }, trace: ['waits'] });
const creates = ifStill('waiting', { to: 'creating', at, trace: ['creates'] });

function fresh() {
  const steps: string[] = [];
  const store = new JourneyStore(redis.handle.client, `held-${++sources}`, {
    now: () => at,
    seal: testSeal,
    onStep: (before, after) => steps.push(`${before.state} → ${after.state}`),
  });
  return { store, steps };
}

async function held(store: JourneyStore): Promise<Journey> {
  const { seen } = await store.records.read('r');
  return store.drafts.hold(store.drafts.make('r.1', closing, ['received'], seen), waits) ?? expect.fail('not held');
}

test('a step that is taken in memory is stored with the next, and each is told', async () => {
  const { store, steps } = fresh();
  const journey = await held(store);
  expect([store.drafts.has(journey), await store.get('r.1'), steps]).toEqual([true, undefined, []]);
  const after = await store.update(journey, creates);
  expect(await store.get('r.1')).toEqual(after);
  expect([after?.state, store.drafts.has(journey)]).toEqual(['creating', false]);
  expect((await store.trace('r.1')).map(({ text }) => text)).toEqual(['received', 'waits', 'creates']);
  expect(steps).toEqual(['received → waiting', 'waiting → creating']);
  // As after a step from a stored journey: its record was asked about.
  expect((await store.records.historyOf('r')).asked).toBe('r.1');
  expect(await store.lists.counts()).toMatchObject({ received: 0, waiting: 0, creating: 1 });
});

test('it is kept as it is where nothing more happens to it', async () => {
  const { store, steps } = fresh();
  const journey = await held(store);
  expect(await store.keep(journey, [])).toBe(true);
  expect(await store.get('r.1')).toEqual(journey);
  expect(steps).toEqual(['received → waiting']);
  expect((await store.records.historyOf('r')).asked).toBeUndefined();
});

test('only a draft that knows what was remembered of its record takes steps in memory', async () => {
  const { store } = fresh();
  expect(store.drafts.hold(store.drafts.make('r.1', closing, []), waits)).toBeUndefined();
  const { journey } = await store.getOrCreate(closing, []);
  expect(store.drafts.hold(journey, waits)).toBeUndefined();
});

test.each<[what: string, happens: (store: JourneyStore) => Promise<unknown>]>([
  ['the record was found changed', (store) => store.records.noteChanged('r')],
  ['another record was merged into it', mergedInto],
  ['another event made the closing’s journey', (store) => store.getOrCreate({ ...closing, eventKey: 'other' }, [])],
])('it is not stored any more where %s', async (_, happens) => {
  const { store } = fresh();
  const journey = await held(store);
  await happens(store);
  expect(await store.update(journey, creates)).toBeUndefined();
  expect(await store.keep(journey, [])).toBe(false);
  expect((await store.lists.counts()).creating).toBe(0);
});

async function mergedInto(store: JourneyStore): Promise<void> {
  await store.getOrCreate({ ...closing, recordId: 'gone', eventKey: 'of gone' }, []);
  await store.records.merge('gone', 'r');
}

test('a change of a record without journeys is remembered for an hour, and does not shorten how long a merge is remembered', async () => {
  const { store } = fresh();
  const { client } = redis.handle;
  const key = `{cl:${store.source}}:merges:r`;
  const [hour, day] = [3_600_000, 86_400_000];
  await store.records.noteChanged('r');
  expect(await client.pttl(key)).toBeGreaterThan(hour / 2);
  expect(await client.pttl(key)).toBeLessThanOrEqual(hour);
  await store.records.merge('r', 'other');
  const merged = await client.pttl(key);
  await store.records.noteChanged('r');
  expect(merged).toBeGreaterThan(20 * day);
  expect(await client.pttl(key)).toBeGreaterThan(20 * day);
});

test('the merge of a record with journeys is remembered as long as they are, though a change was noted before', async () => {
  const { store } = fresh();
  await store.getOrCreate(closing, []);
  await store.records.noteChanged('r');
  await store.records.merge('r', 'other');
  expect(await redis.handle.client.pttl(`{cl:${store.source}}:merges:r`)).toBe(-1);
});

test('a change of a record that another was merged into is remembered as long as that', async () => {
  const { store } = fresh();
  await store.getOrCreate(closing, []);
  await store.records.merge('gone', 'r');
  await store.records.noteChanged('r');
  const { journey } = await store.getOrCreate({ ...closing, closing: 'two', eventKey: 'two' }, []);
  await store.records.noteChanged('r');
  expect(await redis.handle.client.pttl(`{cl:${store.source}}:merges:r`)).toBe(-1);
  expect(journey.id).toBe('r.2');
});
