import type { z } from 'zod';
import { type Advice, CloseloopError, type Outcome } from '../errors.ts';
import { mismatchesOf, retryAfter } from '../feedback/failure.ts';
import type { ConnectorPorts, Quota, Urgency } from './contract.ts';
import { type HttpResponse, SendFailure, send } from './send.ts';

export interface VendorAccount {
  /** Begins every message: 'Freshdesk acme'. */
  name: string;
  /** Without a slash at its end. Headers go here and nowhere else. */
  baseUrl: string;
  /** The credentials, mostly; asked for before every call. */
  headers: () => Record<string, string> | Promise<Record<string, string>>;
  /** For one call, to the last byte. Default 30,000. */
  timeoutMs?: number;
  /** What the headers of an answer say of a quota, if anything. */
  quota?: (headers: Headers) => Quota | undefined;
}

/** Both are in the message of an error: no personal data in a path. Its query isn't told. */
export interface VendorCall {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Continues the base address; may hold a query. */
  path: string;
  /** Sent as JSON. */
  body?: object;
  /** As in `Budget.take`. */
  lane?: string;
  urgency?: Urgency;
}

export interface VendorApi {
  /**
   * One attempt, out of the budget and within the deadline; repeating is the queue's business. The answer's JSON as
   * `schema` describes it (`undefined` is parsed for a body that is empty).
   * @throws CloseloopError for everything else: what it advises is in the table of `judge`
   */
  call<S extends z.ZodType>(call: VendorCall, schema: S): Promise<z.output<S>>;
  /** The same; `undefined` when the vendor says that there is no such thing (404). */
  find<S extends z.ZodType>(call: VendorCall, schema: S): Promise<z.output<S> | undefined>;
}

const defaultTimeoutMs = 30_000;
/** A vendor that says "too many" but not for how long is left alone for a minute, the usual window. */
const defaultPauseMs = 60_000;

/** The calls to one vendor account, the way every connector needs them. */
export function createVendorApi(account: VendorAccount, ports: ConnectorPorts): VendorApi {
  const { name, baseUrl, headers, timeoutMs = defaultTimeoutMs, quota } = account;

  async function sendCall({ method, path, body, lane, urgency }: VendorCall, place: string): Promise<HttpResponse> {
    const credentials = await headers();
    await ports.budget.take(lane, urgency);
    const init = {
      method,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...credentials,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
    return await send(ports.fetch, baseUrl + path, init, { timeoutMs }).catch((error: unknown) => {
      throw error instanceof SendFailure ? notAnswered(place, error) : error;
    });
  }

  async function heed({ status, headers }: HttpResponse): Promise<number | undefined> {
    const retryAfterMs = retryAfter(headers.get('retry-after'), ports.now());
    const pauseMs = status === 429 ? (retryAfterMs ?? defaultPauseMs) : status === 503 ? (retryAfterMs ?? 0) : 0;
    if (pauseMs > 0) await ports.budget.pause(pauseMs);
    const left = quota?.(headers);
    if (left !== undefined) await ports.budget.left(left);
    return retryAfterMs;
  }

  async function find<S extends z.ZodType>(call: VendorCall, schema: S): Promise<z.output<S> | undefined> {
    const place = `${name}: ${call.method} ${call.path.split('?')[0]}`;
    if (!call.path.startsWith('/')) throw new TypeError(`${place}: a path begins with a slash`);
    const answer = await sendCall(call, place);
    const retryAfterMs = await heed(answer);
    const { status, text, json } = answer;
    if (status === 404 && (text === '' || json !== undefined)) return undefined;
    const failure = judge(status, text !== '' && json === undefined, retryAfterMs);
    if (failure !== undefined) {
      const { advice, outcome, meaning } = failure;
      throw new CloseloopError(`${place} answered ${status}: ${meaning}.`, advice, { outcome });
    }
    const parsed = schema.safeParse(json);
    if (parsed.success) return parsed.data;
    const at = mismatchesOf(parsed.error).slice(0, 5).join('; ');
    const message = `${place} answered in another shape than expected, at ${at}.`;
    throw new CloseloopError(message, { kind: 'permanent' }, { outcome: 'unknown' });
  }

  return {
    find,
    async call(call, schema) {
      const found = await find(
        call,
        schema.transform((value) => ({ value })),
      );
      if (found !== undefined) return found.value;
      throw new CloseloopError(`${name}: ${call.method} ${call.path.split('?')[0]} answered 404: it does not exist.`, {
        kind: 'permanent',
      });
    },
  };
}

/** The error for a call that was not answered, as `place` began it. */
export function notAnswered(place: string, { message, outcome, cause }: SendFailure): CloseloopError {
  return new CloseloopError(`${place}: ${message}; it is tried again.`, { kind: 'transient' }, { outcome, cause });
}

interface Failure {
  advice: Advice;
  outcome: Outcome;
  /** With the remedy, where a person has to act. */
  meaning: string;
}

/** What an answer means for the job; undefined: it is a good one. `isPage`: its body is something else than JSON. */
export function judge(status: number, isPage: boolean, retryAfterMs?: number): Failure | undefined {
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  const later = (outcome: Outcome, meaning: string, more: object = {}): Failure => ({
    advice: { kind: 'transient', ...wait, ...more },
    outcome,
    meaning,
  });
  // A redirect, or a page, may be a proxy's, and pass.
  const doubt = isPage || status < 400 ? { doubtful: true } : {};
  const never = (kind: 'permanent' | 'config', meaning: string): Failure => {
    return { advice: { kind, ...doubt }, outcome: 'refused', meaning };
  };
  if (status === 429) return later('refused', 'the vendor asks us to wait', { throttled: true });
  if (status === 503 && retryAfterMs !== undefined) {
    return later('unknown', 'the vendor asks us to wait', { throttled: true });
  }
  if (status >= 500 || status === 408) return later('unknown', 'the vendor failed; it is tried again');
  if (status === 409 || status === 423) return later('refused', 'somebody works on the same thing; it is tried again');
  if (status === 401) return never('config', 'the credentials are refused: an admin must check and replace them');
  if (status === 403) return never('config', 'the credentials lack a right: an admin must grant it');
  if (status >= 300 && status < 400) return never('config', 'a redirect, not followed: the address has changed');
  // A proxy's page, most likely; behind a 404 there is no API at all.
  if (status === 404 && isPage) return never('config', 'there is no such API at this address: check it');
  if (status >= 400) return never('permanent', 'the vendor refuses the call');
  return isPage ? later('unknown', 'a page instead of JSON; it is tried again') : undefined;
}
