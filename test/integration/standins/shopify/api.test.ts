import { readFileSync } from 'node:fs';
import { parse, validate } from 'graphql';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { requestedCost } from '../../../../standins/shopify/cost.ts';
import { schema } from '../../../../standins/shopify/schema.ts';
import { startShopifyStandin } from '../../../../standins/shopify/standin.ts';

const clock = { now: new Date('2026-11-20T12:00:00Z') };
let server: Awaited<ReturnType<typeof startShopifyStandin>>;
beforeEach(async () => {
  clock.now = new Date('2026-11-20T12:00:00Z');
  server = await startShopifyStandin({ now: () => clock.now });
});
afterEach(() => server.close());

const Answer = z.looseObject({
  data: z.record(z.string(), z.unknown()).nullish(),
  errors: z
    .union([
      z.string(),
      z.looseObject({ query: z.string() }),
      z.array(z.looseObject({ message: z.string(), extensions: z.looseObject({ code: z.string() }) })),
    ])
    .optional(),
});

async function call(query: string, variables: object = {}, token = 'shpat_shopify-token') {
  const response = await fetch(`${server.url}/admin/api/2026-10/graphql.json`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-shopify-access-token': token },
    body: JSON.stringify({ query, variables }),
  });
  const body = Answer.parse(await response.json());
  const codes = Array.isArray(body.errors) ? body.errors.map(({ extensions }) => extensions.code) : [];
  return { status: response.status, headers: response.headers, ...body, codes };
}

const order = (more: object = {}) => server.standin.addOrder({ email: 'hanna@example.com', ...more }).id;
const gid = (id: string) => `gid://shopify/Order/${id}`;

test('its schema has every operation that a connector needs', () => {
  const text = readFileSync(
    new URL('../../../support/standins/shopify/vectors/operations.graphql', import.meta.url),
    'utf8',
  );
  const document = parse(text);
  expect(document.definitions).toHaveLength(9);
  expect(validate(schema, document)).toEqual([]);
});

describe('calls', () => {
  test.each<[what: string, query: string, code: string]>([
    ['a slip of the pen', '{ shop { nam } }', 'undefinedField'],
    ['no query', 'shop', 'syntaxError'],
    ['a list without length', '{ orders { nodes { id } } }', 'BAD_REQUEST'],
    [
      'too dear a call',
      '{ orders(first: 250) { nodes { id customer { id } fulfillments(first: 5) { id } } } }',
      'MAX_COST_EXCEEDED',
    ],
    ['a bad id', '{ node(id: "17") { id } }', 'argumentLiteralsIncompatible'],
  ])('it refuses %s with 200', async (_what, query, code) => {
    expect(await call(query)).toMatchObject({ status: 200, codes: [code] });
  });

  test.each<[what: string, token: string | undefined, status: number]>([
    ['its token', undefined, 200],
    ['another token', 'shpat_other', 401],
    ['no token', '', 401],
  ])('it answers a call with %s', async (_what, token, status) => {
    expect((await call('{ shop { id } }', {}, token)).status).toBe(status);
  });

  test('it wants a query, at a known address', async () => {
    const post = (path: string, body: string, headers = { 'x-shopify-access-token': 'shpat_shopify-token' }) =>
      fetch(server.url + path, { method: 'POST', body, headers });
    expect((await post('/admin/api/2026-10/graphql.json', '{}')).status).toBe(400);
    expect((await post('/admin/api/2026-10/orders.json', '{}')).status).toBe(404);
    expect((await fetch(`${server.url}/admin/api/2026-10/graphql.json`)).status).toBe(404);
  });

  test('it says which version answers', async () => {
    expect((await call('{ shop { id } }')).headers.get('x-shopify-api-version')).toBe('2026-10');
    server.standin.changeSettings({ answersIn: '2027-01' });
    expect((await call('{ shop { id } }')).headers.get('x-shopify-api-version')).toBe('2027-01');
  });

  test.each([
    ['frozen', 402],
    ['locked', 423],
    ['closed', 404],
  ] as const)('it is %s: %i', async (shop, status) => {
    server.standin.changeSettings({ shop });
    expect((await call('{ shop { id } }')).status).toBe(status);
  });
});

describe('points', () => {
  test.each<[query: string, variables: object, cost: number]>([
    ['{ shop { id name } }', {}, 1],
    ['query($ids: [ID!]!) { nodes(ids: $ids) { ... on Order { id customer { id } } } }', { ids: ['a', 'b', 'c'] }, 6],
    [
      'query($ids: [ID!]!) { nodes(ids: $ids) { ... on Order { id fulfillments(first: 8) { id } } } }',
      { ids: ['a'] },
      9,
    ],
    ['{ orders(first: 10) { nodes { id customer { id } } pageInfo { hasNextPage } } }', {}, 22],
    ['mutation { tagsAdd(id: "x", tags: []) { userErrors { field } } }', {}, 11],
    [
      'mutation { a: tagsAdd(id: "x", tags: []) { node { id } } b: tagsRemove(id: "x", tags: []) { node { id } } }',
      {},
      22,
    ],
  ])('%s may cost', (query, variables, cost) => {
    expect(requestedCost(parse(query), { ...variables })).toBe(cost);
  });

  test('it throttles with 200 until enough came back, and gives back what a call did not need', async () => {
    server.standin.changeSettings({ maximumAvailable: 60, restoreRate: 10 });
    const dear = '{ orders(first: 50) { nodes { id } } }';
    order();
    expect(await call(dear)).toMatchObject({
      extensions: { cost: { requestedQueryCost: 52, actualQueryCost: 2, throttleStatus: { currentlyAvailable: 58 } } },
    });
    for (let i = 0; i < 4; i++) await call(dear);
    const refused = await call(dear);
    expect(refused).toMatchObject({
      status: 200,
      codes: ['THROTTLED'],
      extensions: { cost: { requestedQueryCost: 52, throttleStatus: { maximumAvailable: 60, restoreRate: 10 } } },
    });
    expect(refused.data).toBeUndefined();
    clock.now = new Date(clock.now.getTime() + 500);
    expect((await call(dear)).codes).toEqual([]);
  });
});

describe('rights', () => {
  test.each<[scopes: string[], query: string]>([
    [[], '{ orders(first: 1) { nodes { id } } }'],
    [['read_orders'], '{ orders(first: 1) { nodes { customer { id } } } }'],
    [['read_orders'], '{ orders(first: 1) { nodes { retailLocation { id } } } }'],
    [['read_orders'], 'mutation { tagsAdd(id: "gid://shopify/Order/1", tags: ["a"]) { userErrors { field } } }'],
  ])('it denies what %j does not allow: %s', async (scopes, query) => {
    const { standin } = server;
    order({ customerId: standin.addCustomer().id, locationId: standin.addLocation({ name: 'Tartu' }).id });
    standin.changeSettings({ scopes });
    expect((await call(query)).codes).toEqual(['ACCESS_DENIED']);
  });

  test('it shows no order older than 60 days without read_all_orders', async () => {
    const id = order({ createdAt: clock.now.getTime() - 61 * 86_400_000 });
    const query = '{ nodes(ids: ["gid://shopify/Order/ID"]) { id } }'.replace('ID', id);
    expect((await call(query)).data).toEqual({ nodes: [null] });
    server.standin.changeSettings({ scopes: ['read_orders', 'read_all_orders'] });
    expect((await call(query)).data).toEqual({ nodes: [{ id: gid(id) }] });
  });

  test('it gives out a token for a day, to its app only', async () => {
    const ask = async (body: object) => {
      const response = await fetch(`${server.url}/admin/oauth/access_token`, {
        method: 'POST',
        body: JSON.stringify(body),
      });
      return {
        status: response.status,
        token: z.looseObject({ access_token: z.string().optional() }).parse(await response.json()).access_token,
      };
    };
    const app = {
      client_id: 'shopify-client',
      client_secret: 'shopify-client-secret',
      grant_type: 'client_credentials',
    };
    expect(await ask({ ...app, client_secret: 'x' })).toEqual({ status: 400, token: undefined });
    expect(await ask({ ...app, grant_type: 'password' })).toEqual({ status: 400, token: undefined });
    const { token = '' } = await ask(app);
    expect((await call('{ shop { id } }', {}, token)).status).toBe(200);
    clock.now = new Date(clock.now.getTime() + 86_400_000);
    expect((await call('{ shop { id } }', {}, token)).status).toBe(401);
  });
});

describe('metafields', () => {
  const set = async (metafields: object[]) => {
    const { data } = await call(
      'mutation($m: [MetafieldsSetInput!]!) { metafieldsSet(metafields: $m) { metafields { key value compareDigest } userErrors { code elementIndex } } }',
      { m: metafields },
    );
    return z
      .object({
        metafieldsSet: z.object({
          metafields: z.array(z.object({ key: z.string(), value: z.string(), compareDigest: z.string() })).nullable(),
          userErrors: z.array(z.object({ code: z.string(), elementIndex: z.number() })),
        }),
      })
      .parse(data).metafieldsSet;
  };
  const grade = (more: object = {}) => ({ key: 'feedback_grade', type: 'number_integer', value: '5', ...more });

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
  ])('it refuses %s, and all that came with it', async (_what, entry, code) => {
    const id = order();
    const result = await set([grade({ ownerId: gid(id) }), grade({ ownerId: gid(id), ...entry })]);
    expect(result).toEqual({ metafields: null, userErrors: [{ code, elementIndex: 1 }] });
    expect(server.standin.order(id).metafields).toEqual({});
  });

  test('it takes 25 a call, not 26', async () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, i) => grade({ ownerId: gid(id), key: `key${i}` }));
    const id = order();
    expect((await set(many(26))).userErrors).toMatchObject([{ code: 'LESS_THAN_OR_EQUAL_TO' }]);
    expect((await set(many(25))).metafields).toHaveLength(25);
  });

  test('it goes by the definition: type left out, another type, validations', async () => {
    server.standin.addDefinition({ key: 'feedback_grade', validations: [{ name: 'max', value: '5' }] });
    const ownerId = gid(order());
    expect((await set([grade({ ownerId, type: null })])).userErrors).toEqual([]);
    expect((await set([grade({ ownerId, type: 'number_decimal' })])).userErrors).toMatchObject([
      { code: 'INVALID_TYPE' },
    ]);
    expect((await set([grade({ ownerId, value: '6' })])).userErrors).toMatchObject([{ code: 'INVALID_VALUE' }]);
  });

  test('it compares digests: not there yet, as it was, stale', async () => {
    const ownerId = gid(order());
    const first = await set([grade({ ownerId, compareDigest: null })]);
    expect(first.userErrors).toEqual([]);
    expect((await set([grade({ ownerId, compareDigest: null })])).userErrors).toMatchObject([{ code: 'STALE_OBJECT' }]);
    const digest = first.metafields?.[0]?.compareDigest;
    expect((await set([grade({ ownerId, value: '4', compareDigest: digest })])).userErrors).toEqual([]);
    expect((await set([grade({ ownerId, value: '3', compareDigest: digest })])).userErrors).toMatchObject([
      { code: 'STALE_OBJECT' },
    ]);
  });

  test('it defines one once', async () => {
    const define = async (definition: object) => {
      const query =
        'mutation($d: MetafieldDefinitionInput!) { metafieldDefinitionCreate(definition: $d) { createdDefinition { key } userErrors { code } } }';
      return (
        await call(query, {
          d: { name: 'Grade', key: 'grade', type: 'number_integer', ownerType: 'ORDER', ...definition },
        })
      ).data;
    };
    const made = { metafieldDefinitionCreate: { createdDefinition: { key: 'grade' }, userErrors: [] } };
    const refused = (code: string) => ({
      metafieldDefinitionCreate: { createdDefinition: null, userErrors: [{ code }] },
    });
    expect(await define({})).toEqual(made);
    expect(await define({})).toEqual(refused('TAKEN'));
    expect(await define({ key: 'a b' })).toEqual(refused('INVALID_CHARACTER'));
    expect(await define({ key: 'other', type: 'stars' })).toEqual(refused('INCLUSION'));
    const access = { admin: 'MERCHANT_READ' };
    expect(await define({ namespace: 'custom', access })).toEqual(refused('ADMIN_ACCESS_INPUT_NOT_ALLOWED'));
    expect(await define({ namespace: '$app', key: 'other', access })).toMatchObject({
      metafieldDefinitionCreate: { userErrors: [] },
    });
  });
});

test('it adds and removes tags without regard to case, and replaces them all by orderUpdate', async () => {
  const id = order({ tags: ['VIP'] });
  await call(`mutation { tagsAdd(id: "${gid(id)}", tags: ["vip", "new"]) { userErrors { field } } }`);
  expect(server.standin.order(id).tags).toEqual(['VIP', 'new']);
  await call(`mutation { tagsRemove(id: "${gid(id)}", tags: ["NEW"]) { userErrors { field } } }`);
  expect(server.standin.order(id).tags).toEqual(['VIP']);
  await call(`mutation { orderUpdate(input: { id: "${gid(id)}", tags: ["only"] }) { userErrors { field } } }`);
  expect(server.standin.order(id).tags).toEqual(['only']);
  const long = await call(
    `mutation { tagsAdd(id: "${gid(id)}", tags: ["${'x'.repeat(41)}"]) { userErrors { field } } }`,
  );
  expect(long.data).toEqual({ tagsAdd: { userErrors: [{ field: ['tags'] }] } });
  const note = await call(
    `mutation { orderUpdate(input: { id: "${gid(id)}", note: "${'x'.repeat(5_001)}" }) { userErrors { field } } }`,
  );
  expect(note.data).toEqual({ orderUpdate: { userErrors: [{ field: ['note'] }] } });
});

test('its control surface is a mirror of its methods', async () => {
  const control = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(`${server.url}/_control/${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    return answer.json();
  };
  const { id } = z
    .object({ id: z.string() })
    .parse(await control('POST', 'orders', { id: '820982911946154508', email: 'a@b.example' }));
  expect(id).toBe('820982911946154508');
  await control('POST', `orders/${id}/fulfil`, {});
  await control('POST', `orders/${id}/parcel`, { status: 'delivered' });
  expect(await control('GET', `orders/${id}`)).toMatchObject({
    fulfillment: 'FULFILLED',
    parcels: [{ shipmentStatus: 'delivered' }],
  });
  expect(await control('PATCH', `orders/${id}`, { customerId: 8 })).toEqual({ detail: 'there is no customer 8' });
  expect(await control('POST', 'orders/7/cancel', {})).toEqual({ detail: 'there is no order 7' });
});
