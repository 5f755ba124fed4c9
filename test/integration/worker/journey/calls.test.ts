import { expect, test } from 'vitest';
import { callNotes, notingCalls } from '../../../../core/connector/calls.ts';
import { keepCalls, WorkCalls } from '../../../../worker/journey/calls.ts';
import { erased } from '../../../../worker/journey/forget.ts';
import type { JourneyStore } from '../../../../worker/journey/store.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { claimOf, useStores } from '../../../support/worker/journey/stores.ts';

const { fresh, redis } = useStores();

const call = (operation: string, end = 200) =>
  callNotes()?.note({ to: 'Toy', operation, end, begunAt: performance.now(), ms: 7, tries: 1 });

async function storedOf(store: JourneyStore, id = 'r.1') {
  const journey = (await store.get(id)) ?? expect.fail(`no journey ${id}`);
  return (await store.queries.callsOf(journey)).map(({ operation, end, tries }) => `${operation} ${end} ${tries}`);
}

/** A journey that waits, and the calls of its work. */
async function waiting() {
  const { store, now } = fresh();
  await notingCalls(new WorkCalls(now), async () => {
    call('read');
    const { journey } = await store.getOrCreate(claimOf('r', 'first', 'e'), []);
    call('ask');
    await store.update(journey, (one) => ({ journey: step(one, 'waiting', now()), trace: ['waits'] }));
  });
  return { store, now, work: <T>(of: () => Promise<T>) => notingCalls(new WorkCalls(now), of) };
}

test('calls are stored with the next change of their journey, once', async () => {
  const { store, now } = await waiting();
  expect(await storedOf(store)).toEqual(['read 200 1', 'ask 200 1']);
  await store.note('r.1', 'of work whose calls nobody notes');
  const journey = (await store.get('r.1')) ?? expect.fail('no journey');
  const at = (await store.queries.callsOf(journey)).map((one) => one.at.getTime());
  expect(at.every((ms) => ms >= Date.parse('2026-05-04T09:00:00Z') && ms < now().getTime())).toBe(true);
  expect(await storedOf(store)).toEqual(['read 200 1', 'ask 200 1']);
});

test('a change that another worker overtakes stores its calls once, too', async () => {
  const { store, work } = await waiting();
  await work(async () => {
    const journey = (await store.get('r.1')) ?? expect.fail('no journey');
    call('write');
    await store.note('r.1', 'meanwhile');
    call('verify');
    await store.update(journey, (one) => ({ journey: one, trace: ['written'] }));
  });
  expect(await storedOf(store)).toEqual(['read 200 1', 'ask 200 1', 'write 200 1', 'verify 200 1']);
});

test('calls of work that changed no journey are stored alone, and further tries with them', async () => {
  const { store, work } = await waiting();
  const trace = await store.trace('r.1');
  for (const end of [503, 503, 200])
    await work(async () => {
      call('write', end);
      await keepCalls(store, 'r.1');
      await keepCalls(store, 'r.1');
      await keepCalls(store, 'gone.1');
    });
  expect(await storedOf(store)).toEqual(['read 200 1', 'ask 200 1', 'write 200 3']);
  expect(await store.trace('r.1')).toEqual(trace);
});

test('calls of work on one source are stored with no journey of the same id in another', () => {
  const calls = new WorkCalls(() => new Date());
  const journey = { id: '10.1', recordId: '10', source: 'a' };
  calls.newsOf(journey).stored();
  calls.note({ to: 'Toy', operation: 'mask', end: 200, begunAt: performance.now(), ms: 1, tries: 1 });
  expect([calls.behind('a'), calls.behind('b'), calls.behind('b', '11.1')]).toEqual(['10.1', undefined, '11.1']);
});

test('an erasure removes the calls, and none is stored afterwards', async () => {
  const { store, now, work } = await waiting();
  await work(async () => {
    call('mask');
    await store.update('r.1', (one) => ({ journey: erased(one, now()), trace: [] }));
    call('forget');
    await keepCalls(store, 'r.1');
  });
  expect(await storedOf(store)).toEqual([]);
});

test('a name that Redis has lost, and names without end, cost no journey', async () => {
  const { store, now, work } = await waiting();
  const key = `{cl:${store.source}}:call-names`;
  await work(async () => {
    for (let i = 0; i < 1_100; i += 10) {
      for (let j = 0; j < 10; j++) call(`find ${i + j}`);
      await store.note('r.1', 'searched');
    }
  });
  expect(await redis.handle.client.hlen(key)).toBeLessThan(1_050);
  await redis.handle.client.del(key);
  const journey = (await store.get('r.1')) ?? expect.fail('no journey');
  const [first] = await store.queries.callsOf(journey);
  expect(first).toMatchObject({ to: '?', end: 200, ms: 7, tries: 1 });
  expect(first?.at.getTime()).toBeLessThan(now().getTime());
});
