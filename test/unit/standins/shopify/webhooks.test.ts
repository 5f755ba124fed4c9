import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { railsJson } from '../../../../standins/shopify/payloads.ts';
import { createShopifyStandin, type ShopifyStandin } from '../../../../standins/shopify/standin.ts';

interface Came {
  topic: string;
  headers: Headers;
  body: string;
}

let came: Came[];
let answers: number[];
let slept: number[];
let standin: ShopifyStandin;
const uri = 'https://closeloop.example/hooks/shop';

beforeEach(() => {
  [came, answers, slept] = [[], [], []];
  standin = createShopifyStandin({
    now: () => new Date('2026-11-20T12:00:00Z'),
    sleep: async (ms) => void slept.push(ms),
    async fetch(_input, init) {
      const headers = new Headers(init?.headers);
      came.push({ topic: headers.get('x-shopify-topic') ?? '', headers, body: String(init?.body) });
      return new Response(null, { status: answers.shift() ?? 200 });
    },
  });
});

const subscribe = (...topics: string[]) => {
  for (const topic of topics) standin.addSubscription({ topic, uri });
};
const topics = () => came.map(({ topic }) => topic);

test('it signs the bytes with the secret of the app, and names the delivery', async () => {
  subscribe('ORDERS_FULFILLED', 'FULFILLMENTS_CREATE');
  await standin.fulfil({ id: standin.addOrder({ id: '820982911946154508', note: 'a/b & <c>' }).id });
  const [parcel, order] = came;
  expect(topics()).toEqual(['fulfillments/create', 'orders/fulfilled']);
  expect(order?.body).toContain(
    '"id":820982911946154508,"admin_graphql_api_id":"gid:\\/\\/shopify\\/Order\\/820982911946154508"',
  );
  expect(order?.body).toContain('"note":"a\\/b \\u0026 \\u003cc\\u003e"');
  const digest = createHmac('sha256', 'shopify-client-secret')
    .update(order?.body ?? '')
    .digest('base64');
  expect(order?.headers.get('x-shopify-hmac-sha256')).toBe(digest);
  expect(order?.headers.get('x-shopify-shop-domain')).toBe('acme.myshopify.com');
  expect(order?.headers.get('x-shopify-triggered-at')).toBe('2026-11-20T12:00:00.000812345Z');
  // One action, one event; every delivery is its own.
  expect(order?.headers.get('x-shopify-event-id')).toBe(parcel?.headers.get('x-shopify-event-id'));
  expect(order?.headers.get('x-shopify-webhook-id')).not.toBe(parcel?.headers.get('x-shopify-webhook-id'));
});

test('it tells of parcels, payments, refunds and cancellations', async () => {
  subscribe(
    'ORDERS_FULFILLED',
    'ORDERS_PARTIALLY_FULFILLED',
    'FULFILLMENTS_UPDATE',
    'FULFILLMENT_EVENTS_CREATE',
    'ORDERS_PAID',
  );
  subscribe('ORDERS_CANCELLED', 'REFUNDS_CREATE', 'ORDERS_DELETE');
  const { id } = standin.addOrder({ payment: 'pending', lines: [{}, {}] });
  await standin.fulfil({ id, lines: [0] });
  await standin.fulfil({ id });
  await standin.parcelNews({ id, parcel: 0, status: 'delivered' });
  await standin.pay({ id });
  await standin.refund({ id, lines: [1] });
  await standin.refund({ id });
  await standin.cancel({ id });
  await standin.remove({ id });
  expect(topics()).toEqual([
    'orders/partially_fulfilled',
    'orders/fulfilled',
    'fulfillment_events/create',
    'fulfillments/update',
    'orders/paid',
    'refunds/create',
    'refunds/create',
    'orders/cancelled',
    'orders/delete',
  ]);
  expect(JSON.parse(came[3]?.body ?? '')).toMatchObject({
    order_id: Number(id),
    shipment_status: 'delivered',
    name: '#1042.1',
  });
  expect(came[2]?.body).toMatch(/"status":"delivered".*"happened_at":"2026-11-20T13:00:00\+01:00"/);
});

describe('failures', () => {
  test('it repeats a delivery eight times in about four hours, the same to the last byte, then removes the webhook', async () => {
    subscribe('ORDERS_FULFILLED');
    answers = Array(9).fill(500);
    const [result] = await standin.fulfil({ id: standin.addOrder().id });
    expect(result).toMatchObject({ delivered: false });
    expect(came).toHaveLength(9);
    expect(new Set(came.map(({ headers, body }) => body + headers.get('x-shopify-webhook-id'))).size).toBe(1);
    const total = slept.reduce((sum, ms) => sum + ms, 0);
    expect(total / 3_600_000).toBeCloseTo(4, 0);
    expect(standin.subscriptions()).toEqual([]);
  });

  test('it takes a redirect for a failure, and anything of 2xx for a success', async () => {
    subscribe('ORDERS_FULFILLED');
    answers = [302, 204];
    await standin.fulfil({ id: standin.addOrder().id });
    expect(came).toHaveLength(2);
    expect(standin.subscriptions()).toHaveLength(1);
  });

  test('it keeps what is declared in the app', async () => {
    standin.addSubscription({ topic: 'ORDERS_FULFILLED', uri, ofApp: true });
    answers = Array(9).fill(503);
    await standin.fulfil({ id: standin.addOrder().id });
    expect(standin.subscriptions()).toHaveLength(1);
  });
});

test('it filters by fields of the payload and leaves out what is not asked for', async () => {
  standin.addSubscription({
    topic: 'FULFILLMENTS_UPDATE',
    uri,
    filter: 'shipment_status:delivered',
    includeFields: ['order_id', 'updated_at'],
  });
  const { id } = standin.addOrder();
  await standin.fulfil({ id });
  await standin.parcelNews({ id, status: 'in_transit' });
  await standin.parcelNews({ id, status: 'delivered' });
  expect(came).toHaveLength(1);
  expect(Object.keys(JSON.parse(came[0]?.body ?? ''))).toEqual(['order_id', 'updated_at']);
});

test('it tells of privacy, rights and the end to the addresses of the app', async () => {
  subscribe('APP_UNINSTALLED', 'APP_SCOPES_UPDATE');
  await expect(standin.redactShop()).rejects.toThrow('no compliance webhooks');
  standin.setCompliance({ uri });
  const customerId = standin.addCustomer({ id: '7304411152583', email: 'a@b.example', phone: '+49171' }).id;
  standin.addOrder({ id: '5791244910855', customerId });
  await standin.requestData({ customerId });
  await standin.redactCustomer({ customerId });
  await standin.redactShop();
  await standin.changeScopes(['read_orders']);
  await standin.uninstall();
  expect(topics()).toEqual([
    'customers/data_request',
    'customers/redact',
    'shop/redact',
    'app/scopes_update',
    'app/uninstalled',
  ]);
  expect(JSON.parse(came[1]?.body ?? '')).toEqual({
    shop_id: 954889,
    shop_domain: 'acme.myshopify.com',
    customer: { id: 7304411152583, email: 'a@b.example', phone: '+49171' },
    orders_to_redact: [5791244910855],
  });
});

test('it echoes a write as orders/updated, and nothing where nothing changed', async () => {
  subscribe('ORDERS_UPDATED');
  const { id } = standin.addOrder();
  const write = () =>
    standin.handle({
      method: 'POST',
      path: '/admin/api/2026-10/graphql.json',
      query: new URLSearchParams(),
      headers: { 'x-shopify-access-token': standin.accessToken },
      raw: Buffer.from(
        JSON.stringify({
          query: `mutation { tagsAdd(id: "gid://shopify/Order/${id}", tags: ["a"]) { userErrors { field } } }`,
        }),
      ),
    });
  await write();
  await write();
  await standin.idle();
  expect(topics()).toEqual(['orders/updated']);
});

test('it writes numbers that JavaScript could not', () => {
  expect(railsJson({ text: '</a&b>', list: [1] })).toBe('{"text":"\\u003c\\/a\\u0026b\\u003e","list":[1]}');
});
