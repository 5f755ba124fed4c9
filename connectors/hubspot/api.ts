import { Client } from '@hubspot/api-client';
import type { z } from 'zod';
import type { ConnectorPorts, Urgency } from '../../core/connector/contract.ts';
import { createVendorApi, type VendorCall } from '../../core/connector/vendor-api.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Fetch, SentRequest } from '../../core/ports.ts';
import { quotasIn, searchEndpoint, unreportedLimits } from './quota.ts';
import { inWords, isAboutRequest, type Refusal, refusalIn, responseRules } from './responses.ts';
import type { HubSpotSettings } from './settings.ts';
import { credentialsOf } from './tokens.ts';

export type Attempt<T> = { ok: true; body: T } | { ok: false; refusal: Refusal };

interface Options {
  body?: object;
  query?: Record<string, string>;
  /** Default: work. */
  urgency?: Urgency;
  /** Statuses that are returned as refusals here, though they concern the whole account elsewhere. */
  answers?: readonly number[];
}

/** One attempt per call; the queue repeats. */
export interface HubSpotApi {
  /** Returns refusals of the request (400, 404 …); throws for failures that concern the whole account. */
  attempt<S extends z.ZodType>(
    method: VendorCall['method'],
    path: string,
    schema: S,
    options?: Options,
  ): Promise<Attempt<z.output<S>>>;
  /** For requests that do not depend on a record's content: throws a permanent error for a refusal, too. */
  call<S extends z.ZodType>(
    method: VendorCall['method'],
    path: string,
    schema: S,
    options?: Options,
  ): Promise<z.output<S>>;
}

/** @param timeoutMs For one call from start to the last byte. */
export function hubSpotApi(settings: HubSpotSettings, ports: ConnectorPorts, timeoutMs?: number): HubSpotApi {
  const { baseUrl, timeZone } = settings;
  const api = createVendorApi(
    {
      name: 'HubSpot',
      baseUrl,
      credentials: credentialsOf(settings, ports, timeoutMs),
      rateLimits: (headers, now) => quotasIn(headers, now, timeZone),
      unreportedLimits,
      rules: responseRules(settings, ports.now),
      transport: new OfficialClient(baseUrl, ports.fetch).transport,
      ...(timeoutMs !== undefined && { timeoutMs }),
    },
    ports,
  );

  const attempt: HubSpotApi['attempt'] = async (method, path, schema, { query, answers = [], ...options } = {}) => {
    const search = query === undefined ? '' : `?${new URLSearchParams(query)}`;
    const endpoint = path.endsWith('/search') ? { endpoint: searchEndpoint } : {};
    const call: VendorCall = { method, path: path + search, ...endpoint, ...options };
    const response = await api.exchange(call);
    const { status } = response;
    if (isAboutRequest(status) || answers.includes(status)) return { ok: false, refusal: refusalIn(response) };
    await api.accept(call, response);
    return { ok: true, body: api.parse(call, response, schema) };
  };

  return {
    attempt,
    async call(method, path, schema, options) {
      const answer = await attempt(method, path, schema, options);
      if (answer.ok) return answer.body;
      throw new CloseloopError(`HubSpot: ${method} ${path}: ${inWords(answer.refusal)}`, { kind: 'permanent' });
    },
  };
}

/** The request that the official client passes to its decorators. */
interface Prepared {
  getUrl(): URL;
  getSendData(): { method: string; headers: Record<string, string>; body?: string };
}

/**
 * The official client as transport. It has no time-out. Its decorators (meant for its own retries and limiter, which stay off) let
 * closeloop send the request, without a change of the process's global fetch or dispatcher.
 */
class OfficialClient extends Client {
  readonly #fetch: Fetch;
  readonly #basePath: string;
  #init: SentRequest = {};

  constructor(basePath: string, fetch: Fetch) {
    super({ basePath });
    this.#basePath = basePath;
    this.#fetch = fetch;
  }

  readonly transport: Fetch = (url, init) => {
    const { method = 'GET', body, headers: given = {} } = init;
    // the client sets its own accept header
    const { accept: _, ...headers } = given;
    const path = String(url).slice(this.#basePath.length);
    // the decorators are in a process-wide singleton: set them and send within one tick
    this.#init = init;
    this.init();
    return super.apiRequest({ method, path, headers, defaultJson: false, ...(body !== undefined && { body }) });
  };

  protected override getDecorators() {
    const decorate = () => (request: Prepared) =>
      this.#fetch(request.getUrl(), { ...this.#init, ...request.getSendData() });
    return [{ decorate }];
  }
}
