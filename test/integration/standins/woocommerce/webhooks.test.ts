import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { StandinRequest } from '../../../../standins/kit/message.ts';
import { type StandinServer, serve } from '../../../../standins/kit/server.ts';
import { signWooCommerce } from '../../../../standins/woocommerce/signature.ts';
import { startWooCommerceStandin } from '../../../../standins/woocommerce/standin.ts';
import { isDeliverable } from '../../../../standins/woocommerce/webhooks.ts';

const file = z
  .object({
    woocommerce: z.array(
      z.object({
        name: z.string(),
        secret: z.string(),
        headers: z.record(z.string(), z.string()),
        expect: z.object({ valid: z.boolean() }),
        body_base64: z.string(),
      }),
    ),
  })
  .parse(
    JSON.parse(
      readFileSync(new URL('../../../support/connectors/woocommerce/vectors/webhooks.json', import.meta.url), 'utf8'),
    ),
  );

test.each(file.woocommerce.filter((vector) => vector.expect.valid))('it signs as the vector says: $name', (vector) => {
  const raw = Buffer.from(vector.body_base64, 'base64');
  expect(signWooCommerce(vector.secret, raw)).toBe(vector.headers['X-WC-Webhook-Signature']);
});

test('it decodes the entities of a stored secret before it signs', () => {
  expect(signWooCommerce('Tom &amp; &quot;Jerry&quot; &lt;3', 'x')).toBe(signWooCommerce('Tom & "Jerry" <3', 'x'));
});

type Started = Awaited<ReturnType<typeof startWooCommerceStandin>>;
let shop: Started;
let receiver: StandinServer;
let got: StandinRequest[];
let status: number;
const clock = { now: new Date('2026-11-20T12:00:00Z') };

beforeEach(async () => {
  got = [];
  status = 200;
  shop = await startWooCommerceStandin({ now: () => clock.now });
  receiver = await serve((req) => {
    got.push(req);
    return { status };
  });
});
afterEach(async () => {
  await shop.close();
  await receiver.close();
});

const webhook = (topic = 'order.updated') =>
  shop.standin.addWebhook({ topic, url: `${receiver.url}/hooks/shop`, secret: 'wc-secret' }).id;
const state = (id: number) => shop.standin.webhooks().find((one) => one.id === id)?.status;
const bodies = () => got.map(({ raw }) => JSON.parse(raw.toString('utf8')));

test('it delivers an order signed, with its headers', async () => {
  const id = webhook();
  const order = shop.standin.addOrder({}).id;
  const [result] = await shop.standin.complete(order);
  expect(result).toMatchObject({ delivered: true, status: 200 });
  const [delivery] = got;
  if (delivery === undefined) return expect.fail('nothing was delivered');
  expect(delivery.headers).toMatchObject({
    'content-type': 'application/json',
    'x-wc-webhook-source': `${shop.url}/`,
    'x-wc-webhook-topic': 'order.updated',
    'x-wc-webhook-resource': 'order',
    'x-wc-webhook-event': 'updated',
    'x-wc-webhook-id': String(id),
    'x-wc-webhook-signature': signWooCommerce('wc-secret', delivery.raw),
  });
  expect(bodies()).toMatchObject([{ id: order, status: 'completed' }]);
});

describe('what happens to an order', () => {
  const rows: [what: string, topic: string, act: (id: number) => Promise<unknown>, body: object][] = [
    ['completed', 'order.updated', (id) => shop.standin.complete(id), { status: 'completed' }],
    ['refunded', 'order.updated', (id) => shop.standin.refund({ id }), { status: 'refunded' }],
    [
      'refunded in part',
      'order.updated',
      (id) => shop.standin.refund({ id, amount: '1.00' }),
      { status: 'processing', refunds: [{ total: '-1.00' }] },
    ],
    [
      'saved by a plugin',
      'order.updated',
      (id) => shop.standin.setMeta({ id, key: 'x', value: 'y' }),
      { meta_data: [{ key: 'x' }] },
    ],
    [
      'with another customer and address',
      'order.updated',
      (id) => shop.standin.change({ id, customerId: 57, billing: { email: 'b@example.com' } }),
      { status: 'processing', customer_id: 57, billing: { email: 'b@example.com' } },
    ],
    ['put into the trash', 'order.deleted', (id) => shop.standin.trash(id), {}],
    ['deleted', 'order.deleted', (id) => shop.standin.remove(id), {}],
    [
      'completed, as an action',
      'action.woocommerce_order_status_completed',
      (id) => shop.standin.complete(id),
      { action: 'woocommerce_order_status_completed', arg: 7 },
    ],
  ];
  test.each(rows)('it tells of one %s', async (_what, topic, act, body) => {
    shop.standin.addOrder({ id: 7 });
    webhook(topic);
    await act(7);
    expect(bodies()).toMatchObject([body]);
    if (topic === 'order.deleted') expect(bodies()).toEqual([{ id: 7 }]);
  });

  test('it tells of one written by the API, and of one made', async () => {
    webhook();
    webhook('order.created');
    const { id } = shop.standin.addOrder({});
    await fetch(`${shop.url}/wp-json/wc/v3/orders/${id}`, {
      method: 'PUT',
      body: JSON.stringify({ meta_data: [{ key: 'feedback_grade', value: '5' }] }),
      headers: { authorization: `Basic ${btoa('ck_standin:cs_standin')}` },
    });
    await shop.standin.idle();
    expect(got.map(({ headers }) => headers['x-wc-webhook-topic'])).toEqual(['order.created', 'order.updated']);
  });
});

test('it builds what it sends when it sends it, and sends equal ones once', async () => {
  webhook();
  const { id } = shop.standin.addOrder({});
  await Promise.all([shop.standin.complete(id), shop.standin.refund({ id })]);
  expect(bodies()).toMatchObject([{ status: 'refunded' }]);
});

test('it gives two orders in one second the same delivery id', async () => {
  webhook();
  const ids = [shop.standin.addOrder({}).id, shop.standin.addOrder({}).id];
  await shop.standin.completeAll({ ids });
  expect(new Set(got.map(({ headers }) => headers['x-wc-webhook-delivery-id'])).size).toBe(1);
  expect(got).toHaveLength(2);
});

test('it tries once, and gives the webhook up at the seventh failure after the last success', async () => {
  const id = webhook();
  const order = shop.standin.addOrder({}).id;
  const deliver = async (answer: number) => {
    status = answer;
    await shop.standin.setMeta({ id: order, key: 'x', value: String(answer) });
  };
  for (const answer of [500, 404, 401, 503, 410, 302]) await deliver(answer);
  expect([got.length, state(id)]).toEqual([6, 'active']);
  for (let i = 0; i < 6; i++) await deliver(500);
  expect(state(id)).toBe('active');
  await deliver(500);
  expect(state(id)).toBe('disabled');
  await deliver(200);
  expect(got).toHaveLength(13);
  // Switching on again forgets no failure: one more, and it is off.
  shop.standin.changeWebhook({ id, status: 'active' });
  await deliver(500);
  expect(state(id)).toBe('disabled');
});

test('it pings a webhook made by the API, form-encoded and unsigned, whatever comes back', async () => {
  status = 500;
  const response = await fetch(`${shop.url}/wp-json/wc/v3/webhooks`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('ck_standin:cs_standin')}` },
    body: JSON.stringify({ topic: 'order.updated', delivery_url: `${receiver.url}/hooks/shop`, secret: 'hidden' }),
  });
  const made = await response.text();
  await shop.standin.idle();
  expect(response.status).toBe(201);
  expect(made).not.toContain('hidden');
  expect(
    got.map(({ headers, raw }) => [headers['content-type'], headers['x-wc-webhook-signature'], raw.toString()]),
  ).toEqual([['application/x-www-form-urlencoded', undefined, `webhook_id=${JSON.parse(made).id}`]]);
});

test('it delivers an error, properly signed, when the owner of the webhook has lost their rights', async () => {
  webhook();
  shop.standin.changeSettings({ ownerLostRights: true });
  const { id } = shop.standin.addOrder({});
  await shop.standin.complete(id);
  expect(bodies()).toMatchObject([{ code: 'woocommerce_rest_cannot_view', data: { status: 401 } }]);
});

test('it loses what happens while its background jobs stand still', async () => {
  webhook();
  shop.standin.changeSettings({ deliveries: false });
  const { id } = shop.standin.addOrder({});
  await shop.standin.complete(id);
  shop.standin.changeSettings({ deliveries: true });
  await shop.standin.reopen(id);
  expect(bodies()).toMatchObject([{ status: 'processing' }]);
});

test('it delivers nothing to this machine when it is as strict as WordPress', async () => {
  const id = webhook();
  shop.standin.changeSettings({ localReceivers: false });
  const [result] = await shop.standin.setMeta({ id: shop.standin.addOrder({}).id, key: 'x', value: 'y' });
  expect([result?.delivered, got.length, state(id)]).toEqual([false, 0, 'active']);
});

test.each([
  ['https://closeloop.example/hooks', true],
  ['http://closeloop.example:8080/hooks', true],
  ['https://closeloop.example:8443/hooks', false],
  ['https://u:p@closeloop.example/hooks', false],
  ['ftp://closeloop.example/hooks', false],
  ['http://192.168.1.4/hooks', false],
  ['http://172.20.1.4/hooks', false],
  ['http://172.32.1.4/hooks', true],
  ['http://localhost/hooks', false],
  ['closeloop', false],
])('it delivers to %s: %s', (url, wanted) => expect(isDeliverable(url)).toBe(wanted));
