import { expect, test } from 'vitest';
import type { SourceEvent } from '../../../../../core/connector/contract.ts';
import { CloseloopError } from '../../../../../core/errors.ts';
import { poll } from '../../../../../worker/pipeline/plan/poll.ts';
import { pollState } from '../../../../../worker/pipeline/plan/poll-state.ts';
import { startLoop, until } from '../../../../support/loop.ts';
import { useRedis } from '../../../../support/redis.ts';
import { ToyVendor } from '../../../../support/toy-connector.ts';

const redis = useRedis();
const minutesAgo = (n: number) => new Date(Date.now() - n * 60_000);

/** A vendor whose poll shows `changes` and then, with the cursor `end`, nothing. */
function polled(changes: { id: string; at: Date; kind?: 'closed' | 'changed' }[]) {
  const vendor = new ToyVendor();
  const asked: ({ cursor: string } | { since: Date })[] = [];
  vendor.pages = async (from) => {
    asked.push(from);
    const isEnd = 'cursor' in from && from.cursor === 'end';
    const events = isEnd
      ? []
      : changes.map(({ id, at, kind = 'closed' as const }) => ({
          kind,
          recordId: id,
          at,
          key: `poll:${id}:${at.toISOString()}`,
          what: 'toy poll',
        }));
    return { events, cursor: 'end', done: isEnd, reached: new Date() };
  };
  return { vendor, asked };
}

test('it finds a closing that no webhook reported, makes one journey of it, and counts it', async () => {
  const source = 'gap-1';
  const { vendor, asked } = polled([{ id: 'lost', at: minutesAgo(5) }]);
  vendor.close('lost', { state: { is: 'closed', closing: 'one', closedAt: minutesAgo(5) } });
  await redis.handle.client.hset(`{cl:${source}}:poll`, 'since', minutesAgo(60).getTime());
  const loop = await startLoop(redis, { source, vendor, general: 'poll: { every: 200ms }' });
  await loop.journey('lost.1', 'asked');
  expect((await loop.store.trace('lost.1'))[0]?.text).toMatch(/found by the poll/);
  await until(async () => (await pollState(redis.handle.client, source))?.doneAt);
  expect(await pollState(redis.handle.client, source)).toMatchObject({ missed: 1, cursor: 'end' });
  expect(asked.slice(0, 2)).toEqual([{ since: expect.any(Date) }, { cursor: 'end' }]);
  await until(() => asked.length > 3);
  expect(await loop.store.get('lost.2')).toBeUndefined();
  expect(loop.feedback.standin.requests()).toHaveLength(1);
  await loop.close();
});

test('it asks about nothing that closed before closeloop came', async () => {
  const source = 'gap-2';
  const { vendor } = polled([
    { id: 'old', at: minutesAgo(3) },
    { id: 'new', at: minutesAgo(3) },
  ]);
  const since = minutesAgo(30);
  vendor.close('old', { state: { is: 'closed', closing: 'one', closedAt: minutesAgo(31) } });
  vendor.close('new', { state: { is: 'closed', closing: 'one', closedAt: minutesAgo(29) } });
  await redis.handle.client.hset(`{cl:${source}}:poll`, 'since', since.getTime());
  const loop = await startLoop(redis, { source, vendor, general: 'poll: { every: 200ms }' });
  await loop.journey('new.1', 'asked');
  await until(async () => (await loop.app.engine.busy()) === 0);
  expect(await loop.store.get('old.1')).toBeUndefined();
  await loop.close();
});

test('it notes at the first start from when on closings count', async () => {
  const source = 'gap-3';
  const { vendor, asked } = polled([]);
  const before = Date.now();
  const loop = await startLoop(redis, { source, vendor, general: 'poll: { every: 200ms }' });
  const [from] = await until(() => asked.length > 0 && asked);
  expect(from && 'since' in from ? from.since.getTime() : 0).toBeGreaterThanOrEqual(before);
  await loop.close();
});

test('it counts nothing as missed that a webhook reported', async () => {
  const source = 'gap-4';
  const { vendor } = polled([{ id: 'known', at: minutesAgo(5) }]);
  const loop = await startLoop(redis, { source, vendor, general: 'poll: { every: 200ms }' });
  await loop.post(vendor.close('known').delivery);
  await loop.journey('known.1', 'asked');
  await until(async () => (await pollState(redis.handle.client, source))?.doneAt);
  await until(async () => (await loop.app.engine.busy()) === 0);
  expect(await pollState(redis.handle.client, source)).toMatchObject({ missed: 0 });
  await loop.close();
});

test('it asks nobody anew about a closing from so long ago that its journey may have been removed', async () => {
  const source = 'gap-6';
  const day = 24 * 60;
  const closings: [id: string, at: Date][] = [
    ['forgotten', minutesAgo(11 * day)],
    ['recent', minutesAgo(9 * day)],
  ];
  const { vendor } = polled(closings.map(([id, at]) => ({ id, at })));
  for (const [id, closedAt] of closings) vendor.close(id, { state: { is: 'closed', closing: 'one', closedAt } });
  await redis.handle.client.hset(`{cl:${source}}:poll`, 'since', minutesAgo(500 * day).getTime());
  const general = 'poll: { every: 200ms }\nretention: { journeys: 10d }\npolicy: { maxAge: false }';
  const loop = await startLoop(redis, { source, vendor, general });
  await loop.journey('recent.1', 'asked');
  await until(async () => (await loop.app.engine.busy()) === 0);
  expect(await loop.store.get('forgotten.1')).toBeUndefined();
  // Nor when a webhook tells of it: somebody touched the record.
  await loop.post(vendor.delivery([{ kind: 'closed', id: 'forgotten', at: new Date() }]));
  await until(async () => (await loop.app.engine.busy()) === 0);
  expect(await loop.store.get('forgotten.1')).toBeUndefined();
  await loop.close();
});

test('it goes on a day before the last good poll when the cursor is of no use any more', async () => {
  const source = 'gap-7';
  const vendor = new ToyVendor();
  const asked: ({ cursor: string } | { since: Date })[] = [];
  vendor.pages = async (from) => {
    asked.push(from);
    if ('cursor' in from && from.cursor === 'old') throw new CloseloopError('no such cursor', { kind: 'permanent' });
    return { events: [], cursor: 'new', done: true, reached: new Date() };
  };
  const doneAt = minutesAgo(60);
  await redis.handle.client.hset(`{cl:${source}}:poll`, {
    since: minutesAgo(9_999).getTime(),
    doneAt: doneAt.getTime(),
    cursor: 'old',
  });
  const loop = await startLoop(redis, { source, vendor, general: 'poll: { every: 100ms }' });
  await until(() => asked.length >= 3);
  expect(asked.slice(0, 3)).toEqual([
    { cursor: 'old' },
    { since: new Date(doneAt.getTime() - 86_400_000) },
    { cursor: 'new' },
  ]);
  await loop.close();
});

test('it tells somebody when no poll has got through for a day', async () => {
  const source = 'gap-8';
  const vendor = new ToyVendor();
  vendor.pages = async () => {
    throw new CloseloopError('wait 13 s', { kind: 'transient', throttled: true });
  };
  const loop = await startLoop(redis, { source, vendor, general: 'poll: { every: 1h }' });
  const { context, jobs, pauses } = loop.app.engine.pipelines.get(source) ?? expect.fail('no pipeline');
  const alerts: string[] = [];
  const told = { ...context, alert: async (_kind: string, why: string) => void alerts.push(why) };
  const options = {
    redis: redis.handle.client,
    pauses,
    jobs,
    everyMs: 0,
    headStartMs: 0,
  };
  await poll(told, options);
  expect(alerts).toEqual([]);
  await redis.handle.client.hset(`{cl:${source}}:poll`, 'since', minutesAgo(25 * 60).getTime());
  await poll(told, options);
  expect(alerts).toMatchObject([expect.stringMatching(/no poll has got through/)]);
  await loop.close();
});

test('it reads a page again whose cursor was not stored', async () => {
  const source = 'gap-5';
  const vendor = new ToyVendor();
  let calls = 0;
  vendor.pages = async (from) => {
    calls++;
    if (calls === 2) throw new Error('the connection broke');
    const second = 'cursor' in from && from.cursor === 'second';
    return { events: [], cursor: second ? 'third' : 'second', done: second, reached: new Date() };
  };
  const loop = await startLoop(redis, { source, vendor, general: 'poll: { every: 100ms }' });
  await until(async () => (await pollState(redis.handle.client, source))?.cursor === 'third');
  expect(calls).toBe(3);
  await loop.close();
});

test('it hands on what a page tells beside records: whom to forget, and grades that were given at the vendor', async () => {
  const source = 'gap-any';
  const vendor = new ToyVendor();
  vendor.close('theirs', { state: { is: 'closed', closing: 'one', closedAt: minutesAgo(5) } });
  await redis.handle.client.hset(`{cl:${source}}:poll`, 'since', minutesAgo(60).getTime());
  const happened = (key: string, at: Date) => ({ key, at, what: 'toy poll' });
  let events: SourceEvent[] = [{ kind: 'closed', recordId: 'theirs', ...happened('c', minutesAgo(5)) }];
  vendor.pages = async () => ({ events, cursor: 'end', done: true, reached: new Date() });
  const loop = await startLoop(redis, { source, vendor, general: 'poll: { every: 200ms }' });
  await loop.journey('theirs.1', 'asked');
  events = [
    { kind: 'erase', recordIds: ['theirs'], ...happened('e', new Date()) },
    // For no external campaign, as this one's rule asks by itself: it is left out with a reason, and nothing fails.
    { kind: 'external-grade', recordId: 'theirs', grade: 4, comment: null, ...happened('g', new Date()) },
    { kind: 'external-grade', recordId: 'of-before', grade: 4, comment: null, ...happened('old', minutesAgo(61)) },
  ];
  await until(async () => (await loop.store.get('theirs.1'))?.erasedAt);
  expect(await loop.store.get('of-before.1')).toBeUndefined();
  await loop.close();
});
