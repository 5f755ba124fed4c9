import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { buildSchema, introspectionFromSchema } from 'graphql';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { connectors } from '../../../connectors/index.ts';
import { type Recorded, readRecorded } from '../../conformance/recorded.ts';
import { undescribed, vendors } from '../../conformance/vendors.ts';

/** The little of Zendesk's description that these tests need, in our own words. */
const support = `
openapi: 3.0.3
servers: [{ url: "https://{subdomain}.{domain}.com" }]
paths:
  /api/v2/tickets/show_many:
    get:
      parameters: [{ name: ids, in: query, schema: { type: string } }]
  /api/v2/tickets/update_many:
    put: {}
components:
  schemas:
    TicketUpdateInput: { type: object, properties: { subject: { type: string } } }
`;
const webhooks = 'openapi: 3.0.3\nservers: [{ url: "https://{subdomain}.zendesk.com/api/v2" }]\npaths: {}\n';

/** And of the shops'. */
const admin = `
  type QueryRoot { order(id: ID!): Order, legacy: Int @deprecated(reason: "Ask for order.") }
  type Mutation { tagsAdd(id: ID!, tags: [String!]!): Int }
  schema { query: QueryRoot, mutation: Mutation }
  type Order { id: ID!, staffMember: String }
`;
const rights = [
  { typeName: 'Order', offlineScopes: ['read_orders'] },
  { typeName: 'Order', fieldName: 'staffMember', offlineScopes: ['read_users'] },
];
const orders = {
  openapi: '3.1.0',
  paths: { '/orders': { get: { parameters: [{ name: 'include', in: 'query', schema: list('integer') }] } } },
  components: { securitySchemes: { query: { type: 'apiKey', in: 'query', name: 'consumer_key' } } },
};
const inbox = 'openapi: 3.0.1\nservers: [{ url: "https://api.intercom.io" }]\npaths: { /me: { get: {} } }\n';
function list(type: string): object {
  return { type: 'array', items: { type } };
}

const root = resolve(import.meta.dirname, '../../..');
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'closeloop-conformance-test-'));
  mkdirSync(join(dir, 'specs/zendesk'), { recursive: true });
  mkdirSync(join(dir, 'recorded'));
  writeFileSync(join(dir, 'specs/zendesk/support-oas-2025-06.yaml'), support);
  writeFileSync(join(dir, 'specs/zendesk/webhooks-oas-unofficial.yaml'), webhooks);
  mkdirSync(join(dir, 'specs/shops'));
  const introspection = { data: introspectionFromSchema(buildSchema(admin)), offline_scopes: { items: rights } };
  writeFileSync(
    join(dir, 'specs/shops/shopify-admin-2026-10.introspection.json.gz'),
    gzipSync(JSON.stringify(introspection)),
  );
  writeFileSync(
    join(dir, 'specs/shops/shopify-operations-2026-10.graphql'),
    'query One($id: ID!) { order(id: $id) { id } } mutation Tag { tagsAdd(id: 1, tags: []) }',
  );
  writeFileSync(join(dir, 'specs/shops/woocommerce-v3-orders.openapi.json'), JSON.stringify(orders));
  mkdirSync(join(dir, 'specs/intercom'));
  writeFileSync(join(dir, 'specs/intercom/intercom-2.16.yaml'), inbox);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const Ended = z.object({ code: z.number().default(0), stdout: z.string() });

async function conformance(...args: string[]): Promise<z.output<typeof Ended>> {
  const program = join(root, 'test/conformance/conformance.ts');
  return Ended.parse(await promisify(execFile)(process.execPath, [program, ...args]).catch((error: unknown) => error));
}

function recorded(...requests: Recorded[]): void {
  writeFileSync(join(dir, 'recorded/1.jsonl'), requests.map((one) => `${JSON.stringify(one)}\n`).join(''));
}

const judged = () => conformance('--specs', join(dir, 'specs'), '--recorded', join(dir, 'recorded'));
const read: Recorded = { method: 'GET', path: '/api/v2/tickets/show_many.json', query: 'ids=1' };
const ask = (query: string, variables: object = {}): Recorded => {
  const body = JSON.stringify({ query, variables });
  return { method: 'POST', path: '/admin/api/2026-10/graphql.json', query: '', type: 'application/json', body };
};
const order = ask('query Orders($id: ID!) { order(id: $id) { id } }', { id: 'gid://shopify/Order/1' });
const some: Recorded = { method: 'GET', path: '/wp-json/wc/v3/orders', query: 'include=1%2C2&consumer_key=ck' };
const me: Recorded = { method: 'GET', path: '/me', query: '' };
const write = (ticket: object): Recorded => {
  const body = JSON.stringify({ tickets: [{ id: 1, ...ticket }] });
  return { method: 'PUT', path: '/api/v2/tickets/update_many.json', query: '', type: 'application/json', body };
};

describe('npm run conformance', () => {
  test('it passes what is described, and prints what the facts explain with the fact', async () => {
    const deleted = { method: 'DELETE', path: '/wp-json/wc/v3/orders/1/notes/2', query: 'force=true' };
    recorded(read, write({ subject: 'a', additional_tags: ['b'] }), order, some, deleted, me);
    const { code, stdout } = await judged();
    expect(stdout).toContain('Zendesk: 2 different requests');
    expect(stdout).toContain('Shopify: 1 different requests to 1 operations');
    expect(stdout).toContain('WooCommerce: 2 different requests to 2 operations');
    expect(stdout).toContain('Intercom: 1 different requests to 1 operations');
    expect(stdout).toContain('/wc/v3/orders/{id}/notes/{note_id}: is not described (1×)\n    Facts, section 4');
    expect(stdout).toMatch(
      /facts explain:\n[\s\S]* {2}PUT \/api\/v2\/tickets\/update_many: body: the operation is described/,
    );
    expect(stdout).toContain('No mismatch.');
    expect(code).toBe(0);
  });

  test('it says of whom there is no description, and what is worth knowing of the others', async () => {
    recorded(read, order, some, me, ask('query Old { legacy }'));
    const { code, stdout } = await judged();
    expect(stdout).toContain("HubSpot: no specification: the stand-in's strictness only");
    expect(stdout).toContain('query Old: The field QueryRoot.legacy is deprecated. Ask for order. (1×)');
    expect(stdout).toContain('come with the schema, never sent: mutation tagsAdd.');
    expect(stdout).toContain('Sent, but not among them: query legacy.');
    expect(code).toBe(0);
  });

  test('it shows every other mismatch once, with a request, and fails', async () => {
    recorded(
      ...[read, write({ subjekt: 'a' }), write({ subjekt: 'b' }), { ...read, path: '/api/v2/tickets/9/nonsense' }],
      ...[
        order,
        ask('query Orders($id: ID!) { order(id: $id) { id nmae staffMember } }'),
        { ...order, path: '/admin/x' },
      ],
      ...[some, { ...some, query: 'include=1,x&sort=1' }],
      { method: 'DELETE', path: '/wp-json/wc/v3/orders/1/notes/2', query: '' },
    );
    const { code, stdout } = await judged();
    expect(stdout).toMatch(
      /update_many: body\.tickets\[\]: "subjekt" is not described \(2×\)\n {4}PUT .*update_many\.json\n.*"subjekt":"a"/,
    );
    expect(stdout).toContain('GET /api/v2/tickets/{id}/nonsense: is not described (1×)');
    const orders = 'POST /admin/api/2026-10/graphql.json query Orders: ';
    expect(stdout).toContain(`${orders}Cannot query field "nmae" on type "Order". (1×)`);
    expect(stdout).toMatch(/query Orders: Variable "\$id" has invalid value: Expected a value of non-null type "ID!"/);
    expect(stdout).toContain(
      `${orders}Order.staffMember needs the right read_users, which closeloop does not ask for.`,
    );
    expect(stdout).toContain('POST /admin/x: is not described (1×)');
    expect(stdout).toContain('GET /wp-json/wc/v3/orders: query: include must be integer (1×)');
    expect(stdout).toContain('GET /wp-json/wc/v3/orders: query: "sort" is not described (1×)');
    expect(stdout).toContain('/notes/{note_id}: query: "force" is required (1×)');
    expect(stdout).toContain('9 kinds of mismatch.');
    expect(code).toBe(1);
  });

  test('it fails when nothing was sent', async () => {
    recorded({ ...read, path: '/other/vendor' });
    expect(await judged()).toMatchObject({ code: 1, stdout: expect.stringContaining('no request was recorded') });
  });

  test.each([
    ['without --specs', [], '--specs is missing'],
    ['without the folder', ['--specs', '/no/such/folder'], 'There is no folder /no/such/folder'],
    ['without a file', ['--specs', import.meta.dirname], 'lacks zendesk/support-oas-2025-06.yaml'],
  ])('it says what is missing %s, and exits with 2', async (_what, args, told) => {
    expect(await conformance(...args)).toMatchObject({ code: 2, stdout: expect.stringContaining(told) });
  });
});

test('it judges every connector that ships, or says why not', () => {
  const named = [...vendors, ...undescribed].map(({ name }) => name.toLowerCase());
  expect(named.sort()).toEqual(connectors.map(({ name }) => name).sort());
});

test('it records every request of a stand-in, but no order to the stand-in itself', async () => {
  const recorder = pathToFileURL(join(root, 'test/conformance/record.ts'));
  recorder.search = encodeURIComponent(pathToFileURL(join(dir, 'recorded')).href);
  const program = `
    import { serve } from '${root}/standins/kit/server.ts';
    const { url, close } = await serve(() => ({ status: 200 }));
    await fetch(url + '/api/a.json?x=1%2C2');
    await fetch(url + '/_control/tickets', { method: 'POST', body: '{}' });
    await fetch(url + '/api/b', { method: 'PUT', body: '{"õ":1}', headers: { 'content-type': 'application/json' } });
    await close();`;
  await promisify(execFile)(process.execPath, ['--import', recorder.href, '--input-type=module', '-e', program]);
  expect(readdirSync(join(dir, 'recorded'))).toHaveLength(1);
  expect(readRecorded(join(dir, 'recorded'))).toEqual([
    { method: 'GET', path: '/api/a.json', query: 'x=1%2C2' },
    { method: 'PUT', path: '/api/b', query: '', type: 'application/json', body: '{"õ":1}' },
  ]);
});
