import { readFileSync } from 'node:fs';
import { parse, validate } from 'graphql';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { requestedCost } from '../../../../standins/shopify/cost.ts';
import { railsJson } from '../../../../standins/shopify/payloads.ts';
import { schema } from '../../../../standins/shopify/schema.ts';
import { startShopifyStandin } from '../../../../standins/shopify/standin.ts';

/* What Shopify refuses or does in a way of its own, and the connector never provokes. Its vectors: test/integration/connectors/shopify. */

const clock = { now: new Date(0) };
let server: Awaited<ReturnType<typeof startShopifyStandin>>;
/** What the receiver of webhooks answers, one after the other; and what it got. */
let statuses: number[];
let came: { topic: string; id: string; body: string }[];
let slept: number[];
beforeEach(async () => {
  clock.now = new Date('2026-11-20T12:00:00Z');
  [statuses, came, slept] = [[], [], []];
  server = await startShopifyStandin({
    now: () => clock.now,
    sleep: async (ms) => void slept.push(ms),
    async fetch(_input, init) {
      const headers = new Headers(init?.headers);
      const [topic, id] = ['x-shopify-topic', 'x-shopify-webhook-id'].map((name) => headers.get(name) ?? '');
      came.push({ topic: topic ?? '', id: id ?? '', body: String(init?.body) });
      return new Response(null, { status: statuses.shift() ?? 200 });
    },
  });
});
afterEach(() => server.close());

const graphql = '/admin/api/2026-10/graphql.json';
async function call(query: string, variables: object = {}, token = 'shpat_shopify-token') {
  const headers = { 'content-type': 'application/json', 'x-shopify-access-token': token };
  const body = JSON.stringify({ query, variables });
  const response = await fetch(server.url + graphql, { method: 'POST', headers, body });
  const json = JSON.parse(await response.text());
  const codes = (Array.isArray(json.errors) ? json.errors : []).map(
    (one: { extensions: { code: string } }) => one.extensions.code,
  );
  return { status: response.status, headers: response.headers, ...json, codes };
}
const order = (more: object = {}) => server.standin.addOrder({ email: 'hanna@example.com', ...more }).id;
const gid = (id: string) => `gid://shopify/Order/${id}`;
const shop = '{ shop { id } }';
const dear = '{ orders(first: 250) { nodes { id customer { id } fulfillments(first: 5) { id } } } }';

test('its schema has every operation that a connector needs', () => {
  const file = new URL('../../../support/standins/shopify/vectors/operations.graphql', import.meta.url);
  const document = parse(readFileSync(file, 'utf8'));
  expect([document.definitions.length, validate(schema, document)]).toEqual([9, []]);
});

test.each<[what: string, query: string, code: string]>([
  ['a slip of the pen', '{ shop { nam } }', 'undefinedField'],
  ['no query', 'shop', 'syntaxError'],
  ['a list without length', '{ orders { nodes { id } } }', 'BAD_REQUEST'],
  ['too dear a call', dear, 'MAX_COST_EXCEEDED'],
  ['a bad id', '{ node(id: "17") { id } }', 'argumentLiteralsIncompatible'],
])('it refuses %s with 200', async (_what, query, code) => {
  expect(await call(query)).toMatchObject({ status: 200, codes: [code] });
});

test.each<[what: string, set: object, status: number, token?: string]>([
  ['with its token', {}, 200],
  ['with another token', {}, 401, 'shpat_other'],
  ['without a token', {}, 401, ''],
  ['while it is frozen', { shop: 'frozen' }, 402],
  ['while it is locked', { shop: 'locked' }, 423],
  ['after it closed', { shop: 'closed' }, 404],
])('it answers a call %s', async (_what, set, status, token) => {
  server.standin.changeSettings(set);
  expect((await call(shop, {}, token)).status).toBe(status);
});

test('it wants a query, at a known address, and says which version answers', async () => {
  const headers = { 'x-shopify-access-token': 'shpat_shopify-token' };
  const post = async (path: string) => (await fetch(server.url + path, { method: 'POST', body: '{}', headers })).status;
  expect([await post(graphql), await post('/admin/api/2026-10/orders.json')]).toEqual([400, 404]);
  server.standin.changeSettings({ answersIn: '2027-01' });
  expect((await call(shop)).headers.get('x-shopify-api-version')).toBe('2027-01');
});

const nodes = (fields: string) => `query($ids: [ID!]!) { nodes(ids: $ids) { ... on Order { id ${fields} } } }`;
const tag = '(id: "x", tags: []) { userErrors { field } }';
test.each<[query: string, ids: string[], cost: number]>([
  ['{ shop { id name } }', [], 1],
  [nodes('customer { id }'), ['a', 'b', 'c'], 6],
  [nodes('fulfillments(first: 8) { id }'), ['a'], 9],
  ['{ orders(first: 10) { nodes { id customer { id } } pageInfo { hasNextPage } } }', [], 22],
  [`mutation { tagsAdd${tag} }`, [], 11],
  [`mutation { a: tagsAdd${tag} b: tagsRemove${tag} }`, [], 22],
])('%s may cost', (query, ids, cost) => {
  expect(requestedCost(parse(query), { ids })).toBe(cost);
});

test('it throttles with 200 until enough came back, and gives back what a call did not need', async () => {
  server.standin.changeSettings({ maximumAvailable: 60, restoreRate: 10 });
  const list = '{ orders(first: 50) { nodes { id } } }';
  order();
  const cost = { requestedQueryCost: 52, actualQueryCost: 2, throttleStatus: { currentlyAvailable: 58 } };
  expect((await call(list)).extensions).toMatchObject({ cost });
  for (let i = 0; i < 4; i++) await call(list);
  const refused = await call(list);
  const throttleStatus = { maximumAvailable: 60, restoreRate: 10 };
  expect(refused).toMatchObject({ status: 200, codes: ['THROTTLED'], extensions: { cost: { throttleStatus } } });
  expect(refused.data).toBeUndefined();
  clock.now = new Date(clock.now.getTime() + 500);
  expect((await call(list)).codes).toEqual([]);
});

test.each<[scopes: string[], query: string]>([
  [[], '{ orders(first: 1) { nodes { id } } }'],
  [['read_orders'], '{ orders(first: 1) { nodes { customer { id } } } }'],
  [['read_orders'], '{ orders(first: 1) { nodes { retailLocation { id } } } }'],
  [['read_orders'], 'mutation { tagsAdd(id: "gid://shopify/Order/1", tags: ["a"]) { userErrors { field } } }'],
])('%j do not allow %s', async (scopes, query) => {
  const { standin } = server;
  order({ customerId: standin.addCustomer().id, locationId: standin.addLocation({ name: 'Tartu' }).id });
  standin.changeSettings({ scopes });
  expect((await call(query)).codes).toEqual(['ACCESS_DENIED']);
});

test('it shows no order older than 60 days without read_all_orders', async () => {
  const id = order({ createdAt: clock.now.getTime() - 61 * 86_400_000 });
  const query = `{ nodes(ids: ["${gid(id)}"]) { id } }`;
  expect((await call(query)).data).toEqual({ nodes: [null] });
  server.standin.changeSettings({ scopes: ['read_orders', 'read_all_orders'] });
  expect((await call(query)).data).toEqual({ nodes: [{ id: gid(id) }] });
});

test('it gives out a token for a day, to its app only', async () => {
  const ask = async (more: object) => {
    const app = {
      client_id: 'shopify-client',
      client_secret: 'shopify-client-secret',
      grant_type: 'client_credentials',
    };
    const body = JSON.stringify({ ...app, ...more });
    const response = await fetch(`${server.url}/admin/oauth/access_token`, { method: 'POST', body });
    return JSON.parse(await response.text());
  };
  expect((await ask({ client_secret: 'x' })).access_token).toBeUndefined();
  expect((await ask({ grant_type: 'password' })).access_token).toBeUndefined();
  const { access_token } = await ask({});
  expect((await call(shop, {}, access_token)).status).toBe(200);
  clock.now = new Date(clock.now.getTime() + 86_400_000);
  expect((await call(shop, {}, access_token)).status).toBe(401);
});

describe('metafields', () => {
  const mutation = 'metafieldsSet(metafields: $m) { metafields { compareDigest } userErrors { code elementIndex } }';
  const set = async (...metafields: object[]) => {
    const { data } = await call(`mutation($m: [MetafieldsSetInput!]!) { ${mutation} }`, { m: metafields });
    return data.metafieldsSet;
  };
  const grade = (id: string, more: object = {}) => ({
    ...{ ownerId: gid(id), key: 'feedback_grade', type: 'number_integer', value: '5', ...more },
  });
  const codes = async (...metafields: object[]): Promise<string[]> =>
    (await set(...metafields)).userErrors.map(({ code }: { code: string }) => code);

  test.each<[what: string, entry: object, code: string]>([
    ['no such order', { ownerId: gid('1') }, 'INVALID'],
    ['a short key', { key: 'g' }, 'TOO_SHORT'],
    ['a long key', { key: 'g'.repeat(65) }, 'TOO_LONG'],
    ['no type', { type: null }, 'BLANK'],
    ['no value', { value: '' }, 'BLANK'],
    ['a number that is none', { value: '5.5' }, 'INVALID_VALUE'],
    ['a time that is none', { type: 'date_time', value: 'soon' }, 'INVALID_VALUE'],
    ['a line break in a line', { type: 'single_line_text_field', value: 'a\nb' }, 'INVALID_VALUE'],
    ['an unknown type', { type: 'grade' }, 'INVALID_TYPE'],
    ["another app's namespace", { namespace: 'app--1' }, 'APP_NOT_AUTHORIZED'],
    ['a digest of nothing', { compareDigest: 'abc' }, 'INVALID_COMPARE_DIGEST'],
    ['another type than is defined', { key: 'defined', type: 'number_decimal' }, 'INVALID_TYPE'],
    ['a value that the definition excludes', { key: 'defined', value: '6' }, 'INVALID_VALUE'],
  ])('refuse %s, and all that came with it', async (_what, entry, code) => {
    server.standin.addDefinition({ key: 'defined', validations: [{ name: 'max', value: '5' }] });
    const id = order();
    const userErrors = [{ code, elementIndex: 1 }];
    expect(await set(grade(id), grade(id, entry))).toEqual({ metafields: null, userErrors });
    expect(server.standin.order(id).metafields).toEqual({});
  });

  test('come in 25 a call, not 26, and compare digests: not there yet, as it was, stale', async () => {
    const id = order();
    const many = (count: number) => Array.from({ length: count }, (_, i) => grade(id, { key: `key${i}` }));
    expect(await codes(...many(26))).toEqual(['LESS_THAN_OR_EQUAL_TO']);
    expect(await codes(...many(25))).toEqual([]);
    const { compareDigest } = (await set(grade(id, { compareDigest: null }))).metafields[0];
    expect(await codes(grade(id, { compareDigest: null }))).toEqual(['STALE_OBJECT']);
    expect(await codes(grade(id, { value: '4', compareDigest }))).toEqual([]);
    expect(await codes(grade(id, { value: '3', compareDigest }))).toEqual(['STALE_OBJECT']);
  });

  const merchant = { access: { admin: 'MERCHANT_READ' } };
  test.each<[definition: object, code: string | undefined]>([
    [{}, 'TAKEN'],
    [{ key: 'a b' }, 'INVALID_CHARACTER'],
    [{ key: 'other', type: 'stars' }, 'INCLUSION'],
    [{ namespace: 'custom', ...merchant }, 'ADMIN_ACCESS_INPUT_NOT_ALLOWED'],
    [{ namespace: '$app', key: 'other', ...merchant }, undefined],
  ])('are defined with %j: %s', async (definition, code) => {
    const query =
      'mutation($d: MetafieldDefinitionInput!) { metafieldDefinitionCreate(definition: $d) { userErrors { code } } }';
    const define = (more: object) =>
      call(query, { d: { name: 'Grade', key: 'grade', type: 'number_integer', ownerType: 'ORDER', ...more } });
    await define({});
    const { userErrors } = (await define(definition)).data.metafieldDefinitionCreate;
    expect(userErrors[0]?.code).toBe(code);
  });
});

test('tags are taken without regard to case, refused over 40 characters, and replaced by orderUpdate, a note over 5,000', async () => {
  const id = order({ tags: ['VIP'] });
  const run = async (mutation: string) =>
    Object.values((await call(`mutation { ${mutation} { userErrors { field } } }`)).data);
  await run(`tagsAdd(id: "${gid(id)}", tags: ["vip", "new"])`);
  expect(server.standin.order(id).tags).toEqual(['VIP', 'new']);
  expect(await run(`tagsAdd(id: "${gid(id)}", tags: ["${'x'.repeat(41)}"])`)).toEqual([
    { userErrors: [{ field: ['tags'] }] },
  ]);
  await run(`orderUpdate(input: { id: "${gid(id)}", tags: ["only"] })`);
  expect(server.standin.order(id).tags).toEqual(['only']);
  const note = `orderUpdate(input: { id: "${gid(id)}", note: "${'x'.repeat(5_001)}" })`;
  expect(await run(note)).toEqual([{ userErrors: [{ field: ['note'] }] }]);
});

describe('webhooks', () => {
  const uri = 'https://closeloop.example/hooks/shop';
  const topic = 'ORDERS_FULFILLED';
  const fulfil = () => server.standin.fulfil({ id: order() });

  test.each<[says: string, answers: number[], ofApp: boolean, tries: number, left: number]>([
    ['repeats a delivery eight times, then removes the webhook', Array(9).fill(500), false, 9, 0],
    ['keeps what is declared in the app', Array(9).fill(503), true, 9, 1],
    ['takes a redirect for a failure, and anything of 2xx for a success', [302, 204], false, 2, 1],
  ])('it %s', async (_says, answers, ofApp, tries, left) => {
    server.standin.addSubscription({ topic, uri, ofApp });
    statuses = [...answers];
    await fulfil();
    expect([came.length, server.standin.subscriptions().length]).toEqual([tries, left]);
    // The same to the last byte, in about four hours.
    expect(new Set(came.map(({ id, body }) => id + body)).size).toBe(1);
    if (tries === 9) expect(slept.reduce((sum, ms) => sum + ms, 0) / 3_600_000).toBeCloseTo(4, 0);
  });

  test('it filters by fields of the payload and leaves out what is not asked for', async () => {
    const wanted = { filter: 'shipment_status:delivered', includeFields: ['order_id', 'updated_at'] };
    server.standin.addSubscription({ topic: 'FULFILLMENTS_UPDATE', uri, ...wanted });
    const id = order();
    await server.standin.fulfil({ id });
    for (const status of ['in_transit', 'delivered'] as const) await server.standin.parcelNews({ id, status });
    expect(came.map(({ body }) => Object.keys(JSON.parse(body)))).toEqual([wanted.includeFields]);
  });

  test('it tells of privacy to the addresses of the app only', async () => {
    await expect(server.standin.redactShop()).rejects.toThrow('no compliance webhooks');
    server.standin.setCompliance({ uri });
    const customer = { id: '7304411152583', email: 'a@b.example', phone: '+49171' };
    const customerId = server.standin.addCustomer(customer).id;
    order({ id: '5791244910855', customerId });
    await server.standin.redactCustomer({ customerId });
    expect([came[0]?.topic, JSON.parse(came[0]?.body ?? '')]).toEqual([
      'customers/redact',
      {
        ...{ shop_id: 954889, shop_domain: 'acme.myshopify.com', orders_to_redact: [5791244910855] },
        customer: { ...customer, id: 7304411152583 },
      },
    ]);
  });

  test('it echoes a write as orders/updated, and nothing where nothing changed', async () => {
    server.standin.addSubscription({ topic: 'ORDERS_UPDATED', uri });
    const id = order();
    for (let n = 0; n < 2; n++)
      await call(`mutation { tagsAdd(id: "${gid(id)}", tags: ["a"]) { userErrors { field } } }`);
    await server.standin.idle();
    expect(came.map((one) => one.topic)).toEqual(['orders/updated']);
  });

  test('it writes JSON as Rails does', () => {
    expect(railsJson({ text: '</a&b>', list: [1] })).toBe('{"text":"\\u003c\\/a\\u0026b\\u003e","list":[1]}');
  });
});
