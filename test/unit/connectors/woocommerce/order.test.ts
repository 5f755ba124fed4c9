import { describe, expect, test } from 'vitest';
import {
  closingOf,
  isOrderId,
  Order,
  OrderMoment,
  refundedOf,
  stateOf,
} from '../../../../connectors/woocommerce/order.ts';
import type { RecordState } from '../../../../core/connector/contract.ts';
import { fixture, settingsOf } from '../../../support/connectors/woocommerce/fixture.ts';

const completedAt = new Date('2026-11-18T14:42:10Z');
const closed: RecordState = { is: 'closed', closing: '2026-11-18T14:42:10Z', closedAt: completedAt };
const open: RecordState = { is: 'open' };
const out = (why: RegExp) => ({ is: 'out', why: expect.stringMatching(why) });
const meta = (key: string, value: unknown) => ({ meta_data: [{ id: 1, key, value }] });
const nobody = { billing: { email: '', phone: ' ' }, shipping: { phone: '' } };
const items = (...ids: [product: number, sku: string][]) => ({
  line_items: ids.map(([product_id, sku]) => ({
    product_id,
    variation_id: 0,
    sku,
    quantity: 1,
    name: 'x',
    total: '1',
  })),
});

describe('which order counts', () => {
  const once = { ...closed, closing: 'once' };
  const undated = { ...once, closedAt: completedAt };
  const rows: [name: string, order: object, wanted: unknown, settings?: object][] = [
    ['the completed order of the fixture', {}, closed],
    ['one in processing', { status: 'processing' }, open],
    ['one on hold', { status: 'on-hold' }, open],
    ['one not paid yet', { status: 'pending' }, open],
    ['a draft of the checkout', { status: 'checkout-draft' }, open],
    ['one in a status nobody knows', { status: 'Strange Status!' }, open],
    ['one in a status that is called like what every object has', { status: 'constructor' }, open],
    ['a cancelled one', { status: 'cancelled' }, out(/cancelled/)],
    ['a refunded one', { status: 'refunded' }, out(/refunded/)],
    ['one whose payment failed', { status: 'failed' }, out(/failed/)],
    ['one in the trash', { status: 'trash' }, out(/trash/)],

    [
      "a plugin's status that counts",
      { status: 'delivered', date_completed_gmt: null },
      undated,
      { statuses: ['delivered'] },
    ],
    ["a plugin's status that doesn't", { status: 'delivered' }, open],
    ['wc- before a configured status', { status: 'delivered' }, once, { statuses: ['wc-delivered'] }],
    ['completed when only delivered counts', {}, open, { statuses: ['delivered'] }],
    ['shipped, when completed counts as well', { status: 'shipped' }, once, { statuses: ['completed', 'shipped'] }],
    ['completed, when shipped counts as well: the same closing', {}, once, { statuses: ['completed', 'shipped'] }],
    ['completed without a date (an import)', { date_completed_gmt: null }, undated],

    ['a refund record', { parent_id: 1041 }, out(/part of another/)],
    ['partly refunded', { refunds: [{ id: 1, reason: '', total: '-4.58' }] }, closed],
    ['partly refunded, not wanted', { refunds: [{ total: '-4.58' }] }, out(/something/), { skipRefunded: 'partly' }],
    ['refunded in two parts to the last cent', { refunds: [{ total: '-40.02' }, { total: '-4.58' }] }, out(/whole/)],
    ['refunded but for a cent', { refunds: [{ total: '-40.02' }, { total: '-4.57' }] }, closed],
    ['refunded, which is wanted', { refunds: [{ total: '-44.60' }] }, closed, { skipRefunded: 'never' }],
    ['free of charge', { total: '0.00' }, closed],

    ['a test of WooPayments', meta('_wcpay_mode', 'test'), out(/test/)],
    ['a real payment with WooPayments', meta('_wcpay_mode', 'prod'), closed],
    ["another plugin's test mark", meta('demo', 'yes'), out(/test/), { testMeta: { demo: 'yes' } }],
    ['personal data erased', meta('_anonymized', 'yes'), out(/erased/)],
    ['downloads only', { needs_processing: false }, closed],
    ['downloads only, not wanted', { needs_processing: false }, out(/downloads/), { skipVirtual: true }],
    ['gift cards only', items([77, 'GC-50'], [78, 'GC-20']), out(/gift cards/), { giftCards: [77, 'GC-20'] }],
    ['a gift card and a product', items([77, 'GC-50'], [93, 'NK']), closed, { giftCards: [77] }],
    ['gift cards, nobody said which they are', items([77, 'GC-50']), closed],
    ['without items', { line_items: [] }, closed, { giftCards: [77] }],

    ['without contact', nobody, out(/neither/)],
    ['without contact, which is wanted', nobody, closed, { withoutContact: true }],
    ['with an e-mail address only', { ...nobody, billing: { email: 'a@example.com' } }, closed],
    ['with a phone number only', { ...nobody, billing: { phone: '0172 9925904' } }, closed],
    ["with the receiver's phone number only", { ...nobody, shipping: { phone: '0172 9925904' } }, closed],
    ['of a guest', { customer_id: 0 }, closed],
    ['with empty PHP arrays for objects', { billing: [], shipping: [] }, out(/neither/)],
    ['cancelled without contact: the status first', { ...nobody, status: 'cancelled' }, out(/cancelled/)],
    ['in processing without contact: it may get one', { ...nobody, status: 'processing' }, open],
  ];
  test.each(rows)('it judges %s', (_name, change, wanted, settings) => {
    expect(stateOf(Order.parse({ ...fixture, ...change }), settingsOf(settings))).toEqual(wanted);
  });
});

test('it names a closing by when it was completed, so a second completion differs and a later save does not', () => {
  const rules = settingsOf();
  const at = (date_completed_gmt: string, date_modified_gmt: string) =>
    closingOf(OrderMoment.parse({ ...fixture, date_completed_gmt, date_modified_gmt }), rules);
  const first = at('2026-11-18T14:42:10', '2026-11-18T14:42:10');
  expect(at('2026-11-18T14:42:10', '2026-12-01T00:00:00')).toBe(first);
  expect(at('2026-11-19T08:00:00', '2026-11-19T08:00:00')).not.toBe(first);
});

test('it takes only the GMT dates, as UTC', () => {
  const { date_created_gmt, date_paid_gmt, date_completed_gmt } = Order.parse({
    ...fixture,
    date_paid_gmt: 'yesterday',
  });
  expect([date_created_gmt, date_paid_gmt, date_completed_gmt]).toEqual([
    new Date('2026-11-16T18:03:11Z'),
    null,
    completedAt,
  ]);
});

test.each([
  ['5791244910855', true],
  ['1', true],
  ['0', false],
  ['01', false],
  ['-1', false],
  ['1.5', false],
  ['../1', false],
  ['1,2', false],
  ['', false],
  ['9007199254740993', false],
])('it takes %s for an id: %s', (text, wanted) => expect(isOrderId(text)).toBe(wanted));

test('it adds refunds up to the cent', () => {
  expect(refundedOf({ refunds: [{ total: '-0.10' }, { total: '-0.20' }, { total: 'none' }] })).toBe(0.3);
});
