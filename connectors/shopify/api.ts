import type { z } from 'zod';
import type { ConnectorPorts, PointsTaken, Urgency } from '../../core/connector/contract.ts';
import { type Credentials, clientCredentials, staticToken, TokenGrant } from '../../core/connector/token.ts';
import { createVendorApi, type VendorApi, type VendorCall } from '../../core/connector/vendor-api.ts';
import { CloseloopError } from '../../core/errors.ts';
import { Envelope, entryFailures, exceededCost, isPartial, responseRules } from './responses.ts';
import { addressOf, apiVersion, type ShopifySettings } from './settings.ts';

const graphqlPath = `/admin/api/${apiVersion}/graphql.json`;
const aDayMs = 86_400_000;

/** A query or mutation: its name in the document, the schema of its result, and its points: without an entry, and for each entry. */
export interface Operation<S extends z.ZodType> {
  name: string;
  data: S;
  price: { base: number; each: number };
}

export interface Request {
  document: string;
  variables: Readonly<Record<string, unknown>>;
}

/** The bounds for the number of entries in a call; the points decide within them. */
interface Size {
  most: number;
  least?: number;
  /** `since` of an earlier call of the same work: this call keeps its place in the queue. */
  since?: number;
}

interface SizedAnswer<Data> {
  data: Data;
  /** The number of entries in the call. */
  entries: number;
  /** Entries that failed alone, by their place in the response: `nodes.3`, `o3`. */
  failures: ReadonlyMap<string, CloseloopError>;
  since: number;
}

/** The client of one shop: takes the points first, with a valid token, one attempt. Throws VendorError. */
export interface ShopifyApi {
  /** Fails for any error in the response. */
  call<S extends z.ZodType>(
    operation: Operation<S> & { document: string },
    variables?: Request['variables'],
    urgency?: Urgency,
  ): Promise<z.output<S>>;
  /** As many entries as the points afford; some may have failed. */
  callSized<S extends z.ZodType>(
    operation: Operation<S>,
    size: Size,
    requestOf: (entries: number) => Request,
    urgency?: Urgency,
  ): Promise<SizedAnswer<z.output<S>>>;
}

/** Logs once for each unexpected version in a response. */
function versionComparer(shop: string, log: ConnectorPorts['log']): (answered: string | null) => void {
  let warned: string | undefined;
  return (answered) => {
    if (answered === null || answered === apiVersion || answered === warned) return;
    warned = answered;
    const told = { shop, asked: apiVersion, answered: /^[\w-]{1,20}$/.test(answered) ? answered : 'another one' };
    log.warn(told, 'Shopify answers in another version of its API than asked for: update closeloop');
  };
}

export function shopifyApi(settings: ShopifySettings, ports: ConnectorPorts): ShopifyApi {
  const { shop } = settings;
  const name = `Shopify ${shop}`;
  const credentials = credentialsOf(settings, ports);
  const authorize = (token: string) => ({ 'x-shopify-access-token': token });
  const rules = responseRules(ports.random);
  const api = createVendorApi({ name, baseUrl: addressOf(settings), credentials, authorize, rules }, ports);
  const prices = pricing();
  const compareVersion = versionComparer(shop, ports.log);

  async function charged<S extends z.ZodType>(
    operation: Operation<S>,
    { most, least = 1, since }: Size,
    requestOf: (entries: number) => Request,
    urgency: Urgency,
    byEntry: boolean,
  ): Promise<SizedAnswer<z.output<S>>> {
    // No points are taken before there is a token.
    await credentials.current();
    const { mostEntries, ...price } = prices.of(operation);
    const bounds = { least, most: Math.max(least, Math.min(most, mostEntries)), ...(since !== undefined && { since }) };
    const paid = await ports.budget.takePoints({ ...price, ...bounds, assumed: smallestPlan }, urgency);
    const { document: query, variables } = requestOf(paid.records);
    const body = { query, variables };
    const call: VendorCall = { method: 'POST', path: graphqlPath, place: operation.name, body, urgency };
    const { response, envelope = {} } = await sendPaid(call, paid, api, (points) =>
      prices.learn(operation, paid.records, points),
    );
    if (!(byEntry && response.ok && isPartial(envelope))) await api.accept(call, response);
    compareVersion(response.headers.get('x-shopify-api-version'));
    const failures = entryFailures(`${name}: ${operation.name}`, envelope);
    const data = api.parse(call, { ...response, json: envelope.data }, operation.data);
    return { data, entries: paid.records, failures, since: paid.since };
  }

  return {
    async call({ document, ...operation }, variables = {}, urgency = 'work') {
      return (await charged(operation, { most: 1 }, () => ({ document, variables }), urgency, false)).data;
    },
    callSized: (operation, size, requestOf, urgency = 'work') => charged(operation, size, requestOf, urgency, true),
  };
}

/** One call whose points are taken. Settles the points by the response before anything else. */
async function sendPaid(call: VendorCall, paid: PointsTaken, api: VendorApi, learn: (points: number) => void) {
  let said: Parameters<PointsTaken['settle']>[0] = 'unknown';
  try {
    const response = await api.exchange(call);
    const envelope = Envelope.safeParse(response.json).data;
    const cost = envelope?.extensions?.cost;
    const {
      maximumAvailable: limit = 0,
      currentlyAvailable: available = 0,
      restoreRate: perSecond = 0,
    } = cost?.throttleStatus ?? {};
    if (cost !== undefined) said = { limit, available, perSecond };
    else if (response.status < 500) said = 'unspent';
    const points = cost?.requestedQueryCost ?? (envelope && exceededCost(envelope));
    if (points !== undefined) learn(points);
    return { response, envelope };
  } catch (error) {
    if (error instanceof CloseloopError && error.outcome === 'never-sent') said = 'unspent';
    throw error;
  } finally {
    await paid.settle(said);
  }
}

/** The bucket of the smallest plan, which is assumed until the shop's first response. */
const smallestPlan = { limit: 1_000, perSecond: 50 };
/** Shopify refuses a call that could cost more than 1,000 points; the difference is for the fields around the records. */
const mostPoints = 950;
/** Ids in one call. */
const mostIds = 250;

/** Shopify's counting changes and its documentation is not exact, so the cost in each response corrects the price of its operation. */
function pricing() {
  const factors = new Map<string, number>();
  return {
    /** The present price, and how many entries a call may have at it. */
    of({ name, price }: Operation<z.ZodType>) {
      const factor = factors.get(name) ?? 1;
      const [base, each] = [price.base * factor, price.each * factor];
      const room = Math.floor((mostPoints - base) / each);
      return { base, each, mostEntries: each === 0 ? 1 : Math.max(1, Math.min(mostIds, room)) };
    },
    /** @param entries of the call that was charged with `points` before it ran */
    learn({ name, price }: Operation<z.ZodType>, entries: number, points: number): void {
      factors.set(name, points / (price.base + entries * price.each));
    },
  };
}

/** The items of one call with its data, or the error of all of them. */
type Page<Item, Data> =
  | { items: readonly Item[]; data: Data; failures: ReadonlyMap<string, CloseloopError> }
  | { items: readonly Item[]; error: CloseloopError };

/**
 * Calls for many items, one call after the other, each with as many items as the points afford. When a call fails after others
 * succeeded, the last page has its error, its items and all remaining items. @throws when the first call fails
 * @param weightOf the number of entries of an item, which stay together; default 1
 */
export async function* inPages<Item, S extends z.ZodType>(
  api: ShopifyApi,
  operation: Operation<S>,
  items: readonly Item[],
  requestOf: (items: readonly Item[]) => Request,
  weightOf: (item: Item) => number = () => 1,
): AsyncGenerator<Page<Item, z.output<S>>> {
  let kept: { since?: number } = {};
  for (let rest = items; rest.length > 0; ) {
    const weights = rest.map(weightOf);
    const size = { most: weights.reduce((sum, one) => sum + one, 0), least: weights[0] ?? 1, ...kept };
    let page: readonly Item[] = [];
    try {
      const answer = await api.callSized(operation, size, (entries) => {
        page = rest.slice(0, countWithin(weights, entries));
        return requestOf(page);
      });
      kept = { since: answer.since };
      yield { items: page, data: answer.data, failures: answer.failures };
    } catch (error) {
      if (rest === items || !(error instanceof CloseloopError)) throw error;
      yield { items: rest, error };
      return;
    }
    rest = rest.slice(page.length);
  }
}

/** How many of the first items have at most so many entries; at least one. */
function countWithin(weights: readonly number[], entries: number): number {
  let sum = 0;
  const end = weights.findIndex((weight) => {
    sum += weight;
    return sum > entries;
  });
  return end === -1 ? weights.length : Math.max(1, end);
}

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
