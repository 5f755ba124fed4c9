import { z } from 'zod';
import { cached } from '../../core/connector/cached.ts';
import { config, permanent, VendorError } from '../../core/connector/classify.ts';
import type { ConnectorPorts, Urgency } from '../../core/connector/contract.ts';
import type { Rows } from '../../core/connector/desk/rows.ts';
import type { ChangedRow } from '../../core/connector/desk/write.ts';
import { createGraphqlApi, type GraphqlAccount, type GraphqlApi } from '../../core/connector/graphql.ts';
import { clientCredentials, staticToken } from '../../core/connector/token.ts';
import { listOf } from '../../core/entries.ts';
import { Order, orderFields } from './record.ts';
import type { VendureSettings } from './settings.ts';

const right = config('the login or API key is refused, or lacks a right', 'its role needs ReadOrder and UpdateOrder');
const value = permanent('a custom field takes no such value', 'run closeloop check');
const codes: GraphqlAccount['codes'] = {
  document: {
    ...{ FORBIDDEN: right, UNAUTHORIZED: right, BAD_USER_INPUT: value },
    CHANNEL_NOT_FOUND: config('there is no such channel', 'check channelToken'),
    GRAPHQL_VALIDATION_FAILED: config('the shop lacks a field that is asked for', 'run closeloop check'),
    404: config('there is no Admin API at this address', 'check `address`'),
  },
  operation: { USER_INPUT_ERROR: value, ENTITY_NOT_FOUND: permanent('it is not in this channel', 'look there') },
  ...{ token: ['FORBIDDEN', 'UNAUTHORIZED'], gone: 'ENTITY_NOT_FOUND' },
};
/** Did Vendure refuse a value? It names the field in words only. */
export const isOfValue = (error: unknown): error is VendorError =>
  error instanceof VendorError && /^(BAD_)?USER_INPUT/.test(error.code);

const login = `mutation($username: String!, $password: String!) {
  login(username: $username, password: $password, rememberMe: true) { ... on CurrentUser { id } } }`;
/** By default tokens last a year. One that is refused is replaced. */
const lifeMs = 30 * 86_400_000;

/** Every call to one channel of a shop. */
export function openShop(settings: VendureSettings, ports: ConnectorPorts): GraphqlApi {
  const { address: baseUrl, channelToken, apiKey, username, password } = settings;
  const headers = channelToken === undefined ? {} : { 'vendure-token': channelToken };
  const account = { name: 'Vendure', baseUrl, codes, headers };
  const byKey = { credentials: staticToken(apiKey ?? ''), authorize: (key: string) => ({ 'vendure-api-key': key }) };
  if (apiKey !== undefined) return createGraphqlApi({ ...account, ...byKey }, ports);
  const logIn = async () => {
    const answer = await createGraphqlApi(account, ports).callEach('login', login, { username, password });
    const token = answer.headers.get('vendure-auth-token') ?? '';
    if (token !== '') return { token, lifeMs };
    const words = {
      problem: 'the login is refused',
      remedy: 'check username and password; tokenMethod needs "bearer"',
    };
    const found = { advice: { kind: 'config' }, outcome: 'refused', status: 401, code: '' } as const;
    throw new VendorError('Vendure: login', { ...found, ...words });
  };
  return createGraphqlApi({ ...account, credentials: clientCredentials(logIn, ports.now) }, ports);
}

const bound = z.number().nullish();
const CustomField = z.object({
  ...{ name: z.string().regex(/^\w+$/), type: z.string(), list: z.boolean(), readonly: z.boolean().nullish() },
  options: z.array(z.object({ value: z.string() })).nullish(),
  ...{ min: bound, max: bound, intMin: bound, intMax: bound },
});
const Entity = z.object({ entityName: z.string(), customFields: listOf(CustomField) });
const Config = z.object({ globalSettings: z.object({ serverConfig: z.object({ all: listOf(Entity) }) }) });
// Not by introspection: shops switch that off, and it tells neither bounds nor options.
const configured = `{ globalSettings { serverConfig { all: entityCustomFields { entityName customFields {
  ... on CustomField { name type list readonly } ... on StringCustomFieldConfig { options { value } }
  ... on IntCustomFieldConfig { intMin: min intMax: max } ... on FloatCustomFieldConfig { min max } } } } } }`;

/** The custom fields that the shop's code declares, and that hold values. */
export function openFields(shop: GraphqlApi, { now }: Pick<ConnectorPorts, 'now'>) {
  const declared = cached(() => shop.call('the custom fields', configured, Config), 300_000, now);
  return async (entity: 'Order' | 'Customer') => {
    const { all } = (await declared()).globalSettings.serverConfig;
    const fields = all.flatMap(({ entityName, customFields }) => (entityName === entity ? customFields : []));
    const found = fields.filter(({ type }) => type !== 'relation' && type !== 'struct');
    const names = found.map(({ name }) => name).join(' ');
    return { found, block: names && `fields: customFields { ${names} }` };
  };
}

export type Changed = ChangedRow<Order, string | number>;
const Page = z.object({ orders: z.object({ items: listOf(Order) }) });
const Stored = z.object({ fields: Order.shape.fields });
const inputsOf = (changed: readonly Changed[]) =>
  changed.map(({ id, change }, n) => [`i${n}`, { id, customFields: Object.fromEntries(change.values) }] as const);
/** A body of more than 100 kB is refused. */
export const fits = (changed: readonly Changed[]): boolean =>
  Buffer.byteLength(JSON.stringify(inputsOf(changed))) < 60_000;

/** The orders of a shop, by list and in bulk. */
export function openOrders(shop: GraphqlApi, fieldsOf: ReturnType<typeof openFields>) {
  return {
    async list(types: string, options: string, variables: object, urgency: Urgency = 'work'): Promise<Order[]> {
      const [order, customer] = [await fieldsOf('Order'), await fieldsOf('Customer')];
      const items = orderFields(order.block, customer.block);
      const document = `query(${types}) { orders(options: { take: 100, ${options} }) { items { ${items} } } }`;
      return (await shop.call('the orders', document, Page, { variables, urgency })).orders.items;
    },
    async put(changed: readonly Changed[]): Promise<Rows<Order>> {
      const { block } = await fieldsOf('Order');
      const inputs = inputsOf(changed);
      const parts = inputs.map(([name]) => `${name}: setOrderCustomFields(input: $${name}) { id ${block} }`);
      const document = `mutation(${inputs.map(([name]) => `$${name}: UpdateOrderInput!`)}) { ${parts} }`;
      const { data, failures } = await shop.callEach('the answers', document, Object.fromEntries(inputs));
      const after = (row: Order, name: string) => failures.get(name) ?? { ...row, ...Stored.parse(data[name]) };
      return new Map(changed.map(({ id, row }, n) => [id, after(row, `i${n}`)]));
    },
  };
}
