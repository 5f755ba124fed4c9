import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ActionRequest } from '../../../../core/connector/contract.ts';
import { actOnce } from '../../../support/act-once.ts';
import { allOn, answer, openShop } from '../../../support/connectors/shopify/fixture.ts';

/* What every connector's actions have to do is in the contract suite, with tags of order and customer. */

let shop: Awaited<ReturnType<typeof openShop>>;
beforeEach(async () => {
  shop = await openShop({ writeBack: allOn });
});
afterEach(() => shop.close());

const act = (recordId: string, name: string, params: unknown, more: Partial<ActionRequest> = {}) =>
  actOnce(shop.source, { recordId, name, params, marker: 'shop/7.1.a1.bad.0', closing: '', again: false, ...more });

const ours = '[note: Graded 1: (late) & wet · closeloop shop/7.1.a1.bad.0]';

test('a plain list of tags goes on the order, beside its own', async () => {
  const id = shop.order({ tags: ['vip'] });
  expect(await act(id, 'tag', ['unhappy', 'VIP'])).toEqual({ ok: true, done: 'tagged unhappy, VIP' });
  expect(shop.standin.order(id).tags).toEqual(['vip', 'unhappy']);
});

test('an order without a customer is tagged alone, and that is said', async () => {
  const id = shop.order();
  expect(await act(id, 'tag', { order: ['unhappy'], customer: ['call'] })).toEqual({
    ok: true,
    done: 'tagged unhappy; the order has no customer to tag',
  });
});

test('check tells that customers can not be tagged without write_customers, and orders can', async () => {
  const at = 'answers[0].do[0].tag';
  const found = await shop.source.checkActions?.([{ at, name: 'tag', params: { customer: ['call'] } }]);
  expect(found).toMatchObject([{ level: 'error', at, problem: 'the app lacks write_customers' }]);
  expect(await shop.source.checkActions?.([{ at, name: 'tag', params: ['unhappy'] }])).toEqual([]);
});

test('more tags than an order takes are parked', async () => {
  const id = shop.order({ tags: Array.from({ length: 250 }, (_, n) => `tag ${n}`) });
  expect(await act(id, 'tag', ['unhappy'])).toMatchObject({
    ok: false,
    why: 'error',
    error: { advice: { kind: 'permanent' }, message: expect.stringContaining('250 tags') },
  });
});

test('a line of the note stays when the answer changes, and goes with the person', async () => {
  const id = shop.order({ note: 'Ring twice' });
  await shop.source.writeBack([answer(id)]);
  await act(id, 'note', 'Graded 1:\n[late] & wet');
  await shop.source.writeBack([answer(id, { marker: 'j7.2', answeredAt: new Date('2026-11-21T10:00:00Z') })]);
  const { note } = shop.standin.order(id);
  expect(note?.split('\n')).toEqual(['Ring twice', ours, expect.stringContaining('closeloop j7.2]')]);
  await shop.source.forget?.([id]);
  expect(shop.standin.order(id).note).toBe('Ring twice');
});

test('a note that is full is parked, and stays as it is', async () => {
  const full = 'x'.repeat(4_990);
  const id = shop.order({ note: full });
  expect(await act(id, 'note', 'Graded 1')).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining('is full: shorten it') },
  });
  expect(shop.standin.order(id).note).toBe(full);
});
