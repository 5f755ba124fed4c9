import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startWooCommerceStandin } from '../../../../standins/woocommerce/standin.ts';

type Started = Awaited<ReturnType<typeof startWooCommerceStandin>>;
let shop: Started;
const clock = { now: new Date('2026-11-20T12:00:00Z') };
const basic = (key = 'ck_standin', secret = 'cs_standin') => `Basic ${btoa(`${key}:${secret}`)}`;

beforeEach(async () => {
  clock.now = new Date('2026-11-20T12:00:00Z');
  shop = await startWooCommerceStandin({ now: () => clock.now });
});
afterEach(() => shop.close());

async function call(method: string, path: string, body?: unknown, authorization: string | null = basic()) {
  const response = await fetch(`${shop.url}${path}`, {
    method,
    redirect: 'manual',
    headers: { 'content-type': 'application/json', ...(authorization === null ? {} : { authorization }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}
const orders = '/wp-json/wc/v3/orders';
const webhooks = '/wp-json/wc/v3/webhooks';
const add = (more: Parameters<Started['standin']['addOrder']>[0] = {}) => shop.standin.addOrder(more).id;

describe('it refuses what WooCommerce refuses', () => {
  const id = 1043;
  const rows: [what: string, method: string, path: string, body: unknown, status: number, code: string][] = [
    ['more than 100 a page', 'GET', `${orders}?per_page=101`, undefined, 400, 'rest_invalid_param'],
    ['page 0', 'GET', `${orders}?page=0`, undefined, 400, 'rest_invalid_param'],
    ['a status nobody registered', 'GET', `${orders}?status=delivered`, undefined, 400, 'rest_invalid_param'],
    [
      'one of two statuses unknown',
      'GET',
      `${orders}?status=completed,delivered`,
      undefined,
      400,
      'rest_invalid_param',
    ],
    ['a date that is none', 'GET', `${orders}?modified_after=yesterday`, undefined, 400, 'rest_invalid_param'],
    ['an unknown order of rows', 'GET', `${orders}?orderby=total`, undefined, 400, 'rest_invalid_param'],
    ['an order that is not there', 'GET', `${orders}/9`, undefined, 404, 'woocommerce_rest_shop_order_invalid_id'],
    ['a route that is not there', 'GET', '/wp-json/wc/v3/ordners', undefined, 404, 'rest_no_route'],
    [
      'more than 100 in a batch',
      'POST',
      `${orders}/batch`,
      { update: Array.from({ length: 101 }, () => ({ id })) },
      413,
      'woocommerce_rest_request_entity_too_large',
    ],
    ['a move to an unknown status', 'PUT', `${orders}/${id}`, { status: 'done' }, 400, 'rest_invalid_param'],
    ['meta data without a key', 'PUT', `${orders}/${id}`, { meta_data: [{ value: 'x' }] }, 400, 'rest_invalid_param'],
    ['an empty note', 'POST', `${orders}/${id}/notes`, {}, 400, 'rest_missing_callback_param'],
    [
      'a webhook of an unknown topic',
      'POST',
      webhooks,
      { topic: 'order.solved', delivery_url: 'https://a.example/' },
      400,
      'woocommerce_rest_invalid_webhook_topic',
    ],
    [
      'a webhook to nowhere',
      'POST',
      webhooks,
      { topic: 'order.updated', delivery_url: 'closeloop' },
      400,
      'woocommerce_rest_invalid_webhook_delivery_url',
    ],
    [
      'a webhook that is not there',
      'PUT',
      `${webhooks}/9`,
      { status: 'active' },
      404,
      'woocommerce_rest_shop_webhook_invalid_id',
    ],
  ];
  test.each(rows)('it refuses %s', async (_what, method, path, body, status, code) => {
    add({ id });
    const answer = await call(method, path, body);
    expect([answer.status, answer.json.code, answer.json.data.status]).toEqual([status, code, status]);
  });

  const keys: [what: string, authorization: string | null, method: string, code: string][] = [
    ['nobody', null, 'GET', 'woocommerce_rest_cannot_view'],
    ['an unknown key', basic('ck_other'), 'GET', 'woocommerce_rest_authentication_error'],
    ['a wrong secret', basic('ck_standin', 'cs_other'), 'GET', 'woocommerce_rest_authentication_error'],
    ['a key that may only read', basic('ck_read', 'cs'), 'POST', 'woocommerce_rest_authentication_error'],
    ['a key that may only write', basic('ck_write', 'cs'), 'GET', 'woocommerce_rest_authentication_error'],
    ['a user who may not see orders', basic('ck_clerk', 'cs'), 'GET', 'woocommerce_rest_cannot_view'],
  ];
  test.each(keys)('it refuses %s with 401', async (_what, authorization, method, code) => {
    shop.standin.addKey({ key: 'ck_read', secret: 'cs', rights: 'read' });
    shop.standin.addKey({ key: 'ck_write', secret: 'cs', rights: 'write' });
    shop.standin.addKey({ key: 'ck_clerk', secret: 'cs', mayEditOrders: false });
    const path = method === 'GET' ? orders : `${orders}/batch`;
    const answer = await call(method, path, method === 'GET' ? undefined : { update: [] }, authorization);
    expect([answer.status, answer.json.code]).toEqual([401, code]);
  });
});

test('it answers as PHP does: slashes and umlauts escaped, an empty object as a list', async () => {
  add({ id: 7, billing: { city: 'Köln' } });
  const { text } = await call('GET', `${orders}/7`);
  expect(text).toContain('K\\u00f6ln');
  expect(text).toContain('http:\\/\\/127.0.0.1');
  expect((await call('POST', `${orders}/batch`, { update: [] })).text).toBe('[]');
});

test('it shows an order with every field of a real one that says something of its kind', async () => {
  const real = JSON.parse(
    readFileSync(
      new URL('../../../support/connectors/woocommerce/vectors/order-completed.json', import.meta.url),
      'utf8',
    ),
  );
  add({ id: 7, status: 'completed' });
  const { json } = await call('GET', `${orders}/7`);
  for (const [name, value] of Object.entries(json)) {
    expect([name, name in real, typeof value]).toEqual([name, true, typeof real[name]]);
  }
  expect([json.date_completed, json.date_completed_gmt]).toEqual(['2026-11-20T13:00:00', '2026-11-20T12:00:00']);
});

test('it lists by the time of the last change, after a whole second, and only the fields asked for', async () => {
  const [first, second] = [add(), add()];
  clock.now = new Date('2026-11-20T12:00:01.500Z');
  await shop.standin.complete(first);
  const query = 'modified_after=2026-11-20T12:00:00&dates_are_gmt=true&orderby=modified&order=asc&_fields=id,status';
  expect((await call('GET', `${orders}?${query}`)).json).toEqual([{ id: first, status: 'completed' }]);
  const local = query.replace('dates_are_gmt=true&', '').replace('T12', 'T13');
  expect((await call('GET', `${orders}?${local}`)).json).toHaveLength(1);
  expect((await call('GET', `${orders}?include=${second},${first},9`)).json).toHaveLength(2);
});

test('it gives ten a page unless asked for more, and counts them in headers', async () => {
  for (let i = 0; i < 12; i++) add();
  const { json, headers } = await call('GET', orders);
  expect([json.length, headers.get('x-wp-total'), headers.get('x-wp-totalpages')]).toEqual([10, '12', '2']);
  expect((await call('GET', `${orders}?page=2`)).json).toHaveLength(2);
});

test('it lists nothing from the trash, unless asked for it', async () => {
  const id = add();
  await shop.standin.trash(id);
  expect((await call('GET', `${orders}?include=${id}`)).json).toEqual([]);
  expect((await call('GET', `${orders}?status=trash`)).json).toHaveLength(1);
  await shop.standin.restore(id);
  expect((await call('GET', `${orders}?include=${id}`)).json).toMatchObject([{ status: 'processing' }]);
});

describe('meta data', () => {
  const put = async (id: number, meta_data: object[]) => (await call('PUT', `${orders}/${id}`, { meta_data })).json;
  const values = (id: number) => shop.standin.order(id).values;

  test('it updates a key, takes it away for null, and drops its doubles', async () => {
    const id = add({ meta: { a: '1' } });
    shop.standin.order(id).meta.push({ id: 99, key: 'a', value: '2' });
    await put(id, [
      { key: 'a', value: '3' },
      { key: 'b', value: 'x' },
    ]);
    expect(shop.standin.order(id).meta.map(({ key, value }) => [key, value])).toEqual([
      ['a', '3'],
      ['b', 'x'],
    ]);
    await put(id, [{ key: 'a', value: null }]);
    expect(values(id)).toEqual({ b: 'x' });
  });

  test("it overwrites another's row when its id is given, as WooCommerce would", async () => {
    const id = add({ meta: { theirs: 'precious' } });
    const row = shop.standin.order(id).meta[0]?.id;
    await put(id, [{ id: row, key: 'ours', value: '5' }]);
    expect(values(id)).toEqual({ ours: '5' });
  });

  test('it recalculates when anything else is sent along', async () => {
    const id = add();
    await put(id, [{ key: 'feedback_grade', value: '5' }]);
    expect(shop.standin.order(id).recalculations).toBe(0);
    await call('PUT', `${orders}/${id}`, { billing: { email: 'x@example.com' } });
    await put(id, [{ key: '_billing_email', value: 'x@example.com' }]);
    expect(shop.standin.order(id).recalculations).toBe(2);
  });

  test("it tells each row's failure of a batch with 200", async () => {
    const id = add();
    const { status, json } = await call('POST', `${orders}/batch`, {
      update: [
        { id: 9, meta_data: [] },
        { id, meta_data: [{ key: 'a', value: '1' }] },
      ],
    });
    expect(status).toBe(200);
    expect(json.update).toMatchObject([{ id: 9, error: { code: 'woocommerce_rest_shop_order_invalid_id' } }, { id }]);
  });
});

test('it keeps notes, filters their tags, and mails the customer those for them', async () => {
  const id = add();
  const note = (body: object) => call('POST', `${orders}/${id}/notes`, body);
  expect((await note({ note: 'a <b>bold</b> note' })).json).toMatchObject({
    note: 'a bold note',
    customer_note: false,
  });
  await note({ note: 'for you', customer_note: true });
  expect((await call('GET', `${orders}/${id}/notes`)).json).toHaveLength(2);
  expect(shop.standin.order(id).mails).toBe(1);
});

test('it dates every completion anew, and no other save', async () => {
  const id = add({ status: 'completed' });
  const date = async () => (await call('GET', `${orders}/${id}`)).json.date_completed_gmt;
  clock.now = new Date('2026-11-20T13:00:00Z');
  await shop.standin.setMeta({ id, key: 'x', value: 'y' });
  await shop.standin.reopen(id);
  expect(await date()).toBe('2026-11-20T12:00:00');
  await shop.standin.complete(id);
  expect(await date()).toBe('2026-11-20T13:00:00');
});

test('it is reached by rest_route, and only so with plain permalinks', async () => {
  expect((await call('GET', '/?rest_route=/wc/v3/orders&per_page=1')).status).toBe(200);
  shop.standin.changeSettings({ permalinks: false });
  const { status, text } = await call('GET', orders);
  expect([status, text.startsWith('<!DOCTYPE')]).toEqual([404, true]);
  expect((await call('GET', '/?rest_route=/wc/v3/orders')).status).toBe(200);
});

test('it redirects everything, or drops the key, when told to', async () => {
  shop.standin.changeSettings({ redirectTo: 'https://www.example.com/' });
  expect((await call('GET', orders)).status).toBe(301);
  shop.standin.changeSettings({ redirectTo: null, dropsAuthorization: true });
  expect((await call('GET', orders)).status).toBe(401);
  const query = 'consumer_key=ck_standin&consumer_secret=cs_standin';
  expect((await call('GET', `${orders}?${query}`, undefined, null)).status).toBe(200);
});

test('it counts calls and does what its control surface orders', async () => {
  await call('GET', orders);
  expect(shop.standin.callCounts()).toEqual({ 'GET /wp-json/wc/v3/orders': 1 });
  const made = await call('POST', '/_control/orders', { status: 'processing' });
  expect((await call('POST', `/_control/orders/${made.json.id}/complete`)).json).toEqual([]);
  expect((await call('GET', `/_control/orders/${made.json.id}`)).json.status).toBe('completed');
  expect((await call('POST', '/_control/orders/9/complete')).status).toBe(409);
  expect((await call('POST', '/_control/orders', { colour: 'red' })).status).toBe(400);
  await call('POST', '/_control/reset');
  expect([shop.standin.orders(), shop.standin.totalCalls()]).toEqual([[], 0]);
});
