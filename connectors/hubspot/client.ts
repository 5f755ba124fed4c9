import { Client } from '@hubspot/api-client';
import type { z } from 'zod';
import type { ConnectorPorts, Urgency } from '../../core/connector/contract.ts';
import { boundedFetch } from '../../core/connector/send.ts';
import { CloseloopError } from '../../core/errors.ts';
import { credentialsOf } from './credentials.ts';
import { accountFailure, ErrorBody, inWords, type Refusal, refusalOf } from './failure.ts';
import { refresher } from './oauth.ts';
import { quotasIn, searchLane, searchQuota } from './quota.ts';
import type { HubSpotSettings } from './settings.ts';
import { type Received, received, shaped } from './transport.ts';

const defaultTimeoutMs = 30_000;

/** What the official client hands to its decorators: one request, ready to send. */
interface Prepared {
  getUrl(): URL;
  getSendData(): { method: string; headers: Record<string, string>; body?: string };
}

/**
 * The official client, sending through our `fetch` with a deadline on the whole call: connecting, headers, every byte
 * of the body. By itself it has no time-out at all, and neither undici's header nor its body time-out ends a body that
 * drips. The client's decorators (meant for its own retries and limiter, which we never use) are where a request can
 * be sent another way without touching the process's global fetch or dispatcher.
 */
class DeadlineClient extends Client {
  readonly #fetch: typeof fetch;

  constructor(basePath: string, fetch: typeof globalThis.fetch, timeoutMs: number) {
    super({ basePath });
    this.#fetch = boundedFetch(fetch, timeoutMs);
  }

  override apiRequest(options: Parameters<Client['apiRequest']>[0]): Promise<Response> {
    this.init(); // the decorators live in a process-wide singleton: make them ours, in the same tick as the request
    return super.apiRequest(options);
  }

  protected override getDecorators() {
    const decorate = () => (request: Prepared) => this.#fetch(request.getUrl(), request.getSendData());
    return [{ decorate }];
  }
}

export type Answer<T> = { ok: true; body: T } | { ok: false; refusal: Refusal };

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** One attempt per call; repeating is the queue's business. */
export interface HubSpotApi {
  /** A request that HubSpot dislikes (400, 404 …) is an answer; whatever concerns the whole account is thrown. */
  attempt<S extends z.ZodType>(
    method: Method,
    path: string,
    schema: S,
    options?: Options,
  ): Promise<Answer<z.output<S>>>;
  /** For requests that no record's content can spoil: a refusal is thrown too, as permanent. */
  call<S extends z.ZodType>(method: Method, path: string, schema: S, options?: Options): Promise<z.output<S>>;
}

interface Options {
  body?: object;
  query?: Record<string, string>;
  /** Left out: work for which somebody waits. */
  urgency?: Urgency;
  /** Statuses that are an answer here, though elsewhere they concern the whole account. */
  answers?: readonly number[];
}

/** @param timeoutMs For one call from start to the last byte. */
export function hubSpotApi(settings: HubSpotSettings, ports: ConnectorPorts, timeoutMs = defaultTimeoutMs): HubSpotApi {
  const { baseUrl, timeZone } = settings;
  const client = new DeadlineClient(baseUrl, ports.fetch, timeoutMs);
  const credentials = credentialsOf(settings, refresher(settings, ports, timeoutMs), ports);

  async function once(method: Method, path: string, token: string, options: Options): Promise<Received> {
    const { body, query, urgency } = options;
    const lane = laneOf(path);
    if (lane !== undefined) await ports.budget.reportRemaining(searchQuota, lane);
    await ports.budget.take(lane, urgency);
    const got = await received(`${method} ${path}`, () => {
      const headers = { Authorization: `Bearer ${token}` };
      return client.apiRequest({ method, path, headers, ...(body && { body }), ...(query && { qs: query }) });
    });
    for (const [quota, name] of quotasIn(got.headers, ports.now(), timeZone))
      await ports.budget.reportRemaining(quota, name);
    return got;
  }

  /** A token that is refused is replaced once; what is said of the new one counts. */
  async function authorised(method: Method, path: string, options: Options): Promise<Received> {
    const token = await credentials.current();
    const first = await once(method, path, token, options);
    const other = first.status === 401 ? await credentials.instead(token) : undefined;
    return other === undefined ? first : once(method, path, other, options);
  }

  async function attempt<S extends z.ZodType>(
    method: Method,
    path: string,
    schema: S,
    options: Options = {},
  ): Promise<Answer<z.output<S>>> {
    const place = `${method} ${path}`;
    const { status, ok, headers, json } = await authorised(method, path, options);
    if (ok) return { ok: true, body: shaped(place, schema, json) };
    const refusal = refusalOf(status, ErrorBody.catch({}).parse(json));
    const failure = options.answers?.includes(status)
      ? undefined
      : accountFailure(place, refusal, headers.get('retry-after'), ports.now(), settings);
    if (failure?.pauseMs !== undefined) await ports.budget.pause(failure.pauseMs, pausedLane(path, refusal));
    if (failure !== undefined) throw failure.error;
    return { ok: false, refusal };
  }

  return {
    attempt,
    async call(method, path, schema, options) {
      const answer = await attempt(method, path, schema, options);
      if (answer.ok) return answer.body;
      throw new CloseloopError(`HubSpot ${method} ${path}: ${inWords(answer.refusal)}`, { kind: 'permanent' });
    },
  };
}

const laneOf = (path: string) => (path.endsWith('/search') ? searchLane : undefined);

/** The day's limit is everybody's; any other that a search meets is the searches' own. */
const pausedLane = (path: string, { policyName }: Refusal) => (policyName === 'DAILY' ? undefined : laneOf(path));
