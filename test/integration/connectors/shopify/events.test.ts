import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { events } from '../../../../connectors/shopify/events.ts';
import type { Delivery, SourceEvent } from '../../../../core/connector/contract.ts';
import { jsonBody } from '../../../../core/connector/json-body.ts';
import {
  delivery,
  fulfillmentDelivered,
  orderFulfilled,
  receivedAt,
  settingsOf,
  told,
  vectorShop,
  vectors,
} from '../../../support/connectors/shopify/fixture.ts';

type Choice = { trigger?: 'fulfilled' | 'delivered' | 'paid'; parcels?: 'first' | 'all' };
const settings = settingsOf({ trigger: 'delivered' });
const order = '5791244910855';

const eventsIn = (one: Delivery, choice = settings) => events(jsonBody(one.raw), one, choice);
const said = (topic: string, body: unknown, choice: Choice = {}) => eventsIn(told(topic, body), settingsOf(choice));
/** In short: `closed! 123` for one event that is certain, the reason for one that was left out. */
function short(topic: string, body: unknown, choice: Choice = {}): string {
  const found = said(topic, body, choice);
  if (!found.ok) return `unreadable: ${found.why}`;
  const [event] = found.events;
  if (event === undefined) return found.ignored.map(({ why }) => why).join();
  if (event.kind === 'closed' || event.kind === 'changed')
    return `${event.kind}${event.certain ? '!' : ''} ${event.recordId}`;
  return event.kind;
}

const ofVector = (name: string) => {
  const vector = vectors.shopify.find((one) => one.name === name);
  if (vector === undefined) throw new Error(`there is no vector "${name}"`);
  return eventsIn(delivery(vector.headers, Buffer.from(vector.body_base64, 'base64')));
};
const one = (found: ReturnType<typeof eventsIn>): SourceEvent | undefined => (found.ok ? found.events[0] : undefined);

describe('the vectors', () => {
  test.each<[name: string, event: Partial<SourceEvent>]>([
    [
      'order fulfilled, whole fixture, Rails-style escaping',
      {
        kind: 'closed',
        recordId: order,
        key: 'b54557e4-bdd9-4b37-8a5f-000000000002',
        at: new Date('2026-11-18T09:12:46.304Z'),
      },
    ],
    [
      'lower-case header names (HTTP/2)',
      { kind: 'closed', recordId: order, key: 'b54557e4-bdd9-4b37-8a5f-000000000003' },
    ],
    ['fulfillment event delivered', { kind: 'closed', recordId: order }],
    ['refunds/create', { kind: 'changed', recordId: order }],
    [
      'customers/redact',
      {
        kind: 'erase',
        personIds: ['7304411152583'],
        recordIds: [order, '5791244910001'],
        contacts: ['jordis.petersen@example.com', '+491713920012'],
      },
    ],
    ['shop/redact', { kind: 'erase', everybody: true }],
  ])('it reads "%s"', (name, event) => expect(one(ofVector(name))).toMatchObject(event));

  test('it leaves a test order out, whose id has more digits than a number', () => {
    const found = ofVector('id above 2^53 and a test order');
    expect(found).toEqual({ ok: true, events: [], ignored: [{ what: 'orders/fulfilled', why: 'a test order' }] });
  });

  test('it says what a person has to do about a request for data, and names nobody', () => {
    const found = ofVector('customers/data_request');
    expect(found).toMatchObject({ events: [], ignored: [{ what: 'customers/data_request', act: true }] });
    expect(JSON.stringify(found)).toMatch(/30 days.*closeloop contact show/);
    expect(JSON.stringify(found)).not.toMatch(/jordis|1713920012/);
  });

  test.each(vectors.shopify_sequences.map((one) => [one.name, one] as const))(
    'it tells deliveries apart: %s',
    (_name, sequence) => {
      const choice = settingsOf({ trigger: 'fulfilled', parcels: 'first' });
      const bodies: Record<string, unknown> = {
        'orders/fulfilled': orderFulfilled,
        'fulfillments/create': { order_id: orderFulfilled.id, status: 'success' },
      };
      const keys = sequence.deliveries.map(({ topic, webhook_id, event_id }) => {
        const headers = { 'x-shopify-webhook-id': webhook_id, 'x-shopify-event-id': event_id };
        const found = eventsIn(told(topic, bodies[topic], headers), choice);
        return found.ok ? found.events.map(({ key }) => key).join() : '';
      });
      const duplicate = keys[0] === keys[1];
      expect(keys.join('')).not.toBe('');
      expect(duplicate).toBe(sequence.expect[1] === 'duplicate');
    },
  );
});

describe('topics', () => {
  const parcel = (more: object = {}) => ({ ...fulfillmentDelivered, shipment_status: null, ...more });
  const never = 'this topic says nothing about closing';
  test.each<[topic: string, body: unknown, choice: Choice, expected: string]>([
    ['orders/fulfilled', orderFulfilled, { trigger: 'fulfilled' }, `closed! ${order}`],
    ['orders/fulfilled', orderFulfilled, { trigger: 'delivered' }, `closed ${order}`],
    ['orders/fulfilled', orderFulfilled, { trigger: 'paid' }, 'the trigger is paid'],
    ['orders/paid', orderFulfilled, { trigger: 'paid' }, `closed! ${order}`],
    ['orders/paid', orderFulfilled, { trigger: 'delivered' }, 'the trigger is delivered'],
    ['orders/cancelled', orderFulfilled, {}, `changed ${order}`],
    ['orders/delete', { id: orderFulfilled.id }, {}, `changed ${order}`],
    ['fulfillments/update', fulfillmentDelivered, { trigger: 'delivered' }, `closed ${order}`],
    ['fulfillments/update', parcel({ shipment_status: 'picked_up' }), {}, `closed ${order}`],
    ['fulfillments/update', fulfillmentDelivered, { trigger: 'fulfilled' }, 'it hands nothing over'],
    ['fulfillments/update', fulfillmentDelivered, { trigger: 'paid' }, 'the trigger is paid'],
    ['fulfillments/update', parcel({ shipment_status: 'in_transit' }), {}, 'nothing has arrived by it'],
    ['fulfillments/update', parcel({ status: 'cancelled' }), { trigger: 'fulfilled' }, `changed ${order}`],
    ['fulfillments/create', parcel(), {}, 'nothing has arrived by it'],
    ['fulfillments/create', parcel(), { parcels: 'first' }, `closed ${order}`],
    ['fulfillments/create', parcel(), { trigger: 'fulfilled', parcels: 'first' }, `closed ${order}`],
    ['fulfillment_events/create', { order_id: 5, status: 'delivered' }, {}, 'closed 5'],
    ['fulfillment_events/create', { order_id: 5, status: 'in_transit' }, {}, 'nothing has arrived by it'],
    ['orders/updated', orderFulfilled, {}, never],
    ['orders/create', orderFulfilled, {}, never],
    ['Order', {}, {}, never],
    ['app/uninstalled', { myshopify_domain: vectorShop }, {}, 'revoked'],
    ['app/uninstalled', { myshopify_domain: 'other.myshopify.com' }, {}, 'it is about another shop'],
    ['app/scopes_update', { current: ['read_orders'] }, {}, 'revoked'],
    [
      'app/scopes_update',
      { current: ['write_orders', 'read_customers', 'read_fulfillments', 'read_locations'] },
      {},
      'all that closeloop needs is still allowed',
    ],
    ['orders/fulfilled', { id: 0 }, {}, 'unreadable: the body is not of its topic'],
    ['orders/fulfilled', { name: '#1' }, {}, 'unreadable: the body is not of its topic'],
    ['refunds/create', {}, {}, 'unreadable: the body is not of its topic'],
  ])('it reads %s %j with %j', (topic, body, choice, expected) => expect(short(topic, body, choice)).toBe(expected));

  test('it names the rights that were taken away', () => {
    expect(
      one(said('app/scopes_update', { current: ['write_orders', 'read_customers', 'read_locations'] })),
    ).toMatchObject({
      what: 'rights were taken away: give the app read_fulfillments again',
    });
  });
});

describe('privacy', () => {
  const shop_domain = vectorShop;
  test.each<[what: string, topic: string, body: unknown, expected: string]>([
    ['another shop', 'customers/redact', { shop_domain: 'other.myshopify.com' }, 'it is about another shop'],
    ['another shop', 'shop/redact', { shop_domain: 'other.myshopify.com' }, 'it is about another shop'],
    // The topic isn't signed: the body of one customer under it must not erase everybody.
    ['one customer', 'shop/redact', { shop_domain, customer: { id: 1 } }, 'a shop/redact that names a customer'],
    ['some orders', 'shop/redact', { shop_domain, orders_to_redact: [1] }, 'a shop/redact that names a customer'],
    [
      'a request for data',
      'customers/redact',
      { shop_domain, customer: { id: 1 }, orders_requested: [1], data_request: { id: 9 } },
      'a customers/redact that is a request for data',
    ],
    ['no shop', 'shop/redact', {}, 'unreadable: the body is not of its topic'],
  ])('it erases nobody for %s in a %s', (_what, topic, body, expected) => expect(short(topic, body)).toBe(expected));

  test.each<[body: object, event: object]>([
    [{ customer: { id: 7, email: null, phone: '' } }, { personIds: ['7'], recordIds: [], contacts: [] }],
    [
      { customer: null, orders_to_redact: [5] },
      { personIds: [], recordIds: ['5'], contacts: [] },
    ],
    [{ customer: { email: 'a@b.example' } }, { personIds: [], recordIds: [], contacts: ['a@b.example'] }],
  ])('it finds whom to forget in %j', (body, event) =>
    expect(one(said('customers/redact', { shop_domain, ...body }))).toMatchObject(event),
  );
});

test('it keeps every digit of every id', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }), (id) => {
      expect(short('orders/fulfilled', `{"id":${id}}`, { trigger: 'fulfilled' })).toBe(`closed! ${id}`);
    }),
  );
});

test('it tells the time of receipt and a key from the body where Shopify leaves them out', () => {
  const [first, again, other] = [{ id: 5 }, { id: 5 }, { id: 6 }].map((body) => one(said('orders/fulfilled', body)));
  expect(first?.at).toEqual(receivedAt);
  expect(first?.key).toBe(again?.key);
  expect(first?.key).not.toBe(other?.key);
});
