import { parse } from 'graphql';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { requestedCost } from '../../../../standins/shopify/cost.ts';
import { startShopifyStandin } from '../../../../standins/shopify/standin.ts';

/* What Shopify refuses or does in a way of its own, and the connector never provokes. Its vectors: test/integration/connectors/shopify. */

let server: Awaited<ReturnType<typeof startShopifyStandin>>;
/** What the receiver of webhooks answers, one after the other; and what it got. */
let statuses: number[];
let now: number;
let came: string[];
beforeEach(async () => {
  [statuses, came] = [[], []];
  now = Date.parse('2026-11-20T12:00:00Z');
  server = await startShopifyStandin({
    now: () => new Date(now),
    webhooks: { pauseScale: 0 },
    async fetch(_input, init) {
      came.push(`${new Headers(init?.headers).get('x-shopify-webhook-id')} ${init?.body}`);
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
const dear = '{ orders(first: 250) { nodes { id customer { id } fulfillments(first: 5) { id } } } }';

test.each<[what: string, query: string, code: string]>([
  ['a slip of the pen', '{ shop { nam } }', 'undefinedField'],
  ['no query', 'shop', 'syntaxError'],
  ['a list without length', '{ orders { nodes { id } } }', 'BAD_REQUEST'],
  ['too dear a call', dear, 'MAX_COST_EXCEEDED'],
  ['a bad id', '{ node(id: "17") { id } }', 'argumentLiteralsIncompatible'],
])('it refuses %s with 200', async (_what, query, code) => {
  expect(await call(query)).toMatchObject({ status: 200, codes: [code] });
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

describe('metafields', () => {
  const mutation = 'metafieldsSet(metafields: $m) { metafields { compareDigest } userErrors { code elementIndex } }';
  const set = async (...metafields: object[]) => {
    const { data } = await call(`mutation($m: [MetafieldsSetInput!]!) { ${mutation} }`, { m: metafields });
    return data.metafieldsSet;
  };
  const grade = (id: string, more: object = {}) => ({
    ...{ ownerId: gid(id), key: 'feedback_grade', type: 'number_integer', value: '5', ...more },
  });

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
});

test.each<[says: string, answers: number[], ofApp: boolean, tries: number, left: number]>([
  ['repeats a delivery eight times, then removes the webhook', Array(9).fill(500), false, 9, 0],
  ['keeps what is declared in the app', Array(9).fill(503), true, 9, 1],
  ['takes a redirect for a failure, and anything of 2xx for a success', [302, 204], false, 2, 1],
])('it %s', async (_says, answers, ofApp, tries, left) => {
  server.standin.addSubscription({ topic: 'ORDERS_FULFILLED', uri: 'https://closeloop.example/hooks/shop', ofApp });
  statuses = [...answers];
  await server.standin.fulfil({ id: order() });
  expect([came.length, server.standin.subscriptions().length]).toEqual([tries, left]);
  expect(new Set(came).size, 'the same to the last byte').toBe(1);
});
