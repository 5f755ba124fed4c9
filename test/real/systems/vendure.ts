import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { programOnPath } from '../../../worker/redis/server-binary.ts';
import { freePort } from '../../support/free-port.ts';
import { madeOnce } from './made-once.ts';
import { startServer } from './server.ts';

const sources = join(import.meta.dirname, 'vendure');

export interface Vendure {
  /** The Admin API is in `/admin-api` below it. */
  baseUrl: string;
  /** closeloop's own, with the rights that its page asks for. */
  apiKey: string;
  /** One that may see nothing of orders. */
  noRightsKey: string;
  /** What the plugin signs with. */
  hookSecret: string;
  /** An owner at work, logged in as in a browser. */
  person: VendurePerson;
  log: string;
  stop(options?: { keepLog: boolean }): Promise<void>;
}

/** Vendure 3, in memory, with a shop that an owner has prepared. @param hook where its plugin tells of orders */
export async function startVendure({ hook = '' }: { hook?: string } = {}): Promise<Vendure> {
  const packages = await fetchPackages();
  const [password, hookSecret] = [randomBytes(12).toString('hex'), randomBytes(32).toString('hex')];
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const plugin = await compilePlugin(packages);
  const settings = JSON.stringify({ port, password, hook, hookSecret, plugin });
  const server = await startServer({
    name: 'vendure',
    command: [process.execPath, join(sources, 'server.ts'), settings],
    cwd: packages,
    env: { PATH: process.env.PATH ?? '' },
    isReady: async () => (await fetch(`${baseUrl}/health`)).ok,
  });
  const call = await logIn(`${baseUrl}/admin-api`, password);
  const shop = await openShop(call);
  return {
    baseUrl,
    apiKey: await addKey(call, 'closeloop', ['ReadOrder', 'UpdateOrder', 'ReadCustomer']),
    noRightsKey: await addKey(call, 'catalog-only', ['ReadCatalog']),
    hookSecret,
    person: personOf(call, shop),
    ...server,
  };
}

/** In the versions of the lock file. No package's own scripts are run. */
async function fetchPackages(): Promise<string> {
  if ((await programOnPath(['npm'], process.env.PATH ?? '')) === undefined)
    throw new Error('vendure is fetched by npm, which is not on the PATH. Try: npm run test:real');
  const files = ['package.json', 'package-lock.json'];
  const texts = await Promise.all(files.map((name) => readFile(join(sources, name), 'utf8')));
  return await madeOnce('vendure', texts, async (draft) => {
    for (const name of files) await copyFile(join(sources, name), join(draft, name));
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await promisify(execFile)('npm', args, { cwd: draft });
  });
}

const pluginSource = resolve(import.meta.dirname, '../../../examples/vendure-plugin/closeloop.plugin.ts');

/** As the code of a shop is: its types are checked against Vendure's own. */
async function compilePlugin(packages: string): Promise<string> {
  const text = await readFile(pluginSource);
  const out = join(packages, `plugin-${createHash('sha256').update(text).digest('hex').slice(0, 8)}-${process.pid}`);
  await mkdir(out, { recursive: true });
  await copyFile(pluginSource, join(out, 'closeloop.plugin.ts'));
  const own = resolve(import.meta.dirname, '../../../node_modules');
  const options = '--ignoreConfig --module nodenext --target es2022 --strict --skipLibCheck --experimentalDecorators';
  const args = [...options.split(' '), '--types', 'node', '--typeRoots', join(own, '@types')];
  await promisify(execFile)(join(own, '.bin/tsc'), [...args, join(out, 'closeloop.plugin.ts')]);
  return join(out, 'closeloop.plugin.js');
}

type Call = <S extends z.ZodType>(answer: S, query: string, variables?: object) => Promise<z.output<S>>;

const Answer = z.object({ data: z.record(z.string(), z.unknown()).nullish(), errors: z.array(z.unknown()).optional() });

/** One operation of the Admin API a call; what its only field holds is the answer. */
async function logIn(address: string, password: string): Promise<Call> {
  const post = async (query: string, variables: object, headers: Record<string, string>) =>
    await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, variables }),
    });
  const login =
    'mutation($p: String!) { login(username: "superadmin", password: $p, rememberMe: true) { __typename } }';
  const token = (await post(login, { p: password }, {})).headers.get('vendure-auth-token');
  if (token === null) throw new Error('Vendure let nobody in');
  return async (schema, query, variables = {}) => {
    const answer = await post(query, variables, { authorization: `Bearer ${token}` });
    const { data, errors } = Answer.parse(await answer.json());
    const [value] = Object.values(data ?? {});
    const refusal = z.object({ errorCode: z.string() }).safeParse(value);
    if (errors || refusal.success) throw new Error(`Vendure refused ${query}: ${JSON.stringify(errors ?? value)}`);
    return schema.parse(value);
  };
}

interface Shop {
  variantId: string;
  shippingMethodId: string;
}

const Id = z.object({ id: z.string() });

/** What a shop needs before it can take an order: a country, taxes, a way to send and to pay, and something to sell. */
async function openShop(call: Call): Promise<Shop> {
  const make = async (what: string, input: object, more = '') => {
    const query = `mutation($i: ${what}Input!) { ${what[0]?.toLowerCase()}${what.slice(1)}(input: $i) { ${more} id } }`;
    return (await call(Id, query, { i: input })).id;
  };
  const named = (name: string, more = {}) => [{ languageCode: 'en', name, ...more }];
  const zone = await make('CreateZone', { name: 'Europe' });
  const country = await make('CreateCountry', { code: 'DE', enabled: true, translations: named('Germany') });
  const join = 'mutation($z: ID!, $c: [ID!]!) { addMembersToZone(zoneId: $z, memberIds: $c) { id } }';
  await call(Id, join, { z: zone, c: [country] });
  const channel = await call(Id, '{ activeChannel { id } }');
  const update =
    'mutation($i: UpdateChannelInput!) { updateChannel(input: $i) { ... on Channel { id } ... on ErrorResult { errorCode } } }';
  await call(Id, update, { i: { id: channel.id, defaultTaxZoneId: zone, defaultShippingZoneId: zone } });
  const category = await make('CreateTaxCategory', { name: 'Standard' });
  await make('CreateTaxRate', { name: 'none', enabled: true, value: 0, categoryId: category, zoneId: zone });
  const free = Object.entries({ rate: '0', includesTax: 'auto', taxRate: '0' });
  const shippingMethodId = await make('CreateShippingMethod', {
    code: 'post',
    fulfillmentHandler: 'manual-fulfillment',
    checker: { code: 'default-shipping-eligibility-checker', arguments: [{ name: 'orderMinimum', value: '0' }] },
    calculator: { code: 'default-shipping-calculator', arguments: free.map(([name, value]) => ({ name, value })) },
    translations: named('Post', { description: '' }),
  });
  await make('CreatePaymentMethod', {
    code: 'test-payments',
    enabled: true,
    handler: { code: 'test-payments', arguments: [] },
    translations: named('Test', { description: '' }),
  });
  const thing = named('Thing', { slug: 'thing', description: '' });
  const productId = await make('CreateProduct', { translations: thing });
  const variant = { productId, sku: 'T1', price: 1000, taxCategoryId: category, trackInventory: 'FALSE' };
  const sell = 'mutation($i: [CreateProductVariantInput!]!) { createProductVariants(input: $i) { id } }';
  const [sold] = await call(z.array(Id), sell, { i: [{ ...variant, translations: named('Thing') }] });
  return { variantId: sold?.id ?? '', shippingMethodId };
}

async function addKey(call: Call, name: string, permissions: readonly string[]): Promise<string> {
  const addRole = 'mutation($i: CreateRoleInput!) { createRole(input: $i) { id } }';
  const role = await call(Id, addRole, { i: { code: name, description: name, permissions } });
  const addApiKey = 'mutation($i: CreateApiKeyInput!) { createApiKey(input: $i) { apiKey } }';
  const input = { roleIds: [role.id], translations: [{ languageCode: 'en', name }] };
  return (await call(z.object({ apiKey: z.string() }), addApiKey, { i: input })).apiKey;
}

export type VendurePerson = ReturnType<typeof personOf>;

interface NewOrder {
  email: string;
  firstName?: string;
  lastName?: string;
  phoneNumber?: string;
  /** Custom fields of the customer: `language`, `timeZone`. */
  customer?: object;
  quantity?: number;
}

const Order = z.object({
  id: z.string(),
  code: z.string(),
  state: z.string(),
  updatedAt: z.string(),
  customFields: z.record(z.string(), z.unknown()),
});
const History = z.object({
  history: z.object({
    items: z.array(z.object({ id: z.string(), createdAt: z.string(), isPublic: z.boolean(), data: z.unknown() })),
  }),
});
const fieldNames = 'feedbackGrade feedbackRating feedbackComment feedbackShort feedbackChoice feedbackAt feedbackTags';

/** What a person does in the dashboard, through the same server's API. */
function personOf(call: Call, { variantId, shippingMethodId }: Shop) {
  const step = async (field: string, variables: Record<string, [type: string, value: unknown]>, on = 'Order') => {
    const types = Object.entries(variables).map(([name, [type]]) => `$${name}: ${type}`);
    const args = Object.keys(variables).map((name) => `${name}: $${name}`);
    const query = `mutation(${types}) { ${field}(${args}) { ... on ${on} { id } ... on ErrorResult { errorCode message } } }`;
    const values = Object.fromEntries(Object.entries(variables).map(([name, [, value]]) => [name, value]));
    return (await call(Id, query, values)).id;
  };
  const history = async (id: string, type: 'ORDER_NOTE' | 'ORDER_STATE_TRANSITION') => {
    const options = { filter: { type: { eq: type } }, sort: { id: 'ASC' }, take: 100 };
    const query =
      'query($id: ID!, $o: HistoryEntryListOptions) { order(id: $id) { history(options: $o) { items { id createdAt isPublic data } } } }';
    return (await call(History, query, { id, o: options })).history.items;
  };
  return {
    /** Any other operation of the API. */
    call,
    /** An order that is placed and paid. */
    async placeOrder({
      email,
      firstName = 'Zoë',
      lastName = 'Łuczak',
      phoneNumber = '',
      customer = {},
      quantity = 1,
    }: NewOrder) {
      const orderId = (await call(Id, 'mutation { createDraftOrder { id } }')).id;
      const id: [string, string] = ['ID!', orderId];
      await step('addItemToDraftOrder', {
        orderId: id,
        input: ['AddItemToDraftOrderInput!', { productVariantId: variantId, quantity }],
      });
      const person = { emailAddress: email, firstName, lastName, phoneNumber, customFields: customer };
      await step('setCustomerForDraftOrder', { orderId: id, input: ['CreateCustomerInput', person] });
      const address = { fullName: `${firstName} ${lastName}`, streetLine1: 'Weg 1', countryCode: 'DE' };
      const send =
        'mutation($o: ID!, $i: CreateAddressInput!) { setDraftOrderShippingAddress(orderId: $o, input: $i) { id } }';
      await call(Id, send, { o: orderId, i: address });
      await step('setDraftOrderShippingMethod', { orderId: id, shippingMethodId: ['ID!', shippingMethodId] });
      await step('transitionOrderToState', { id, state: ['String!', 'ArrangingPayment'] });
      const payment = { orderId, method: 'test-payments', transactionId: orderId, metadata: {} };
      return await step('addManualPaymentToOrder', { input: ['ManualPaymentInput!', payment] });
    },
    /** All of it in one parcel, which arrives. */
    async deliver(orderId: string): Promise<void> {
      const lines = z.object({ lines: z.array(z.object({ id: z.string(), quantity: z.number() })) });
      const order = await call(lines, 'query($id: ID!) { order(id: $id) { lines { id quantity } } }', { id: orderId });
      const handler = {
        code: 'manual-fulfillment',
        arguments: Object.entries({ method: 'Post', trackingCode: '1' }).map(([name, value]) => ({ name, value })),
      };
      const parcel = { lines: order.lines.map(({ id, quantity }) => ({ orderLineId: id, quantity })), handler };
      const id = await step('addFulfillmentToOrder', { input: ['FulfillOrderInput!', parcel] }, 'Fulfillment');
      for (const state of ['Shipped', 'Delivered'])
        await step('transitionFulfillmentToState', { id: ['ID!', id], state: ['String!', state] }, 'Fulfillment');
    },
    /** Also a delivered one; there is no way back. */
    async cancel(orderId: string): Promise<void> {
      await step('cancelOrder', { input: ['CancelOrderInput!', { orderId, reason: 'Sent back' }] });
    },
    async setFields(id: string, customFields: object): Promise<void> {
      const query = 'mutation($i: UpdateOrderInput!) { setOrderCustomFields(input: $i) { id } }';
      await call(Id, query, { i: { id, customFields } });
    },
    async addNote(id: string, note: string): Promise<void> {
      const query = 'mutation($i: AddNoteToOrderInput!) { addNoteToOrder(input: $i) { id } }';
      await call(Id, query, { i: { id, note, isPublic: false } });
    },
    async read(id: string) {
      const query = `query($id: ID!) { order(id: $id) { id code state updatedAt customFields { ${fieldNames} } } }`;
      return await call(Order, query, { id });
    },
    /** From one state to another, oldest first. */
    async transitions(id: string) {
      const Data = z.object({ from: z.string(), to: z.string() });
      return (await history(id, 'ORDER_STATE_TRANSITION')).map((one) => ({
        id: one.id,
        at: one.createdAt,
        ...Data.parse(one.data),
      }));
    },
    /** Oldest first. */
    async notes(id: string) {
      const Data = z.object({ note: z.string() });
      return (await history(id, 'ORDER_NOTE')).map((one) => ({
        text: Data.parse(one.data).note,
        isPublic: one.isPublic,
      }));
    },
  };
}
