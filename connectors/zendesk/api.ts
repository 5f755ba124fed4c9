import { createRequire } from 'node:module';
import zendeskNodeApi from 'zendesk-node-api';
import { z } from 'zod';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { pageWatch } from '../../core/connector/pages.ts';
import type { HttpResponse } from '../../core/connector/send.ts';
import { type Credentials, clientCredentials, staticToken, TokenGrant } from '../../core/connector/token.ts';
import { createVendorApi, type VendorCall } from '../../core/connector/vendor-api.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { ResponseHeaders } from '../../core/ports.ts';
import type * as requestPackage from './request/index.cjs';
import { rateLimitsIn, responseRules, tokenRules, unreportedLimits } from './responses.ts';
import { addressOf, scopeOf, type ZendeskSettings } from './settings.ts';

/** A call's endpoint (if it has a limit of its own, which all processes know by this name), urgency and headers. */
export type Via = Pick<VendorCall, 'endpoint' | 'urgency' | 'headers'>;
export const ticketUpdates = { endpoint: 'ticket-updates' } as const satisfies Via;

type Change = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type ZendeskApi = ReturnType<typeof zendeskApi>;

/**
 * The client of one Zendesk account. Each call is within the account's budget, has a valid token, and is sent once. Paths begin with
 * `/api/v2/`.
 * Throws VendorError, or CloseloopError if no call was made.
 */
export function zendeskApi(settings: ZendeskSettings, ports: ConnectorPorts) {
  const { subdomain, apiToken } = settings;
  const account = {
    ...{ name: `Zendesk ${subdomain}`, baseUrl: addressOf(settings), unreportedLimits },
    rateLimits: (headers: ResponseHeaders, _now: Date, endpoint: string | undefined) => rateLimitsIn(headers, endpoint),
    requestIdHeader: 'x-request-id',
    jsonOf: ({ text, json }: HttpResponse) => (text.trim() === '' ? {} : json),
  };
  const tokens = createVendorApi({ ...account, rules: tokenRules(scopeOf(settings)) }, ports);
  const credentials = credentialsOf(settings, (call) => tokens.call(call, TokenGrant), ports.now);
  const basic = apiToken !== undefined && { authorize: (token: string) => ({ authorization: `Basic ${token}` }) };
  const api = createVendorApi({ ...account, credentials, ...basic, rules: responseRules }, ports);

  async function exchange(call: VendorCall): Promise<HttpResponse> {
    const response = await api.exchange(call);
    const warning = response.headers.get('x-zendesk-api-warn');
    if (warning !== null)
      ports.log.warn({ subdomain, dropped: quotedNames(warning) }, 'Zendesk dropped keys of a request');
    await api.accept(call, response);
    return response;
  }
  async function send<S extends z.ZodType>(call: VendorCall, schema: S): Promise<z.output<S>> {
    return api.parse(call, await exchange(call), schema);
  }

  return {
    get: <S extends z.ZodType>(path: string, schema: S, via: Via = {}) => send({ method: 'GET', path, ...via }, schema),
    send: <S extends z.ZodType>(method: Change, path: string, body: object | undefined, schema: S, via: Via = {}) =>
      send({ method, path, ...(body && { body }), ...via }, schema),
    /** Lists the ticket fields through the package `zendesk-node-api`. */
    async listTicketFields<S extends z.ZodType>(schema: S): Promise<z.output<S>> {
      const call: VendorCall = { method: 'GET', path: '/api/v2/ticket_fields.json' };
      let response: HttpResponse | undefined;
      const read = async () => {
        response = await exchange(call);
        return response.text;
      };
      const client = zendeskNodeApi({ url: account.baseUrl, token: '', oauth: true });
      const json = await sendingBy(read, () => client.ticketFields.list());
      if (response === undefined) throw new TypeError('zendesk-node-api made no request');
      return api.parse(call, { ...response, json }, schema);
    },
  };
}

/** An id, which is a number in most places of the API, and a text in closeloop. */
export const idText = z.union([z.number(), z.string()]).transform(String);

const Meta = z.object({
  meta: z.object({ has_more: z.boolean(), after_cursor: z.string().nullish() }).nullish(),
});

/** Reads a list with cursor paging to its end, 100 items per page. @param name the list's name in its pages */
export async function readAll<S extends z.ZodType>(
  api: Pick<ZendeskApi, 'get'>,
  path: string,
  name: string,
  item: S,
): Promise<z.output<S>[]> {
  const items: z.output<S>[] = [];
  const Page = Meta.and(z.object({ [name]: listOf(item) }));
  const watch = pageWatch(`Zendesk ${path.replace(/\d+/g, '{id}')}`);
  for (let after = ''; ; ) {
    const { meta, [name]: list = [] } = await api.get(`${path}?page[size]=100${after}`, Page);
    items.push(...list);
    if (meta?.has_more !== true || meta.after_cursor == null) return items;
    watch(meta.after_cursor);
    after = `&page[after]=${encodeURIComponent(meta.after_cursor)}`;
  }
}

/** The requested lifetime of a token: 2 hours. Zendesk accepts 300 to 172,800 s, and grants half an hour if a client has its own setting. */
const [expires_in, unsaidMs] = [7200, 1_800_000];

function credentialsOf(
  settings: ZendeskSettings,
  fetchToken: (call: VendorCall) => Promise<z.output<typeof TokenGrant>>,
  now: () => Date,
): Credentials {
  const { subdomain, clientId: client_id, clientSecret: client_secret, email, apiToken } = settings;
  if (client_id !== undefined && client_secret !== undefined) {
    const client = { client_id, client_secret, scope: scopeOf(settings) };
    const body = { grant_type: 'client_credentials', ...client, expires_in };
    return clientCredentials(async () => {
      const { token, lifeMs = unsaidMs } = await fetchToken({ method: 'POST', path: '/oauth/tokens', body });
      return { token, lifeMs };
    }, now);
  }
  // An API token (legacy) never changes.
  if (email !== undefined && apiToken !== undefined)
    return staticToken(Buffer.from(`${email}/token:${apiToken}`).toString('base64'));
  throw new CloseloopError(`Zendesk ${subdomain}: clientId and clientSecret are missing`, { kind: 'config' });
}

/**
 * The `request` that `zendesk-node-api` loads. Both must share one instance, or the package would not use closeloop's transport: a bundler, a
 * test runner that transforms imports, or a second checkout would load two instances.
 */
const packageFile = createRequire(import.meta.url).resolve('zendesk-node-api');
const { sendingBy }: typeof requestPackage = createRequire(packageFile)('request');

/** Reads the names in quotes from a header ("Removed restricted keys ["grade"] from parameters …"), and takes only words that can be names. */
const quotedNames = (text: string): string[] =>
  [...text.matchAll(/"([a-z][a-z0-9_]{0,60})"/g)].map(([, name = '']) => name);
