import { Client } from '@hubspot/api-client';
import type { z } from 'zod';
import type { ConnectorPorts } from '../../core/connector.ts';
import { CloseloopError, type Outcome } from '../../core/errors.ts';
import { accountFailure, ErrorBody, inWords, type Refusal, refusalOf } from './failure.ts';
import type { HubSpotSettings } from './settings.ts';

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
  readonly #timeoutMs: number;

  constructor(config: { accessToken: string; basePath: string }, fetch: typeof globalThis.fetch, timeoutMs: number) {
    super(config);
    this.#fetch = fetch;
    this.#timeoutMs = timeoutMs;
  }

  override apiRequest(options: Parameters<Client['apiRequest']>[0]): Promise<Response> {
    this.init(); // the decorators live in a process-wide singleton: make them ours, in the same tick as the request
    return super.apiRequest(options);
  }

  protected override getDecorators() {
    const decorate = () => (request: Prepared) =>
      this.#fetch(request.getUrl(), {
        ...request.getSendData(),
        redirect: 'manual',
        signal: AbortSignal.timeout(this.#timeoutMs),
      });
    return [{ decorate }];
  }
}

export type Answer<T> = { ok: true; body: T } | { ok: false; refusal: Refusal };

/** One attempt per call; repeating is the queue's business. */
export interface HubSpotApi {
  /** A request that HubSpot dislikes (400, 404 …) is an answer; whatever concerns the whole account is thrown. */
  attempt<S extends z.ZodType>(
    method: 'GET' | 'POST',
    path: string,
    schema: S,
    options?: Options,
  ): Promise<Answer<z.output<S>>>;
  /** For requests that no record's content can spoil: a refusal is thrown too, as permanent. */
  call<S extends z.ZodType>(method: 'GET' | 'POST', path: string, schema: S, options?: Options): Promise<z.output<S>>;
}

interface Options {
  body?: object;
  query?: Record<string, string>;
}

/** @param timeoutMs For one call from start to the last byte. */
export function hubSpotApi(settings: HubSpotSettings, ports: ConnectorPorts, timeoutMs = defaultTimeoutMs): HubSpotApi {
  const { accessToken, baseUrl, timeZone } = settings;
  const client = new DeadlineClient({ accessToken, basePath: baseUrl }, ports.fetch, timeoutMs);

  async function attempt<S extends z.ZodType>(
    method: 'GET' | 'POST',
    path: string,
    schema: S,
    { body, query }: Options = {},
  ): Promise<Answer<z.output<S>>> {
    const place = `${method} ${path}`;
    await ports.budget.take();
    const { response, text } = await send();
    const json = parseJson(text);
    if (response.ok) {
      await restIfUsedUp(response);
      return { ok: true, body: shaped(place, schema, json) };
    }
    const refusal = refusalOf(response.status, ErrorBody.catch({}).parse(json));
    const failure = accountFailure(place, refusal, response.headers.get('retry-after'), ports.now(), timeZone);
    if (failure?.pauseMs !== undefined) await ports.budget.pause(failure.pauseMs);
    else await restIfUsedUp(response);
    if (failure !== undefined) throw failure.error;
    return { ok: false, refusal };

    async function send(): Promise<{ response: Response; text: string }> {
      try {
        const response = await client.apiRequest({ method, path, ...(body && { body }), ...(query && { qs: query }) });
        return { response, text: await response.text() };
      } catch (cause) {
        throw networkError(place, cause);
      }
    }
  }

  /** The last call of the window was ours: the others wait for the next window rather than be refused. */
  async function restIfUsedUp({ headers }: Response): Promise<void> {
    if (headers.get('x-hubspot-ratelimit-remaining') !== '0') return;
    const intervalMs = Number(headers.get('x-hubspot-ratelimit-interval-milliseconds'));
    await ports.budget.pause(intervalMs > 0 ? intervalMs : 10_000);
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

const neverSent = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'EHOSTUNREACH']);

function networkError(place: string, cause: unknown): CloseloopError {
  const inner = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause;
  const code = typeof inner === 'object' && inner !== null && 'code' in inner ? String(inner.code) : '';
  const timedOut = cause instanceof Error && cause.name === 'TimeoutError';
  const what = timedOut ? 'no whole answer in time' : `no connection${code ? ` (${code})` : ''}`;
  const outcome: Outcome = neverSent.has(code) ? 'never-sent' : 'unknown';
  return new CloseloopError(`HubSpot ${place}: ${what}; tried again`, { kind: 'transient' }, { outcome, cause });
}

/** Another shape than expected is named by its place, never by its values. */
function shaped<S extends z.ZodType>(place: string, schema: S, json: unknown): z.output<S> {
  if (json === undefined) {
    const advice = { kind: 'transient' } as const; // a proxy's page, most likely
    throw new CloseloopError(`HubSpot ${place}: the answer is not JSON; tried again`, advice, { outcome: 'unknown' });
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const where = issue?.path.length ? issue.path.join('.') : 'its top';
  throw new CloseloopError(
    `HubSpot ${place}: the answer has another shape than expected, at ${where} (${issue?.code ?? 'unknown'})`,
    { kind: 'permanent' },
    { outcome: 'unknown' },
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
