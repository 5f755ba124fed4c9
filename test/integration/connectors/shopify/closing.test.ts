import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type OrderFacts, stateOf } from '../../../../connectors/shopify/closing.ts';
import type { RecordState } from '../../../../core/connector/contract.ts';
import { settingsOf } from '../../../support/connectors/shopify/fixture.ts';

const day = 86_400_000;
const at = (text: string): Date => new Date(`2026-11-${text}:00Z`);
const sent = at('18T09:12');
const arrived = at('20T12:55');

type Parcel = OrderFacts['fulfillments'][number];
const parcel = (more: Partial<Parcel> = {}): Parcel => ({
  id: 'gid://shopify/Fulfillment/5098822107399',
  status: 'SUCCESS',
  displayStatus: 'FULFILLED',
  createdAt: sent,
  updatedAt: sent,
  deliveredAt: undefined,
  requiresShipping: true,
  ...more,
});
const second = (more: Partial<Parcel> = {}): Parcel =>
  parcel({
    id: 'gid://shopify/Fulfillment/10000000000000001',
    createdAt: at('19T10:00'),
    updatedAt: at('19T10:00'),
    ...more,
  });
const line = (more: object = {}) => ({
  title: 'Coffee',
  variant: undefined,
  sku: undefined,
  vendor: undefined,
  quantity: 1,
  giftCard: false,
  shipped: true,
  ...more,
});
const payment = (id: string, more: object = {}) => ({
  id: `gid://shopify/OrderTransaction/${id}`,
  kind: 'SALE',
  status: 'SUCCESS',
  processedAt: at('16T18:03'),
  ...more,
});

/** The order of fixtures/shopify-order-fulfilled.json, as the API tells it. */
const order = (more: Partial<OrderFacts> = {}): OrderFacts => ({
  id: 'gid://shopify/Order/5791244910855',
  updatedAt: sent,
  processedAt: at('16T18:03'),
  test: false,
  cancelledAt: undefined,
  sourceName: 'web',
  displayFinancialStatus: 'PAID',
  displayFulfillmentStatus: 'FULFILLED',
  fulfillments: [parcel()],
  transactions: [payment('77')],
  ...more,
});

const gift = line({ giftCard: true, shipped: false });
const now = at('21T10:00');
/** `closed f1 2026-…`, `open`, `open until …`, `out: why` */
function short(state: RecordState): string {
  if (state.is === 'closed') return `closed ${state.closing} ${state.closedAt.toISOString().slice(5, 16)}`;
  if (state.is === 'out') return `out: ${state.why}`;
  return state.readAgainAt === undefined ? 'open' : `open until ${state.readAgainAt.toISOString().slice(5, 16)}`;
}
const judge = (judged: Partial<OrderFacts> = {}, settings: object = {}, when = now) =>
  short(stateOf(order(judged), settingsOf(settings), when));

const first = 'f5098822107399';
const other = 'f10000000000000001';
const [atFirst, atSecond] = [`closed ${first} 11-18T09:12`, `closed ${other} 11-19T10:00`];
const atArrival = `closed ${first} 11-20T12:55`;
const both = { fulfillments: [second(), parcel()] };
const shipped = { trigger: 'fulfilled' };
const came = { displayStatus: 'DELIVERED', deliveredAt: arrived };

describe('orders that never ask', () => {
  test.each<[what: string, expected: string, judged?: Partial<OrderFacts>, settings?: object]>([
    ['a test order', 'out: a test order', { test: true }],
    ['a cancelled one', 'out: the order was cancelled', { cancelledAt: sent }],
    ['a refunded one', 'out: the order was refunded', { displayFinancialStatus: 'REFUNDED' }],
    ['one whose payment was voided', 'out: the payment was voided', { displayFinancialStatus: 'VOIDED' }],
    ['one refunded in part, by default', atFirst, { displayFinancialStatus: 'PARTIALLY_REFUNDED' }, shipped],
    [
      'one refunded in part, if so configured',
      'out: the order was refunded in part',
      { displayFinancialStatus: 'PARTIALLY_REFUNDED' },
      { include: { partlyRefunded: false } },
    ],
    ['gift cards alone', 'out: nothing but gift cards', { lineItems: { nodes: [gift, gift] } }],
    [
      'gift cards and something that was removed',
      'out: nothing but gift cards',
      { lineItems: { nodes: [gift, line({ quantity: 0 })] } },
    ],
    ['a gift card with a parcel', atFirst, { lineItems: { nodes: [gift, line()] } }, shipped],
    ['no contact', 'out: there is neither an e-mail address nor a phone number on it', { hasContact: false }],
    ['no contact, if so configured', atFirst, { hasContact: false }, { ...shipped, include: { withoutContact: true } }],
    [
      'a sale in a shop, if so configured',
      'out: a sale in a shop',
      { sourceName: 'pos' },
      { include: { pointOfSale: false } },
    ],
    [
      'one that staff wrote, if so configured',
      'out: an order that staff wrote',
      { sourceName: 'shopify_draft_order' },
      { include: { drafts: false } },
    ],
    ['one that staff wrote, by default', atFirst, { sourceName: 'shopify_draft_order' }, shipped],
    ['one on account', atFirst, { displayFinancialStatus: 'PENDING' }, shipped],
  ])('it judges %s', (_what, expected, judged, settings) => expect(judge(judged, settings)).toBe(expected));
});

describe('fulfilled', () => {
  test.each<[what: string, expected: string, judged?: Partial<OrderFacts>, settings?: object]>([
    ['the fixture', atFirst, {}, shipped],
    ['nothing handed over', 'open', { displayFulfillmentStatus: 'UNFULFILLED', fulfillments: [] }, shipped],
    ['some of it', 'open', { displayFulfillmentStatus: 'PARTIALLY_FULFILLED' }, shipped],
    [
      'some of it is enough',
      atFirst,
      { displayFulfillmentStatus: 'PARTIALLY_FULFILLED' },
      { ...shipped, parcels: 'first' },
    ],
    ['two parcels, whatever their order', atSecond, both, shipped],
    ['two parcels, the first counts', atFirst, both, { ...shipped, parcels: 'first' }],
    [
      'a cancelled parcel',
      'open',
      { displayFulfillmentStatus: 'UNFULFILLED', fulfillments: [parcel({ status: 'CANCELLED' })] },
      shipped,
    ],
    [
      'a parcel cancelled after another',
      atFirst,
      { fulfillments: [parcel(), second({ status: 'CANCELLED' })] },
      shipped,
    ],
    [
      'a cancelled parcel and another instead',
      atSecond,
      { fulfillments: [parcel({ status: 'CANCELLED' }), second()] },
      shipped,
    ],
    [
      'nothing to hand over',
      'closed whole 11-16T18:03',
      { displayFulfillmentStatus: 'FULFILLMENT_NOT_REQUIRED', fulfillments: [] },
      shipped,
    ],
    ['returned to stock', 'open', { displayFulfillmentStatus: 'RESTOCKED', fulfillments: [] }, shipped],
    ['on hold', 'open', { displayFulfillmentStatus: 'ON_HOLD', fulfillments: [] }, shipped],
  ])('it judges %s', (_what, expected, judged, settings) => expect(judge(judged, settings)).toBe(expected));
});

describe('delivered', () => {
  const firstParcel = { parcels: 'first' };
  test.each<[what: string, expected: string, judged?: Partial<OrderFacts>, settings?: object]>([
    ['the fixture, on its way', 'open until 11-25T09:12'],
    ['the fixture, delivered', atArrival, { fulfillments: [parcel(came)] }],
    ['no time of delivery', atArrival, { fulfillments: [parcel({ displayStatus: 'DELIVERED', updatedAt: arrived })] }],
    [
      'fetched by the customer',
      atArrival,
      { fulfillments: [parcel({ displayStatus: 'PICKED_UP', updatedAt: arrived })] },
    ],
    [
      'ready to be fetched',
      'open until 11-25T09:12',
      { fulfillments: [parcel({ displayStatus: 'READY_FOR_PICKUP' })] },
    ],
    ['no word, and the time is over', `closed ${first} 11-21T09:12`, {}, { deliveredWithin: '3d' }],
    ['no word, to the millisecond', `closed ${first} 11-21T10:00`, {}, { deliveredWithin: '3d48m' }],
    [
      'given up by the carrier',
      'open',
      { fulfillments: [parcel({ displayStatus: 'FAILURE' })] },
      { deliveredWithin: '3d' },
    ],
    [
      'not delivered',
      'open',
      { fulfillments: [parcel({ displayStatus: 'NOT_DELIVERED' })] },
      { deliveredWithin: '3d' },
    ],
    ['a download', atFirst, { fulfillments: [parcel({ requiresShipping: false })] }],
    ['sold over the counter', atFirst, { sourceName: 'pos' }],
    [
      'sold in a shop and sent',
      'open until 11-25T09:12',
      { sourceName: 'pos', fulfillments: [parcel({ displayStatus: 'IN_TRANSIT' })] },
    ],
    ['one of two there', 'open until 11-26T10:00', { fulfillments: [parcel(came), second()] }],
    ['one of two there is enough', atArrival, { fulfillments: [parcel(), second(came)] }, firstParcel],
    [
      'both there',
      `closed ${other} 11-20T18:00`,
      { fulfillments: [parcel(came), second({ ...came, deliveredAt: at('20T18:00') })] },
    ],
    [
      'one there, one lost',
      'open',
      { fulfillments: [parcel(came), second({ displayStatus: 'FAILURE' })] },
      { deliveredWithin: '1d' },
    ],
    [
      'one lost, one without word',
      `closed ${first} 11-20T10:00`,
      { fulfillments: [parcel({ displayStatus: 'FAILURE' }), second()] },
      { ...firstParcel, deliveredWithin: '1d' },
    ],
    [
      'the first on its way, more to come',
      'open until 11-25T09:12',
      { displayFulfillmentStatus: 'PARTIALLY_FULFILLED' },
      firstParcel,
    ],
    [
      'all there of what was handed over',
      'open',
      { displayFulfillmentStatus: 'PARTIALLY_FULFILLED', fulfillments: [parcel(came)] },
    ],
  ])('it judges %s', (_what, expected, judged, settings) =>
    expect(judge(judged, { trigger: 'delivered', ...settings })).toBe(expected),
  );

  test('it is the same closing by a word of delivery and by none', () => {
    const settings = settingsOf({ trigger: 'delivered' });
    const [word, none] = [order({ fulfillments: [parcel(came)] }), order()].map((one) =>
      stateOf(one, settings, new Date(now.getTime() + 30 * day)),
    );
    expect(word).toMatchObject({ is: 'closed', closing: first });
    expect(none).toMatchObject({ is: 'closed', closing: first });
  });
});

describe('paid', () => {
  test.each<[what: string, judged: Partial<OrderFacts>, expected: string]>([
    ['the fixture', {}, 'closed p77 11-16T18:03'],
    ['on account', { displayFinancialStatus: 'PENDING' }, 'open'],
    [
      'authorised',
      { displayFinancialStatus: 'AUTHORIZED', transactions: [payment('77', { kind: 'AUTHORIZATION' })] },
      'open',
    ],
    ['in part', { displayFinancialStatus: 'PARTIALLY_PAID' }, 'open'],
    [
      'captured',
      {
        transactions: [payment('9', { kind: 'AUTHORIZATION' }), payment('10', { kind: 'CAPTURE', processedAt: sent })],
      },
      'closed p10 11-18T09:12',
    ],
    [
      'at the second try',
      { transactions: [payment('9', { status: 'FAILURE' }), payment('10', { processedAt: sent })] },
      'closed p10 11-18T09:12',
    ],
    ['in two parts', { transactions: [payment('10', { processedAt: sent }), payment('9')] }, 'closed p10 11-18T09:12'],
    ['for nothing', { transactions: [] }, 'closed whole 11-16T18:03'],
    [
      'and refunded in part',
      {
        displayFinancialStatus: 'PARTIALLY_REFUNDED',
        transactions: [payment('77'), payment('78', { kind: 'REFUND' })],
      },
      'closed p77 11-16T18:03',
    ],
  ])('it judges one paid %s', (_what, judged, expected) => expect(judge(judged, { trigger: 'paid' })).toBe(expected));
});

test('it has one closing however many parcels come, in whatever order, and whatever the carriers say', () => {
  const status = fc.constantFrom(undefined, 'FULFILLED', 'IN_TRANSIT', 'DELIVERED', 'FAILURE', 'PICKED_UP', 'DELAYED');
  const parcels = fc.array(fc.record({ displayStatus: status, hours: fc.nat(500) }), { minLength: 1, maxLength: 8 });
  const choices = fc.record({
    trigger: fc.constantFrom('fulfilled', 'delivered'),
    parcels: fc.constantFrom('first', 'all'),
  });
  fc.assert(
    fc.property(parcels, choices, fc.nat(1_000), (all, choice, hours) => {
      const list = all.map(({ displayStatus, hours }, index) =>
        parcel({
          id: `gid://shopify/Fulfillment/${index + 1}`,
          displayStatus,
          createdAt: new Date(sent.getTime() + hours * 3_600_000),
        }),
      );
      const when = new Date(sent.getTime() + hours * 3_600_000);
      const [one, turned] = [list, list.toReversed()].map((fulfillments) =>
        stateOf(order({ fulfillments }), settingsOf(choice), when),
      );
      expect(one).toEqual(turned);
      const name = choice.parcels === 'first' ? 'f1' : `f${list.length}`;
      if (one?.is === 'closed') expect(one.closing).toBe(name);
      // Time alone closes what it says it will.
      if (one?.is === 'open' && one.readAgainAt !== undefined) {
        expect(one.readAgainAt.getTime()).toBeGreaterThan(when.getTime());
        expect(stateOf(order({ fulfillments: list }), settingsOf(choice), one.readAgainAt)).toMatchObject({
          closing: name,
        });
      }
    }),
  );
});
