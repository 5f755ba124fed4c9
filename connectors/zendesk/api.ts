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

/** A call's endpoint (where it has a limit of its own, known to all processes by this name) and urgency. */
export type Via = Pick<VendorCall, 'endpoint' | 'urgency' | 'headers'>;
export const ticketUpdates = { endpoint: 'ticket-updates' } as const satisfies Via;

/**
 * The client of one Zendesk account: within its budget, with a valid token, one attempt. `path` begins with `/api/v2/`.
 * Throws VendorError, or CloseloopError where no call was made.
 */
export interface ZendeskApi {
  get<S extends z.ZodType>(path: string, schema: S, via?: Via): Promise<z.output<S>>;
  send<S extends z.ZodType>(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body: object | undefined,
    schema: S,
    via?: Via,
  ): Promise<z.output<S>>;
  /** Through `zendesk-node-api`. */
  listTicketFields<S extends z.ZodType>(schema: S): Promise<z.output<S>>;
}

export function zendeskApi(settings: ZendeskSettings, ports: ConnectorPorts): ZendeskApi {
  const { subdomain, apiToken } = settings;
  const account = {
    name: `Zendesk ${subdomain}`,
    baseUrl: addressOf(settings),
    rateLimits: (headers: ResponseHeaders, _now: Date, endpoint: string | undefined) => rateLimitsIn(headers, endpoint),
    unreportedLimits,
    requestIdHeader: 'x-request-id',
    jsonOf: ({ text, json }: HttpResponse) => (text.trim() === '' ? {} : json),
  };
  const tokens = createVendorApi({ ...account, rules: tokenRules(scopeOf(settings)) }, ports);
  const api = createVendorApi(
    {
      ...account,
      credentials: credentialsOf(settings, (call) => tokens.call(call, TokenGrant), ports.now),
      ...(apiToken !== undefined && { authorize: (token) => ({ authorization: `Basic ${token}` }) }),
      rules: responseRules,
    },
    ports,
  );

  async function exchange(call: VendorCall): Promise<HttpResponse> {
    const response = await api.exchange(call);
    const dropped = response.headers.get('x-zendesk-api-warn');
    if (dropped !== null)
      ports.log.warn({ subdomain, dropped: quotedNames(dropped) }, 'Zendesk dropped keys of a request');
    await api.accept(call, response);
    return response;
  }

  async function send<S extends z.ZodType>(call: VendorCall, schema: S): Promise<z.output<S>> {
    return api.parse(call, await exchange(call), schema);
  }

  return {
    get: (path, schema, via = {}) => send({ method: 'GET', path, ...via }, schema),
    send: (method, path, body, schema, via = {}) => send({ method, path, ...(body && { body }), ...via }, schema),
    async listTicketFields(schema) {
      const call: VendorCall = { method: 'GET', path: '/api/v2/ticket_fields.json' };
      const responses: HttpResponse[] = [];
      const fields = await sendingBy(
        async () => {
          const response = await exchange(call);
          responses.push(response);
          return response.text;
        },
        () => zendeskNodeApi({ url: account.baseUrl, token: '', oauth: true }).ticketFields.list(),
      );
      const [response] = responses;
      if (response === undefined) throw new TypeError('zendesk-node-api made no request');
      return api.parse(call, { ...response, json: fields }, schema);
    },
  };
}

const Meta = z.object({
  meta: z.object({ has_more: z.boolean(), after_cursor: z.string().nullish() }).nullish(),
});

/** A list with cursor paging, 100 items each, to its end. @param name of the list in its pages */
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

/** The requested lifetime: 2 hours. Zendesk accepts 300 to 172,800 s, and gives half an hour where a client has its own setting. */
const life = { wantedSeconds: 7200, unsaidMs: 1_800_000 };

function credentialsOf(
  settings: ZendeskSettings,
  fetchToken: (call: VendorCall) => Promise<z.output<typeof TokenGrant>>,
  now: () => Date,
): Credentials {
  const { subdomain, clientId: client_id, clientSecret: client_secret, email, apiToken } = settings;
  if (client_id !== undefined && client_secret !== undefined) {
    const scope = scopeOf(settings);
    const body = { grant_type: 'client_credentials', client_id, client_secret, scope, expires_in: life.wantedSeconds };
    return clientCredentials(async () => {
      const { token, lifeMs = life.unsaidMs } = await fetchToken({ method: 'POST', path: '/oauth/tokens', body });
      return { token, lifeMs };
    }, now);
  }
  // Legacy: an API token never changes.
  if (email !== undefined && apiToken !== undefined)
    return staticToken(Buffer.from(`${email}/token:${apiToken}`).toString('base64'));
  throw new CloseloopError(`Zendesk ${subdomain}: clientId and clientSecret are missing`, { kind: 'config' });
}

/**
 * The `request` that `zendesk-node-api` loads. Both must share one instance, or the package would not use closeloop's transport; a
 * bundler, a test runner that transforms imports, or a second checkout would load two.
 */
const packageFile = createRequire(import.meta.url).resolve('zendesk-node-api');
const { sendingBy }: typeof requestPackage = createRequire(packageFile)('request');

/** "Removed restricted keys ["grade"] from parameters …": of a header's words only what can be a name. */
const quotedNames = (text: string): string[] =>
  [...text.matchAll(/"([a-z][a-z0-9_]{0,60})"/g)].map(([, name = '']) => name);
