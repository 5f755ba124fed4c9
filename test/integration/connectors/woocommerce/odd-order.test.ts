import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { answer, openShop, type Shop } from '../../../support/connectors/woocommerce/shop.ts';

let shop: Shop;
let since: Date;
beforeEach(async () => {
  shop = await openShop({ writeBack: { grade: 'feedback_grade' } });
  since = shop.clock.now;
});
afterEach(() => shop.close());

/** A shop with a plugin that makes something else of one order in every list. */
function openOdd(odd: string, change: object) {
  const fetchOdd: typeof fetch = async (url, init) => {
    const response = await fetch(url, init);
    const { data } = z.array(z.looseObject({ id: z.number() })).safeParse(await response.clone().json());
    if (!data) return response;
    const changed = data.map((order) => (String(order.id) === odd ? { ...order, ...change } : order));
    return Response.json(changed, { headers: { date: response.headers.get('date') ?? '' } });
  };
  return shop.open({}, { fetch: fetchOdd });
}

test('an odd order fails alone where others are read with it, with where it is odd (audit loop)', async () => {
  const [odd, good] = [shop.order(), shop.order()];
  const { source } = openOdd(odd, { date_created_gmt: 5 });
  const [first, second] = await source.read([odd, good]);
  expect(second).toMatchObject({ ok: true, record: { id: good } });
  expect(first).toMatchObject({ ok: false, why: 'error', error: { advice: { kind: 'permanent', doubtful: true } } });
  expect(first?.ok === false && first.why === 'error' && first.error.message).toMatch(
    new RegExp(`order ${odd}: it has another shape than documented, at date_created_gmt`),
  );
});

test('of an order without a readable id nobody says that it is gone (audit loop)', async () => {
  const [odd, good] = [shop.order(), shop.order()];
  const { source } = openOdd(odd, { id: null });
  expect(await source.read([odd, good])).toMatchObject([{ ok: false, why: 'error' }, { ok: true }]);
});

test('an odd order does not stop the poll, and is told of where it is over (audit loop)', async () => {
  const odd = shop.order();
  shop.later(1_000);
  const good = shop.order();
  const { source, seen } = openOdd(odd, { date_created_gmt: 5 });
  const page = await source.poll?.({ since });
  expect(page?.events.map((event) => `${event.kind} ${'recordId' in event && event.recordId}`)).toEqual([
    `closed ${odd}`,
    `closed ${good}`,
  ]);
  expect(page?.done).toBe(true);
  expect(seen.logged.map(({ message }) => message)).toContain('the poll met an order of another shape than documented');
});

test('answers are written on the others, and an odd order keeps its own (audit loop)', async () => {
  const [odd, good] = [shop.order(), shop.order()];
  const { source } = openOdd(odd, { id: {} });
  expect(await source.writeBack([answer(odd), answer(good)])).toMatchObject([
    { ok: false, why: 'error' },
    { ok: true },
  ]);
  expect(shop.standin.order(Number(good))).toMatchObject({ meta: [{ key: 'feedback_grade', value: '4' }] });
});
