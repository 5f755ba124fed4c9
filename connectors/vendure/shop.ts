import { z } from 'zod';
import { type Noted, noteText } from '../../core/connector/answer.ts';
import { cached } from '../../core/connector/cached.ts';
import { config, permanent, VendorError } from '../../core/connector/classify.ts';
import type { ConnectorPorts, Urgency } from '../../core/connector/contract.ts';
import type { Rows } from '../../core/connector/desk/rows.ts';
import type { ChangedRow } from '../../core/connector/desk/writing.ts';
import { createGraphqlApi, type GraphqlAccount } from '../../core/connector/graphql.ts';
import { clientCredentials, staticToken } from '../../core/connector/token.ts';
import { listOf, text } from '../../core/entries.ts';
import { Order, orderFields } from './record.ts';
import { mostUnits, type VendureSettings } from './settings.ts';

const right = config('the login or API key is refused, or lacks a right', 'its role needs ReadOrder and UpdateOrder');
const value = permanent('a custom field takes no such value', 'run closeloop check');
const codes: GraphqlAccount['codes'] = {
  document: {
    ...{ FORBIDDEN: right, UNAUTHORIZED: right, BAD_USER_INPUT: value },
    CHANNEL_NOT_FOUND: config('there is no such channel', 'check channelToken'),
    GRAPHQL_VALIDATION_FAILED: config('the shop lacks a field that is asked for', 'run closeloop check'),
    404: config('there is no Admin API at this address', 'check `address`'),
  },
  operation: { USER_INPUT_ERROR: value, ENTITY_NOT_FOUND: permanent('it is not there', 'nothing is left to do') },
  ...{ token: ['FORBIDDEN', 'UNAUTHORIZED'], gone: 'ENTITY_NOT_FOUND' },
};
/** Whether Vendure refused a value. The refusal names the field only in prose. */
export const isRefusal = (error: unknown): error is VendorError =>
  error instanceof VendorError && /^(BAD_)?USER_INPUT/.test(error.code);
const login = `mutation($username: String!, $password: String!) {
  login(username: $username, password: $password, rememberMe: true) { ... on CurrentUser { id } } }`;
const remedy = 'check username, password, and that the shop has the tokenMethod "bearer"';
const noLogin = { problem: 'the login is refused', remedy, status: 401, code: '', outcome: 'refused' } as const;

function openApi(settings: VendureSettings, ports: ConnectorPorts) {
  const { address: baseUrl, channelToken, apiKey, username, password } = settings;
  const account = { name: 'Vendure', baseUrl, codes, headers: channelToken ? { 'vendure-token': channelToken } : {} };
  const byKey = { credentials: staticToken(apiKey ?? ''), authorize: (key: string) => ({ 'vendure-api-key': key }) };
  if (apiKey !== undefined) return createGraphqlApi({ ...account, ...byKey }, ports);
  const logIn = async () => {
    const answer = await createGraphqlApi(account, ports).callEach('login', login, { username, password });
    const token = answer.headers.get('vendure-auth-token') ?? '';
    if (token === '') throw new VendorError('Vendure: login', { ...noLogin, advice: { kind: 'config' } });
    // By default the token is valid for a year. closeloop replaces a token that Vendure refuses.
    return { token, lifeMs: 30 * 86_400_000 };
  };
  return createGraphqlApi({ ...account, credentials: clientCredentials(logIn, ports.now) }, ports);
}

const CustomField = z.object({ name: z.string().regex(/^\w+$/), type: z.string(), list: z.boolean() });
const Entity = z.object({ entityName: z.string(), customFields: listOf(CustomField) });
const Config = z.object({ globalSettings: z.object({ serverConfig: z.object({ all: listOf(Entity) }) }) });
// Shops may switch off introspection, so the fields are read from the server's configuration.
const configured = `{ globalSettings { serverConfig { all: entityCustomFields {
  entityName customFields { ... on CustomField { name type list } } } } } }`;
const Page = z.object({ orders: z.object({ items: listOf(Order) }) });
const Stored = z.object({ fields: Order.shape.fields });
const Note = z.object({ id: z.string(), data: z.object({ note: text }) });
const Notes = z.object({ order: z.object({ history: z.object({ items: listOf(Note) }) }) });
const ofNotes = 'filter: { type: { eq: "ORDER_NOTE" } }, sort: { createdAt: DESC }, take: 1000';
const notes = `query($id: ID!) { order(id: $id) { history(options: { ${ofNotes} }) { items { id data } } } }`;
const addNote = 'mutation($input: AddNoteToOrderInput!) { addNoteToOrder(input: $input) { id } }';
const deleteNote = 'mutation($id: ID!) { deleteOrderNote(id: $id) { result } }';

export type Shop = ReturnType<typeof openShop>;
export function openShop(settings: VendureSettings, ports: ConnectorPorts) {
  const api = openApi(settings, ports);
  const declared = cached(() => api.call('the custom fields', configured, Config), 300_000, ports.now);
  /** The custom fields that the shop's code declares, and that hold values. */
  async function fieldsOf(entity: 'Order' | 'Customer') {
    const { all } = (await declared()).globalSettings.serverConfig;
    const fields = all.flatMap(({ entityName, customFields }) => (entityName === entity ? customFields : []));
    return fields.filter(({ type }) => type !== 'relation' && type !== 'struct');
  }
  async function block(entity: 'Order' | 'Customer') {
    const names = (await fieldsOf(entity)).map(({ name }) => name).join(' ');
    return names && `fields: customFields { ${names} }`;
  }
  return {
    ...{ api, fieldsOf },
    async list(types: string, options: string, variables: object, urgency: Urgency = 'work'): Promise<Order[]> {
      const items = orderFields(await block('Order'), await block('Customer'));
      const document = `query(${types}) { orders(options: { take: 100, ${options} }) { items { ${items} } } }`;
      return (await api.call('the orders', document, Page, { variables, urgency })).orders.items;
    },
    async put(changed: readonly ChangedRow<Order, string | number>[]): Promise<Rows<Order>> {
      const inputs = changed.map(({ id, change }) => ({ id, customFields: Object.fromEntries(change.values) }));
      const selection = `id ${await block('Order')}`;
      const set = { field: 'setOrderCustomFields', input: 'UpdateOrderInput!', selection };
      const sent = await api.callMany('the answers', set, inputs);
      const after = (row: Order, one: unknown) => (one instanceof VendorError ? one : { ...row, ...Stored.parse(one) });
      return new Map(changed.map(({ id, row }, n) => [id, after(row, sent[n])]));
    },
    notes: {
      async list(_: Order, id: string) {
        const { order } = await api.call('the notes', notes, Notes, { variables: { id } });
        return order.history.items.map((one) => ({ id: one.id, text: one.data.note }));
      },
      add(_: Order, about: Noted, id: string) {
        const input = { id, note: noteText(about, mostUnits), isPublic: false };
        return api.call('the note', addNote, z.object({}), { variables: { input } });
      },
      remove: (_: Order, id: string) => api.call('the note', deleteNote, z.object({}), { variables: { id } }),
    },
  };
}
