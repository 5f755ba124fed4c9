import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StandinRequest } from '../../../../standins/kit/message.ts';
import { type StandinServer, serve } from '../../../../standins/kit/server.ts';
import { startWooCommerceStandin } from '../../../../standins/woocommerce/standin.ts';

/* What WooCommerce refuses or does in a way of its own, and the connector never provokes. */

type Started = Awaited<ReturnType<typeof startWooCommerceStandin>>;
let shop: Started;
let receiver: StandinServer;
let got: StandinRequest[];
let answer: number;
const clock = { now: new Date(0) };

beforeEach(async () => {
  clock.now = new Date('2026-11-20T12:00:00Z');
  [got, answer] = [[], 200];
  shop = await startWooCommerceStandin({ now: () => clock.now });
  receiver = await serve((req) => {
    got.push(req);
    return { status: answer };
  });
});
afterEach(async () => {
  await shop.close();
  await receiver.close();
});

async function call(what: string, body?: unknown) {
  const [method = '', path = ''] = what.split(' ');
  const headers = { 'content-type': 'application/json', authorization: `Basic ${btoa('ck_standin:cs_standin')}` };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(shop.url + path, { method, headers, ...sent });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}
const orders = '/wp-json/wc/v3/orders';
const hooks = '/wp-json/wc/v3/webhooks';
const add = (more: Parameters<Started['standin']['addOrder']>[0] = {}) => shop.standin.addOrder(more).id;

const invalid = 'rest_invalid_param';
const noTopic = { topic: 'order.solved', delivery_url: 'https://a.example/' };
const noUrl = { topic: 'order.updated', delivery_url: 'closeloop' };
test.each<[what: string, call: string, status: number, code: string, body?: unknown]>([
  ['more than 100 a page', `GET ${orders}?per_page=101`, 400, invalid],
  ['page 0', `GET ${orders}?page=0`, 400, invalid],
  ['a status nobody registered', `GET ${orders}?status=delivered`, 400, invalid],
  ['one of two statuses unknown', `GET ${orders}?status=completed,delivered`, 400, invalid],
  ['a date that is none', `GET ${orders}?modified_after=yesterday`, 400, invalid],
  ['an unknown order of rows', `GET ${orders}?orderby=total`, 400, invalid],
  ['an order that is not there', `GET ${orders}/9`, 404, 'woocommerce_rest_shop_order_invalid_id'],
  ['a route that is not there', 'GET /wp-json/wc/v3/ordners', 404, 'rest_no_route'],
  [
    'more than 100',
    `POST ${orders}/batch`,
    413,
    'woocommerce_rest_request_entity_too_large',
    { update: Array(101).fill({ id: 1043 }) },
  ],
  ['an unknown status', `PUT ${orders}/1043`, 400, invalid, { status: 'done' }],
  ['meta data without a key', `PUT ${orders}/1043`, 400, invalid, { meta_data: [{ value: 'x' }] }],
  ['an empty note', `POST ${orders}/1043/notes`, 400, 'rest_missing_callback_param', {}],
  ['an unknown topic', `POST ${hooks}`, 400, 'woocommerce_rest_invalid_webhook_topic', noTopic],
  ['a webhook to nowhere', `POST ${hooks}`, 400, 'woocommerce_rest_invalid_webhook_delivery_url', noUrl],
  ['a missing webhook', `PUT ${hooks}/9`, 404, 'woocommerce_rest_shop_webhook_invalid_id', { status: 'active' }],
])('it refuses %s', async (_what, what, status, code, body) => {
  add({ id: 1043 });
  const { status: got, json } = await call(what, body);
  expect([got, json]).toMatchObject([status, { code, data: { status } }]);
});

describe('webhooks', () => {
  const webhook = () =>
    shop.standin.addWebhook({ topic: 'order.updated', url: `${receiver.url}/hooks/shop`, secret: 'wc-secret' }).id;
  const state = (id: number) => shop.standin.webhooks().find((one) => one.id === id)?.status;

  test('it tries once, and gives the webhook up at the seventh failure after the last success', async () => {
    const id = webhook();
    const order = add();
    const deliver = async (status: number) => {
      answer = status;
      await shop.standin.setMeta({ id: order, key: 'x', value: String(status) });
    };
    for (const status of [500, 404, 401, 503, 410, 302, 500, 500, 500, 500, 500, 500]) await deliver(status);
    expect([got.length, state(id)]).toEqual([12, 'active']);
    await deliver(500);
    await deliver(200);
    expect([got.length, state(id)]).toEqual([13, 'disabled']);
    // Switching on again forgets no failure: one more, and it is off.
    shop.standin.changeWebhook({ id, status: 'active' });
    await deliver(500);
    expect(state(id)).toBe('disabled');
  });

  test('it pings a webhook made by the API, form-encoded and unsigned, whatever comes back, and hides the secret', async () => {
    answer = 500;
    const hook = { topic: 'order.updated', delivery_url: `${receiver.url}/hooks/shop`, secret: 'hidden' };
    const { status, text, json } = await call(`POST ${hooks}`, hook);
    await shop.standin.idle();
    expect([status, text.includes('hidden'), got[0]?.raw.toString()]).toEqual([201, false, `webhook_id=${json.id}`]);
    expect(got[0]?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(got[0]?.headers['x-wc-webhook-signature']).toBeUndefined();
  });
});

test.each([
  ['2026-11-20T12:00:00&dates_are_gmt=true', 1],
  ['2026-11-20T12:00:01&dates_are_gmt=true', 0],
  ['2026-11-20T13:00:00', 1],
  ['2026-11-20T13:00:01', 0],
])('modified_after=%s, in whole seconds and of the shop unless of GMT, finds %i', async (after, count) => {
  clock.now = new Date('2026-11-20T12:00:01.500Z');
  add();
  expect((await call(`GET ${orders}?modified_after=${after}`)).json).toHaveLength(count);
});
