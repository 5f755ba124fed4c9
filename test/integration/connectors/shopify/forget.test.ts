import { afterEach, beforeEach, expect, test } from 'vitest';
import { allOn, answer, openShop } from '../../../support/connectors/shopify/fixture.ts';

let shop: Awaited<ReturnType<typeof openShop>>;
beforeEach(async () => {
  shop = await openShop({ writeBack: allOn });
});
afterEach(() => shop.close());

const forget = async (ids: readonly string[], source = shop.source) => await source.forget?.(ids);
const held = (id: string) => {
  const { tags, note, metafields } = shop.standin.order(id);
  return { tags, note, metafields };
};

test('it takes off all that is ours and leaves the rest, also what the settings name no more', async () => {
  const id = shop.order({ tags: ['vip', 'fb_fan'], note: 'Ring twice' });
  shop.standin.addDefinition({ key: 'branch' });
  await shop.source.writeBack([answer(id, { answers: { q1: 'fast' } })]);
  const { source } = shop.open({ writeBack: { ...allOn, tags: false, note: false } });
  expect(await forget([id], source)).toEqual([]);
  expect(held(id)).toEqual({ tags: ['vip', 'fb_fan'], note: 'Ring twice', metafields: {} });
});

test('it needs a few mutations for a hundred orders between two looks, and one look where nothing is left', async () => {
  shop.standin.changeSettings({ maximumAvailable: 100_000, restoreRate: 100_000 });
  const ids = Array.from({ length: 100 }, () => shop.order());
  await shop.source.writeBack(ids.map((id) => answer(id)));
  shop.standin.clearCalls();
  expect(await forget([...ids, ...ids])).toEqual([]);
  // Metafields, tags and note: three mutations an order.
  expect(shop.standin.callCounts()).toEqual({ 'POST graphql AnswersOnOrders': 2, 'POST graphql WriteAnswers': 4 });
  shop.standin.clearCalls();
  expect(await forget(ids)).toEqual([]);
  expect(shop.standin.callCounts()).toEqual({ 'POST graphql AnswersOnOrders': 1 });
});

test('it says of orders that it can not see that they may only be too old, unless the app sees all', async () => {
  const unseen = expect.stringContaining('read_all_orders');
  expect(await forget(['77', 'no id'])).toEqual([unseen]);
  const { scopes } = shop.standin.changeSettings({});
  shop.standin.changeSettings({ scopes: [...scopes, 'read_all_orders'] });
  expect(await forget(['77', 'no id'])).toEqual([]);
});

test('it says what Shopify refused to take off', async () => {
  const id = shop.order();
  await shop.source.writeBack([answer(id)]);
  const fine = { userErrors: [] };
  const refused = { userErrors: [{ field: ['metafields', '0', 'namespace'], message: 'Fine is not allowed.' }] };
  const { source } = shop.open(
    {},
    {
      fetch: async (input, init) =>
        String(init?.body).includes('WriteAnswers')
          ? Response.json({ data: { o0: refused, o1: fine, o2: fine } })
          : await fetch(input, init),
    },
  );
  expect(await forget([id], source)).toEqual([`the answer on order ${id}, which takes no change: take it off by hand`]);
});

test('it can do nothing without access, and that is for a person to mend', async () => {
  const id = shop.order();
  await shop.standin.uninstall();
  await expect(forget([id])).rejects.toMatchObject({ advice: { kind: 'config' } });
});
