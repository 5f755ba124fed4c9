import { z } from 'zod';
import type { ConnectorPorts, PointsBucket, PointsTaken, Urgency } from '../../core/connector/contract.ts';
import { SendFailure, send as sendOut } from '../../core/connector/send.ts';
import { notAnswered } from '../../core/connector/vendor-api.ts';
import { CloseloopError } from '../../core/errors.ts';
import { type Credentials, dailyTokens, permanentToken } from './credentials.ts';
import { type Cost, Envelope, entryFailures, exceededCost, type Failure, failureOf } from './failure.ts';
import { type Price, Prices, smallestPlan } from './points.ts';
import { addressOf, apiVersion, type ShopifySettings } from './settings.ts';

const timeoutMs = 30_000;
const graphqlPath = `/admin/api/${apiVersion}/graphql.json`;

/** A query or mutation by its name in the document, what comes back, and what it may cost. */
export interface Operation<S extends z.ZodType> {
  name: string;
  data: S;
  price: Price;
}

export interface Request {
  document: string;
  variables: Readonly<Record<string, unknown>>;
}

/** How many entries a call may have: as many as the points afford, within this. */
export interface Size {
  most: number;
  least?: number;
  /** Of an earlier call of the same work, whose place in line this one keeps. */
  since?: number;
}

export interface SizedAnswer<Data> {
  data: Data;
  /** How many the call had. */
  entries: number;
  /** Those that failed alone, by their place in the answer: `nodes.3`, `o3`. */
  failures: ReadonlyMap<string, CloseloopError>;
  since: number;
}

/** Every call to one shop: its points taken beforehand, with a valid token, one attempt. Throws CloseloopError. */
export interface ShopifyApi {
  /** One answer, whole. */
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

const Token = z.object({ access_token: z.string().min(1), expires_in: z.number().positive().nullish() });
const aDaySeconds = 86_400;

export function shopifyApi(settings: ShopifySettings, ports: ConnectorPorts): ShopifyApi {
  const base = addressOf(settings);
  const { shop } = settings;
  const credentials = credentialsOf(settings);
  const prices = new Prices();
  let warned: string | undefined;

  async function post(place: string, path: string, body: object, urgency: Urgency, token?: string) {
    await ports.budget.take(undefined, urgency);
    const init = {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        ...(token !== undefined && { 'x-shopify-access-token': token }),
      },
      body: JSON.stringify(body),
    };
    return await sendOut(ports.fetch, base + path, init, { timeoutMs }).catch((error: unknown) => {
      throw error instanceof SendFailure ? notAnswered(`Shopify ${place}`, error) : error;
    });
  }

  async function fail({ error, pauseMs }: Failure): Promise<never> {
    if (pauseMs !== undefined) await ports.budget.pause(pauseMs);
    throw error;
  }

  async function fetchToken(id: string, secret: string): Promise<{ token: string; lifeMs: number }> {
    const place = `${shop}, token`;
    const grant = { client_id: id, client_secret: secret, grant_type: 'client_credentials' };
    const { status, headers, json } = await post(place, '/admin/oauth/access_token', grant, 'work');
    if (status === 400 || status === 401) {
      throw new CloseloopError(
        `Shopify ${place}: refused (${status}). An owner of the shop must check that the app is installed, of the same organisation as the ` +
          'shop, and that clientId and clientSecret are its current ones (Dev Dashboard > app > Settings)',
        { kind: 'config' },
      );
    }
    const isPage = json === undefined;
    const failure = failureOf(
      place,
      status,
      headers.get('retry-after'),
      isPage ? undefined : { data: {} },
      ports.random(),
    );
    if (failure !== undefined) return fail(failure);
    const token = shaped(place, Token, json);
    return { token: token.access_token, lifeMs: (token.expires_in ?? aDaySeconds) * 1000 };
  }

  function credentialsOf({ accessToken, clientId, clientSecret }: ShopifySettings): Credentials {
    if (accessToken !== undefined) return permanentToken(accessToken);
    if (clientId === undefined || clientSecret === undefined) {
      throw new CloseloopError(`Shopify ${shop}: accessToken is missing`, { kind: 'config' });
    }
    return dailyTokens(() => fetchToken(clientId, clientSecret), ports.now);
  }

  function compareVersion(answered: string | null): void {
    if (answered === null || answered === apiVersion || answered === warned) return;
    warned = answered;
    ports.log.warn(
      { shop, asked: apiVersion, answered: /^[\w-]{1,20}$/.test(answered) ? answered : 'another one' },
      'Shopify answers in another version of its API than asked for: update closeloop',
    );
  }

  /** One call, paid for. What its answer says of the points is told before anything else is made of it. */
  async function send(
    operation: Operation<z.ZodType>,
    request: Request,
    paid: PointsTaken,
    urgency: Urgency,
    token: string,
  ) {
    let said: Parameters<PointsTaken['settle']>[0] = 'unknown';
    try {
      const body = { query: request.document, variables: request.variables };
      const answer = await post(`${shop}, ${operation.name}`, graphqlPath, body, urgency, token);
      const envelope = Envelope.safeParse(answer.json).data;
      const cost = envelope?.extensions?.cost;
      said = cost === undefined ? (answer.status < 500 ? 'unspent' : 'unknown') : bucketOf(cost);
      const charged = cost?.requestedQueryCost ?? (envelope && exceededCost(envelope));
      if (charged !== undefined) prices.learn(operation.name, operation.price, paid.records, charged);
      return { ...answer, envelope };
    } catch (error) {
      if (error instanceof CloseloopError && error.outcome === 'never-sent') said = 'unspent';
      throw error;
    } finally {
      await paid.settle(said);
    }
  }

  async function charged<S extends z.ZodType>(
    operation: Operation<S>,
    { most, least = 1, since }: Size,
    requestOf: (entries: number) => Request,
    urgency: Urgency,
    byEntry: boolean,
  ): Promise<SizedAnswer<z.output<S>>> {
    const place = `${shop}, ${operation.name}`;
    for (let replaced = false; ; replaced = true) {
      const token = await credentials.current();
      const { base, each, mostEntries } = prices.of(operation.name, operation.price);
      const wanted = { base, each, least, most: Math.max(least, Math.min(most, mostEntries)), assumed: smallestPlan };
      const paid = await ports.budget.takePoints({ ...wanted, ...(since !== undefined && { since }) }, urgency);
      const request = requestOf(paid.records);
      const { status, headers, envelope } = await send(operation, request, paid, urgency, token);
      if (status === 401 && !replaced && credentials.refused(token)) continue;
      const failure = failureOf(place, status, headers.get('retry-after'), envelope, ports.random(), byEntry);
      if (failure !== undefined) return fail(failure);
      compareVersion(headers.get('x-shopify-api-version'));
      const failures = envelope === undefined ? new Map() : entryFailures(place, envelope);
      const data = shaped(place, operation.data, envelope?.data);
      return { data, entries: paid.records, failures, since: paid.since };
    }
  }

  return {
    async call(operation, variables = {}, urgency = 'work') {
      const request = { document: operation.document, variables };
      return (await charged(operation, { most: 1 }, () => request, urgency, false)).data;
    },
    callSized: (operation, size, requestOf, urgency = 'work') => charged(operation, size, requestOf, urgency, true),
  };
}

function bucketOf({ throttleStatus: { maximumAvailable, currentlyAvailable, restoreRate } }: Cost): PointsBucket {
  return { limit: maximumAvailable, available: currentlyAvailable, perSecond: restoreRate };
}

/** Another shape than documented is named by its place, never by its values. It is of no order in particular: none ends for it. */
function shaped<S extends z.ZodType>(place: string, schema: S, json: unknown): z.output<S> {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.join('.') || 'its top';
  throw new CloseloopError(
    `Shopify ${place}: the answer has another shape than documented, at ${where}; tried again`,
    { kind: 'transient' },
    { outcome: 'unknown' },
  );
}
