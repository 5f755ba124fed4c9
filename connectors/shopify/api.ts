import type { z } from 'zod';
import type { ConnectorPorts, Urgency } from '../../core/connector/contract.ts';
import { type EntryBounds, inPaidCalls, type PricedCall, pointsSender } from '../../core/connector/points.ts';
import { type Credentials, clientCredentials, staticToken, TokenGrant } from '../../core/connector/token.ts';
import { createVendorApi, type VendorCall } from '../../core/connector/vendor-api.ts';
import { costIn, Envelope, entryFailures, isPartial, responseRules } from './responses.ts';
import { addressOf, apiVersion, type ShopifySettings } from './settings.ts';

const path = `/admin/api/${apiVersion}/graphql.json`;
const aDayMs = 86_400_000;

/** A query or mutation: its name in the document, the schema of its result, and its price in points. */
export interface Operation<S extends z.ZodType> extends PricedCall {
  data: S;
}

export interface Request {
  document: string;
  variables: Readonly<Record<string, unknown>>;
}

/** Logs each unexpected version in a response once. */
function versionComparer(shop: string, log: ConnectorPorts['log']): (answered: string | null) => void {
  let warned: string | undefined;
  return (answered) => {
    if (answered === null || answered === apiVersion || answered === warned) return;
    warned = answered;
    const told = { shop, asked: apiVersion, answered: /^[\w-]{1,20}$/.test(answered) ? answered : 'another one' };
    log.warn(told, 'Shopify answers in another version of its API than asked for: update closeloop');
  };
}

/** Shopify refuses a call that could cost more than 1,000 points; 50 points are left for the fields around the records. */
const pointsRules = { assumed: { limit: 1_000, perSecond: 50 }, most: { points: 950, entries: 250 }, told: costIn };

export type ShopifyApi = ReturnType<typeof shopifyApi>;

/** The client of one shop. Each call takes its points first, has a valid token, and is sent once. Throws VendorError. */
export function shopifyApi(settings: ShopifySettings, ports: ConnectorPorts) {
  const { shop } = settings;
  const name = `Shopify ${shop}`;
  const credentials = credentialsOf(settings, ports);
  const authorize = (token: string) => ({ 'x-shopify-access-token': token });
  const rules = responseRules(ports.random);
  const api = createVendorApi({ name, baseUrl: addressOf(settings), credentials, authorize, rules }, ports);
  const send = pointsSender(api, ports.budget, pointsRules);
  const compareVersion = versionComparer(shop, ports.log);

  async function charged<S extends z.ZodType>(
    { data: schema, ...priced }: Operation<S>,
    bounds: EntryBounds,
    requestOf: (entries: number) => Request,
    urgency: Urgency,
    byEntry: boolean,
  ) {
    // The token comes first, so that no points are taken without a token.
    await credentials.current();
    const call: VendorCall = { method: 'POST', path, place: priced.name, urgency };
    const callOf = (entries: number) => {
      const { document: query, variables } = requestOf(entries);
      return { ...call, body: { query, variables } };
    };
    const { response, ...paid } = await send(priced, bounds, callOf, urgency);
    const envelope = Envelope.safeParse(response.json).data ?? {};
    if (!(byEntry && response.ok && isPartial(envelope))) await api.accept(call, response);
    compareVersion(response.headers.get('x-shopify-api-version'));
    const failures = entryFailures(`${name}: ${priced.name}`, envelope);
    return { ...paid, failures, data: api.parse(call, { ...response, json: envelope.data }, schema) };
  }

  return {
    /** Sends a call that fails for any error in the response. */
    async call<S extends z.ZodType>(
      { document, ...operation }: Operation<S> & { document: string },
      variables: Request['variables'] = {},
      urgency: Urgency = 'work',
    ): Promise<z.output<S>> {
      return (await charged(operation, { most: 1 }, () => ({ document, variables }), urgency, false)).data;
    },
    /**
     * Sends a call with as many entries as the points afford. Some entries may have failed alone: `failures` has their errors by their place in
     * the response: `nodes.3`, `o3`.
     */
    callSized: <S extends z.ZodType>(
      operation: Operation<S>,
      bounds: EntryBounds,
      requestOf: (entries: number) => Request,
      urgency: Urgency = 'work',
    ) => charged(operation, bounds, requestOf, urgency, true),
  };
}

/** Makes calls for many items, each with as many items as the points afford. */
export const inPages = <Item, S extends z.ZodType>(
  api: ShopifyApi,
  operation: Operation<S>,
  items: readonly Item[],
  requestOf: (items: readonly Item[]) => Request,
  weightOf?: (item: Item) => number,
  urgency?: Urgency,
) =>
  inPaidCalls(
    items,
    (bounds, itemsFor) => api.callSized(operation, bounds, (entries) => requestOf(itemsFor(entries)), urgency),
    weightOf,
  );

const refused = {
  kind: 'config',
  problem: 'the app gets no token',
  remedy:
    'an owner of the shop must check that the app is installed, of the same organisation as the shop, and that clientId and ' +
    'clientSecret are its current ones (Dev Dashboard > app > Settings)',
} as const;

/** The permanent token of a custom app, or tokens of the client_credentials grant, which last a day. */
function credentialsOf(settings: ShopifySettings, ports: ConnectorPorts): Credentials {
  const { shop, accessToken, clientId: client_id, clientSecret: client_secret } = settings;
  if (accessToken !== undefined) return staticToken(accessToken);
  const rules = { table: { ...responseRules(ports.random).table, 400: refused, 401: refused } };
  const api = createVendorApi({ name: `Shopify ${shop}`, baseUrl: addressOf(settings), rules }, ports);
  const body = { client_id, client_secret, grant_type: 'client_credentials' };
  return clientCredentials(async () => {
    const call = { method: 'POST', path: '/admin/oauth/access_token', place: 'token', body } as const;
    const { token, lifeMs = aDayMs } = await api.call(call, TokenGrant);
    return { token, lifeMs };
  }, ports.now);
}
