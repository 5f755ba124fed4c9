import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PollPage, Source } from '../../../../core/connector/contract.ts';
import { openShop, topics } from '../../../support/connectors/shopify/fixture.ts';
import { recordEvents } from '../../../support/contract/record-events.ts';

const day = 86_400_000;
const minute = 60_000;
const hook = 'https://closeloop.example/hooks/shop';

let shop: Awaited<ReturnType<typeof openShop>>;
let since: Date;
beforeEach(async () => {
  shop = await openShop({ trigger: 'fulfilled' });
  since = shop.clock.now;
});
afterEach(() => shop.close());

const poll = (from: { cursor: string } | { since: Date }, source: Source = shop.source): Promise<PollPage> =>
  source.poll?.(from) ?? expect.fail('no poll');
const short = ({ events }: PollPage) =>
  recordEvents(events).map((one) => `${one.kind} ${one.recordId}${one.closing === undefined ? '' : ` ${one.closing}`}`);

async function closed(): Promise<string> {
  const id = shop.order();
  await shop.standin.fulfil({ id });
  return id;
}

test('it finds closings in pages, oldest change first, and goes on where it was', async () => {
  shop.standin.changeSettings({ maximumAvailable: 100_000, restoreRate: 100_000 });
  const ids: string[] = [];
  for (let i = 0; i < 130; i++) {
    shop.later(1_000);
    ids.push(await closed());
  }
  const first = await poll({ since });
  expect(recordEvents(first.events).map(({ recordId }) => recordId)).toEqual(ids.slice(0, 105));
  expect(first).toMatchObject({ done: false });
  expect(first.reached).toEqual(new Date(since.getTime() + 105_000));
  // What changes while it looks moves to the end, and nothing is left out.
  await shop.standin.change({ id: ids[3] ?? '', tags: ['x'] });
  const second = await poll({ cursor: first.cursor });
  expect(recordEvents(second.events).map(({ recordId }) => recordId)).toEqual([
    ...ids.slice(105, 129),
    ids[3],
    ids[129],
  ]);
  expect(second).toMatchObject({ done: true, reached: shop.clock.now });
});

test('it looks again at the last 15 minutes, with the same keys', async () => {
  const id = await closed();
  const first = await poll({ since });
  shop.later(10 * minute);
  const second = await poll({ cursor: first.cursor });
  expect(second.events.map(({ key }) => key)).toEqual(first.events.map(({ key }) => key));
  expect(first.events[0]).toMatchObject({ kind: 'closed', recordId: id, at: since });
  shop.later(16 * minute);
  const third = await poll({ cursor: second.cursor });
  expect((await poll({ cursor: third.cursor })).events).toEqual([]);
});

test('it finds nothing old that somebody touches', async () => {
  const id = await closed();
  shop.later(20 * day);
  const { cursor } = await poll({ since: shop.clock.now });
  await shop.standin.change({ id, tags: ['touched'] });
  expect((await poll({ cursor })).events).toEqual([]);
  // Not long after the start either, when the start itself is far.
  let at = cursor;
  for (let i = 0; i < 3; i++) {
    shop.later(10 * day);
    at = (await poll({ cursor: at })).cursor;
  }
  const late = await closed();
  shop.later(10 * day);
  at = (await poll({ cursor: at })).cursor;
  shop.later(10 * day);
  at = (await poll({ cursor: at })).cursor;
  shop.later(minute);
  await shop.standin.change({ id: late, tags: ['touched'] });
  expect((await poll({ cursor: at })).events).toEqual([]);
});

test('it finds what waits for delivery, what arrived, and what is over', async () => {
  const { source } = shop.open({ trigger: 'delivered', deliveredWithin: '7d' });
  const [waiting, there, cancelled, open, tried] = [
    shop.order(),
    shop.order(),
    shop.order(),
    shop.order(),
    shop.order({ test: true }),
  ];
  for (const id of [waiting, there, tried]) await shop.standin.fulfil({ id });
  await shop.standin.deliver(there);
  await shop.standin.cancel({ id: cancelled });
  const page = await poll({ since }, source);
  expect(short(page)).toEqual([
    `closed ${waiting}`,
    `closed ${there} ${recordEvents(page.events)[1]?.closing}`,
    `changed ${cancelled}`,
  ]);
  expect(page.events[0]?.what).toContain('2026-11-27T12:00:00');
  expect(JSON.stringify(page)).not.toContain(open);
});

test('it refuses a cursor that it did not write', async () => {
  await expect(poll({ cursor: 'nonsense' })).rejects.toThrow();
});

describe('the webhooks', () => {
  const list = () => shop.standin.subscriptions().map(({ topic, uri }) => `${topic} ${uri}`);
  const all = topics.map((topic) => `${topic} ${hook}`);
  const subscribe = (...some: string[]) => some.map((topic) => shop.standin.addSubscription({ topic, uri: hook }));
  let cursor: string;
  beforeEach(async () => {
    cursor = (await poll({ since })).cursor;
  });
  const open = (more: object = {}, hookUrl: string | undefined = hook) =>
    shop.open(more, hookUrl === undefined ? {} : { hookUrl });
  const look = async (source = open().source): Promise<void> => {
    shop.later(day);
    cursor = (await poll({ cursor }, source)).cursor;
  };

  test('it makes again what Shopify removed, some of it or all, and says so', async () => {
    const { source, seen } = open();
    subscribe(...topics);
    await look(source);
    expect(seen.warnings).toEqual([]);
    shop.standin.removeSubscriptions({ topic: 'ORDERS_FULFILLED' });
    await look(source);
    expect(list().sort()).toEqual([...all].sort());
    shop.standin.removeSubscriptions();
    await look(source);
    expect(list()).toEqual(all);
    expect(seen.warnings).toEqual([expect.stringContaining('made again'), expect.stringContaining('made again')]);
    expect(seen.takes.every((urgency) => urgency === 'background')).toBe(true);
  });

  test('it looks once a day', async () => {
    subscribe(...topics);
    await look();
    shop.standin.removeSubscriptions();
    shop.later(day - 1);
    cursor = (await poll({ cursor }, open().source)).cursor;
    expect(list()).toEqual([]);
    shop.later(1);
    await poll({ cursor }, open().source);
    expect(list()).toEqual(all);
  });

  test('it makes none where it never saw one, and says what to do', async () => {
    const { source, seen } = open();
    await look(source);
    expect(list()).toEqual([]);
    expect(seen.warnings).toEqual([expect.stringContaining('run "closeloop setup"')]);
  });

  test('it makes them at its own address, whatever others there are', async () => {
    subscribe('ORDERS_FULFILLED');
    const others = topics.map((topic) => shop.standin.addSubscription({ topic, uri: 'https://other.example/hooks' }));
    await look();
    expect(list()).toHaveLength(others.length + topics.length);
    expect(list()).toEqual(expect.arrayContaining(all));
  });

  test('it says only what is missing where it does not know its own address', async () => {
    const { source, seen } = shop.open();
    subscribe(...topics);
    await look(source);
    expect(seen.warnings).toEqual([]);
    shop.standin.removeSubscriptions({ topic: 'ORDERS_FULFILLED' });
    await look(source);
    expect(list()).toHaveLength(topics.length - 1);
    expect(seen.warnings).toEqual([expect.stringContaining('http.publicUrl')]);
  });

  test('it reads the cursor of an earlier version, which knew only where they had been', async () => {
    cursor = JSON.stringify({
      ...JSON.parse(cursor),
      watched: { at: since.toISOString(), uri: 'https://old.example/' },
    });
    await look();
    expect(list()).toEqual(all);
  });

  test('it makes none at a new address while those at the earlier one stand: every event would come twice', async () => {
    subscribe(...topics);
    await look();
    const { source, seen } = open({}, 'https://closeloop.example/hooks/renamed');
    await look(source);
    expect(list().sort()).toEqual([...all].sort());
    expect(seen.warnings).toEqual([expect.stringContaining('run "closeloop setup"')]);
  });

  test('it leaves them alone where they are declared in the app', async () => {
    subscribe(...topics);
    await look();
    shop.standin.removeSubscriptions();
    await look(open({ webhooks: false }).source);
    expect(list()).toEqual([]);
  });

  test('it finds what was missed while one was gone', async () => {
    subscribe(...topics);
    await look();
    shop.standin.removeSubscriptions();
    const id = await closed();
    shop.later(day);
    expect(short(await poll({ cursor }, open().source))).toEqual([expect.stringContaining(`closed ${id}`)]);
    expect(list()).toEqual(all);
  });
});
