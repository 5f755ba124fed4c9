import type { z } from 'zod';
import { mismatchesOf } from '../mismatches.ts';
import { classifyResponse, classifyShape, type Meaning, type ResponseRules, VendorError } from './classify.ts';
import type { ConnectorPorts } from './contract.ts';
import { applyRateLimits, type Quota, type RateLimit, type Urgency } from './quota.ts';
import { type HttpResponse, SendFailure, send } from './send.ts';
import type { Credentials } from './token.ts';

/** A vendor account as its calls need to know it. */
export interface VendorAccount {
  /** Begins every message: 'Freshdesk acme'. */
  name: string;
  /** Without a slash at its end. Credentials go here and nowhere else. */
  baseUrl: string;
  /** Left out: calls carry none. */
  credentials?: Credentials;
  /** The headers that carry the token. Default: `Authorization: Bearer`. */
  authorize?: (token: string) => Record<string, string>;
  /** For one call, to the last byte. Default 30,000. */
  timeoutMs?: number;
  /** Only so many bytes of an answer are looked at. */
  head?: number;
  /** What the headers of an answer say of the account's limits, and of the endpoint's (`VendorCall.endpoint`). */
  rateLimits?: (headers: Headers, now: Date, endpoint: string | undefined) => readonly RateLimit[];
  /** Limits of endpoints (`VendorCall.endpoint`) that no header tells. */
  untoldLimits?: Readonly<Record<string, Quota>>;
  /** What is peculiar to its answers. */
  rules?: ResponseRules;
  /** What it means that there was no answer. Default: transient. */
  unanswered?: (failure: SendFailure) => Meaning | undefined;
  /** The header that holds the vendor's own name of a call, for its support. */
  requestIdHeader?: string;
  /** The JSON of an answer; undefined where it holds none. Default: its text, as JSON. */
  jsonOf?: (response: HttpResponse) => unknown;
  /** Another way to send: a vendor's own client, underneath. */
  transport?: typeof globalThis.fetch;
}

export interface VendorCall {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Continues the base address; may hold a query. */
  path: string;
  /** What messages call it: no personal data, no ids. Default: method and path, whose numbers are left out. */
  place?: string;
  /** Sent as JSON; a text as it is. */
  body?: object | string;
  /** Sent form-encoded. */
  form?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  /** As in `Budget.take`. */
  endpoint?: string;
  urgency?: Urgency;
}

export interface VendorApi {
  /**
   * One attempt, out of the budget and within the deadline; repeating is the queue's business. The answer's JSON as
   * `schema` describes it (`undefined` is parsed for a body that is empty).
   * @throws VendorError for everything else: what it advises is in the table of classify.ts
   */
  call<S extends z.ZodType>(call: VendorCall, schema: S): Promise<z.output<S>>;
  /** The same; `undefined` when the vendor says that there is no such thing (404). */
  find<S extends z.ZodType>(call: VendorCall, schema: S): Promise<z.output<S> | undefined>;
  /** The same as `call`, in its steps: the answer, whatever it says; a token that is refused is replaced once. */
  exchange(call: VendorCall): Promise<HttpResponse>;
  /** Then: is it what was asked for? Pauses whom it asks to wait. @throws VendorError */
  accept(call: VendorCall, response: HttpResponse): Promise<void>;
  /** Then: what it says. @throws VendorError for another shape */
  parse<S extends z.ZodType>(call: VendorCall, response: HttpResponse, schema: S): z.output<S>;
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

type VendorPorts = Pick<ConnectorPorts, 'fetch' | 'now' | 'budget'>;

/** As messages name a call. */
function placeOf({ name }: VendorAccount, { method, path, place }: VendorCall): string {
  return `${name}: ${place ?? `${method} ${(path.split('?')[0] ?? '').replace(/\/\d+(?=\/|$)/g, '/{id}')}`}`;
}

/** The calls to one vendor account, the way every connector needs them. */
export function createVendorApi(account: VendorAccount, ports: VendorPorts): VendorApi {
  const { credentials, rules, requestIdHeader } = account;
  const attempt = (call: VendorCall, token: string | undefined) => sendOnce(account, ports, call, token);

  async function exchange(call: VendorCall): Promise<HttpResponse> {
    const token = await credentials?.current();
    const response = await attempt(call, token);
    if (response.status !== 401 || token === undefined) return response;
    const other = await credentials?.instead(token);
    return other === undefined ? response : await attempt(call, other);
  }

  async function accept(call: VendorCall, response: HttpResponse): Promise<void> {
    const found = classifyResponse(response, ports.now(), rules, call.path);
    if (found === undefined) return;
    if (found.pause !== undefined) {
      await ports.budget.pause(found.pause.ms, found.pause.of === 'endpoint' ? call.endpoint : undefined);
    }
    const reference = requestIdHeader === undefined ? undefined : (response.headers.get(requestIdHeader) ?? undefined);
    throw new VendorError(placeOf(account, call), found, { reference });
  }

  function parse<S extends z.ZodType>(call: VendorCall, response: HttpResponse, schema: S): z.output<S> {
    const parsed = schema.safeParse(response.json);
    if (parsed.success) return parsed.data;
    const at = mismatchesOf(parsed.error).slice(0, 5).join('; ');
    throw new VendorError(placeOf(account, call), classifyShape(response, at, ports.now(), rules));
  }

  async function call<S extends z.ZodType>(one: VendorCall, schema: S): Promise<z.output<S>> {
    const response = await exchange(one);
    await accept(one, response);
    return parse(one, response, schema);
  }

  return {
    call,
    async find(one, schema) {
      try {
        return await call(one, schema);
      } catch (error) {
        if (error instanceof VendorError && error.isGone) return undefined;
        throw error;
      }
    },
    exchange,
    accept,
    parse,
  };
}

/** One attempt, out of the budget, which is told what the response's headers say of it. */
async function sendOnce(
  account: VendorAccount,
  ports: VendorPorts,
  call: VendorCall,
  token: string | undefined,
): Promise<HttpResponse> {
  const { name, baseUrl, authorize = bearer, timeoutMs = 30_000, head } = account;
  const { jsonOf = ({ json }: HttpResponse) => json, transport = ports.fetch } = account;
  const { endpoint, urgency, path } = call;
  if (path !== '' && !path.startsWith('/'))
    throw new TypeError(`${placeOf(account, call)}: a path begins with a slash`);
  if (leadsElsewhere.test(path)) throw new TypeError(`${name}: a path has neither '..' nor '#' in it`);
  const untold = endpoint === undefined ? undefined : account.untoldLimits?.[endpoint];
  if (untold !== undefined) await ports.budget.reportRemaining(untold, endpoint);
  await ports.budget.take(endpoint, urgency);
  const init = requestOf(call, token === undefined ? {} : authorize(token));
  const options = { timeoutMs, ...(head !== undefined && { head }) };
  const response = await send(transport, baseUrl + path, init, options).catch((error: unknown) => {
    throw error instanceof SendFailure ? unanswered(placeOf(account, call), error, account.unanswered) : error;
  });
  await applyRateLimits(ports.budget, account.rateLimits?.(response.headers, ports.now(), endpoint) ?? []);
  const { status, ok, headers, text } = response;
  return { status, ok, headers, text, json: jsonOf(response) };
}

/** An id that got into a path must not lead out of its resource, nor cut the query off. */
const leadsElsewhere = /[/\\](\.|%2e){1,2}([/\\?]|$)|#/i;

function requestOf({ method, body, form, headers }: VendorCall, credentials: Record<string, string>): RequestInit {
  const text = typeof body === 'object' ? JSON.stringify(body) : body;
  const type = form !== undefined ? 'application/x-www-form-urlencoded' : text !== undefined && 'application/json';
  const sent = form === undefined ? text : new URLSearchParams(form).toString();
  return {
    method,
    headers: { accept: 'application/json', ...(type && { 'content-type': type }), ...headers, ...credentials },
    ...(sent !== undefined && { body: sent }),
  };
}

/** The error for a call that was not answered. */
function unanswered(place: string, failure: SendFailure, peculiar: VendorAccount['unanswered']): VendorError {
  const { message, outcome, cause } = failure;
  const { kind, problem, remedy } = peculiar?.(failure) ?? {
    kind: 'transient',
    problem: message,
    remedy: 'it is tried again',
  };
  const advice = kind === 'config' || kind === 'permanent' ? { kind } : { kind: 'transient' as const };
  return new VendorError(place, { advice, outcome, problem, remedy, status: 0, code: '' }, { cause });
}
