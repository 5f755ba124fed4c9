import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PollPage } from '../../../../core/connector/contract.ts';
import { openShop, type Shop } from '../../../support/connectors/woocommerce/shop.ts';
import { recordEvents } from '../../../support/contract/record-events.ts';

let shop: Shop;
let since: Date;
beforeEach(async () => {
  shop = await openShop({ writeBack: { grade: 'feedback_grade' } });
  since = shop.clock.now;
});
afterEach(() => shop.close());

const minute = 60_000;
const day = 24 * 60 * minute;

async function sweep(from: Parameters<NonNullable<Shop['source']['poll']>>[0], most = 20): Promise<PollPage[]> {
  const pages: PollPage[] = [];
  for (let at = from; pages.length < most; ) {
    const page = await shop.source.poll?.(at);
    if (page === undefined) return expect.fail('there is no poll');
    pages.push(page);
    if (page.done) return pages;
    at = { cursor: page.cursor };
  }
  return expect.fail(`not done after ${most} pages`);
}
const cursorOf = (pages: PollPage[]): string => pages.at(-1)?.cursor ?? '';
const told = (pages: PollPage[]) =>
  pages.flatMap(({ events }) => recordEvents(events).map(({ kind, recordId }) => `${kind} ${recordId}`));

test('it finds what was closed since, and what else changed', async () => {
  const old = shop.order({ ageMs: 3 * day });
  shop.later(1_000);
  const [done, lost] = [shop.order(), shop.order()];
  shop.later(1_000);
  await shop.standin.refund({ id: Number(lost) });
  const pages = await sweep({ since });
  expect(told(pages)).toEqual([`closed ${done}`, `changed ${lost}`]);
  expect(JSON.stringify(pages)).not.toContain(`"${old}"`);
  expect(pages[0]?.reached).toEqual(shop.clock.now);
  expect(shop.seen.takes).toEqual(['background']);
});

test('it takes an old order that somebody saves for a change, not for a closing', async () => {
  const old = shop.order({ ageMs: 3 * day });
  shop.later(minute);
  await shop.standin.setMeta({ id: Number(old), key: 'x', value: 'y' });
  expect(told(await sweep({ since }))).toEqual([`changed ${old}`]);
  // Going back further asks about it: that is what a backfill is for.
  expect(told(await sweep({ since: new Date(since.getTime() - 4 * day) }))).toEqual([`closed ${old}`]);
});

test('it looks fifteen minutes back, and finds a closing there no matter how long ago it looked', async () => {
  let cursor = cursorOf(await sweep({ since }));
  shop.later(20 * day);
  const [early, late] = [shop.order({ ageMs: 16 * day }), shop.order({ ageMs: 10 * minute })];
  const pages = await sweep({ cursor });
  expect(told(pages)).toEqual([`closed ${early}`, `closed ${late}`]);
  cursor = cursorOf(pages);
  expect(told(await sweep({ cursor }))).toEqual([`closed ${late}`]);
  shop.later(20 * minute);
  expect(told(await sweep({ cursor: cursorOf(await sweep({ cursor })) }))).toEqual([]);
});

test('it goes on by time, so that rows which change between two pages shift nobody out', async () => {
  const ids = Array.from({ length: 250 }, () => {
    shop.later(1_000);
    return shop.order();
  });
  const first = await shop.source.poll?.({ since });
  // Ten of the first page move to the end; with page numbers, ten of the second page would be overlooked.
  for (const id of ids.slice(0, 10)) await shop.standin.setMeta({ id: Number(id), key: 'x', value: 'y' });
  const rest = await sweep({ cursor: first?.cursor ?? '' });
  const found = new Set(
    recordEvents([...(first?.events ?? []), ...rest.flatMap(({ events }) => events)]).map(({ recordId }) => recordId),
  );
  expect(found).toEqual(new Set(ids));
});

test("it goes by the shop's clock, also when that is behind", async () => {
  const ahead = new Date(since.getTime() + 30 * minute);
  const cursor = cursorOf(await sweep({ since: ahead }));
  shop.later(minute);
  const id = shop.order();
  expect(told(await sweep({ cursor }))).toEqual([`closed ${id}`]);
});

describe('the look at the webhooks', () => {
  const webhook = (name = 'closeloop order.updated') =>
    shop.standin.addWebhook({ name, url: 'https://closeloop.example/hooks/shop', secret: 's' }).id;
  const status = (id: number) => shop.standin.webhooks().find((one) => one.id === id)?.status;
  const looks = () => shop.standin.callCounts()['GET /wp-json/wc/v3/webhooks'] ?? 0;

  /** The first poll of a source only looks. */
  const begun = async () => cursorOf(await sweep({ since }));

  test('it switches on again what the shop switched off, says so, and leaves alone what people did', async () => {
    const [off, paused, foreign] = [webhook(), webhook(), webhook('Accounting')];
    shop.standin.changeWebhook({ id: off, status: 'disabled' });
    shop.standin.changeWebhook({ id: paused, status: 'paused' });
    shop.standin.changeWebhook({ id: foreign, status: 'disabled' });
    const cursor = await begun();
    expect(status(off)).toBe('disabled');
    await sweep({ cursor });
    expect([status(off), status(paused), status(foreign)]).toEqual(['active', 'paused', 'disabled']);
    expect(shop.seen.logged).toMatchObject([{ level: 'warn', fields: { webhook: String(off) } }]);
    expect(new Set(shop.seen.takes)).toEqual(new Set(['background']));
  });

  test.each([
    [undefined, 60],
    ['1d', 24 * 60],
    ['10m', 10],
  ])(
    'it looks as often as watchEvery says (%s: every %i minutes), also after a restart (audit 43)',
    async (watchEvery, minutes) => {
      webhook();
      const opened = () => shop.open(watchEvery === undefined ? {} : { watchEvery }).source;
      let cursor = (await opened().poll?.({ cursor: await begun() }))?.cursor ?? '';
      shop.later((minutes - 1) * minute);
      cursor = (await opened().poll?.({ cursor }))?.cursor ?? '';
      expect(looks()).toBe(1);
      shop.later(2 * minute);
      await opened().poll?.({ cursor });
      expect(looks()).toBe(2);
    },
  );

  test('it sees every webhook of a shop that has more than a hundred (audit 42)', async () => {
    // Listed by the newest first.
    const off = webhook();
    for (let i = 0; i < 100; i++) webhook('Accounting');
    shop.standin.changeWebhook({ id: off, status: 'disabled' });
    await sweep({ cursor: await begun() });
    expect(status(off)).toBe('active');
  });

  describe('knowing where the shop has to deliver', () => {
    const hookUrl = 'https://closeloop.example/hooks/shop';
    const secret = 'first-secret';
    const topics = () => shop.standin.webhooks().map(({ topic, deliveryUrl }) => `${topic} ${deliveryUrl}`);
    const add = (topic: string, more: object = {}) =>
      shop.standin.addWebhook({ name: `closeloop ${topic}`, topic, url: hookUrl, secret, ...more }).id;
    let opened: ReturnType<Shop['open']>;
    beforeEach(() => {
      opened = shop.open({ webhookSecrets: [secret, 'old'] }, { hookUrl });
    });
    const nextDay = async (cursor: string): Promise<string> => {
      shop.later(25 * 60 * minute);
      return (await opened.source.poll?.({ cursor }))?.cursor ?? '';
    };

    test('it makes a webhook again that was there and is gone, with our secret, once', async () => {
      add('order.updated');
      add('order.deleted', { name: 'made by hand' });
      let cursor = await nextDay(await begun());
      shop.standin.removeWebhooks();
      add('order.updated');
      cursor = await nextDay(cursor);
      expect(topics()).toEqual([`order.updated ${hookUrl}`, `order.deleted ${hookUrl}`]);
      expect(shop.standin.webhooks()[1]).toMatchObject({ name: 'closeloop order.deleted', status: 'active' });
      expect(opened.seen.logged).toMatchObject([{ level: 'warn', fields: { topic: 'order.deleted' } }]);
      expect(new Set(opened.seen.takes)).toEqual(new Set(['background']));
      await nextDay(cursor);
      expect(topics()).toHaveLength(2);
    });

    test('it makes both again, though the first attempt to look failed', async () => {
      for (const topic of ['order.updated', 'order.deleted']) add(topic);
      const cursor = await nextDay(await begun());
      shop.standin.removeWebhooks();
      shop.standin.faults.add({ path: 'webhooks', status: 500 });
      await nextDay(await nextDay(cursor));
      expect(topics()).toEqual([`order.updated ${hookUrl}`, `order.deleted ${hookUrl}`]);
    });

    test('it makes none where none has been, and leaves one alone that a person sent elsewhere', async () => {
      const id = add('order.deleted');
      const cursor = await nextDay(await begun());
      shop.standin.changeWebhook({ id, url: 'https://elsewhere.example/hooks/shop' });
      await nextDay(await nextDay(cursor));
      expect(topics()).toEqual(['order.deleted https://elsewhere.example/hooks/shop']);
    });
  });

  test('it says when there is no webhook at all', async () => {
    await sweep({ cursor: await begun() });
    expect(shop.seen.logged).toMatchObject([{ level: 'warn', message: expect.stringMatching(/closeloop setup/) }]);
  });

  test('it keeps what it found when the look fails', async () => {
    const cursor = await begun();
    const id = shop.order();
    shop.standin.faults.add({ path: 'webhooks', status: 500 });
    expect(told(await sweep({ cursor }))).toEqual([`closed ${id}`]);
    expect(shop.seen.logged).toMatchObject([{ level: 'warn' }]);
  });
});
