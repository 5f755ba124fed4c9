import { afterEach, beforeEach, expect, test } from 'vitest';
import { allOn, answer, openShop, type Shop } from '../../../support/connectors/woocommerce/shop.ts';

let shop: Shop;
beforeEach(async () => {
  shop = await openShop({ writeBack: allOn });
});
afterEach(() => shop.close());

const held = (id: string) => {
  const { values, notes, mails, recalculations } = shop.standin.order(Number(id));
  return { values, notes: notes.map(({ note }) => note), mails, recalculations };
};

test('it reaches orders in the trash', async () => {
  const id = shop.order();
  await shop.source.writeBack([answer(id)]);
  await shop.standin.trash(Number(id));
  expect(await shop.source.forget?.([id])).toEqual([]);
  expect(held(id)).toMatchObject({ values: {}, notes: [] });
});

test('it needs two calls for a hundred orders, and two for each note', async () => {
  const ids = Array.from({ length: 100 }, () => shop.order());
  await shop.source.writeBack(ids.map((id) => answer(id)));
  shop.standin.clearCalls();
  expect(await shop.source.forget?.(ids)).toEqual([]);
  const base = '/wp-json/wc/v3/orders';
  expect(shop.standin.callCounts()).toEqual({
    [`GET ${base}`]: 1,
    [`POST ${base}/batch`]: 1,
    [`GET ${base}/{id}/notes`]: 100,
    [`DELETE ${base}/{id}/notes/{note}`]: 100,
  });
});

test('it can do nothing without access, and that is for a person to mend', async () => {
  const id = shop.order();
  shop.standin.addKey({ key: shop.standin.consumerKey, secret: 'cs_other' });
  await expect(shop.source.forget?.([id])).rejects.toMatchObject({ advice: { kind: 'config' } });
});
