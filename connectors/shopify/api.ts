import type { z } from 'zod';
import type { ConnectorPorts, PointsBucket, PointsTaken, Urgency } from '../../core/connector/contract.ts';
import { createVendorApi, type VendorApi, type VendorCall } from '../../core/connector/vendor-api.ts';
import { CloseloopError } from '../../core/errors.ts';
import { credentialsOf } from './credentials.ts';
import { type Price, Prices, smallestPlan } from './points.ts';
import { type Cost, Envelope, entryFailures, exceededCost, isPartial, responseRules } from './responses.ts';
import { addressOf, apiVersion, type ShopifySettings } from './settings.ts';

const graphqlPath = `/admin/api/${apiVersion}/graphql.json`;

/** A query or mutation: its name in the document, the schema of its result, its price. */
export interface Operation<S extends z.ZodType> {
  name: string;
  data: S;
  price: Price;
}

export interface Request {
  document: string;
  variables: Readonly<Record<string, unknown>>;
}

/** The bounds for the number of entries in a call; the points decide within them. */
export interface Size {
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
    log.warn(
      { shop, asked: apiVersion, answered: /^[\w-]{1,20}$/.test(answered) ? answered : 'another one' },
      'Shopify answers in another version of its API than asked for: update closeloop',
    );
  };
}

export function shopifyApi(settings: ShopifySettings, ports: ConnectorPorts): ShopifyApi {
  const { shop } = settings;
  const name = `Shopify ${shop}`;
  const credentials = credentialsOf(settings, ports);
  const api = createVendorApi(
    {
      name,
      baseUrl: addressOf(settings),
      credentials,
      authorize: (token) => ({ 'x-shopify-access-token': token }),
      rules: responseRules(ports.random),
    },
    ports,
  );
  const prices = new Prices();
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
    const { base, each, mostEntries } = prices.of(operation.name, operation.price);
    const wanted = { base, each, least, most: Math.max(least, Math.min(most, mostEntries)), assumed: smallestPlan };
    const paid = await ports.budget.takePoints({ ...wanted, ...(since !== undefined && { since }) }, urgency);
    const { document: query, variables } = requestOf(paid.records);
    const body = { query, variables };
    const call: VendorCall = { method: 'POST', path: graphqlPath, place: operation.name, body, urgency };
    const { response, envelope = {} } = await sendPaid(call, operation, paid, { api, prices });
    if (!(byEntry && response.ok && isPartial(envelope))) await api.accept(call, response);
    compareVersion(response.headers.get('x-shopify-api-version'));
    const failures = entryFailures(`${name}: ${operation.name}`, envelope);
    const data = api.parse(call, { ...response, json: envelope.data }, operation.data);
    return { data, entries: paid.records, failures, since: paid.since };
  }

  return {
    async call(operation, variables = {}, urgency = 'work') {
      const request = { document: operation.document, variables };
      return (await charged(operation, { most: 1 }, () => request, urgency, false)).data;
    },
    callSized: (operation, size, requestOf, urgency = 'work') => charged(operation, size, requestOf, urgency, true),
  };
}

/** One call whose points are taken. Settles the points by the response before anything else. */
async function sendPaid(
  call: VendorCall,
  operation: Operation<z.ZodType>,
  paid: PointsTaken,
  { api, prices }: { api: VendorApi; prices: Prices },
) {
  let said: Parameters<PointsTaken['settle']>[0] = 'unknown';
  try {
    const response = await api.exchange(call);
    const envelope = Envelope.safeParse(response.json).data;
    const cost = envelope?.extensions?.cost;
    said = cost === undefined ? (response.status < 500 ? 'unspent' : 'unknown') : bucketOf(cost);
    const charged = cost?.requestedQueryCost ?? (envelope && exceededCost(envelope));
    if (charged !== undefined) prices.learn(operation.name, operation.price, paid.records, charged);
    return { response, envelope };
  } catch (error) {
    if (error instanceof CloseloopError && error.outcome === 'never-sent') said = 'unspent';
    throw error;
  } finally {
    await paid.settle(said);
  }
}

function bucketOf({ throttleStatus: { maximumAvailable, currentlyAvailable, restoreRate } }: Cost): PointsBucket {
  return { limit: maximumAvailable, available: currentlyAvailable, perSecond: restoreRate };
}
