import type { z } from 'zod';
import { mismatchesOf } from '../mismatches.ts';
import type { Fetch, ResponseHeaders, SentRequest } from '../ports.ts';
import { redacted } from '../redaction.ts';
import { classifyResponse, classifyShape, type Meaning, type ResponseRules, VendorError } from './classify.ts';
import type { ConnectorPorts } from './contract.ts';
import type { Quota, RateLimit, Urgency } from './quota.ts';
import { type HttpResponse, SendFailure, send } from './send.ts';
import type { Credentials } from './token.ts';

/** A vendor account, with everything that calls need. */
export interface VendorAccount {
  /** The begin of every message: 'Freshdesk acme'. */
  name: string;
  /** The base address, without a slash at its end. Credentials are sent only there. */
  baseUrl: string;
  /** Left out: calls carry no credentials. */
  credentials?: Credentials;
  /** The headers that carry the token. Default: `Authorization: Bearer`. */
  authorize?: (token: string) => Record<string, string>;
  /** Whether a response refuses the token, so that closeloop may try another token. Default: status 401. */
  refuses?: (response: HttpResponse) => boolean;
  /** The deadline of one call, to the last byte. Default 30,000. */
  timeoutMs?: number;
  /** Reads only this many bytes of a response. */
  head?: number;
  /** The limits in a response's headers: of the account, and of the endpoint (`VendorCall.endpoint`). */
  rateLimits?: (headers: ResponseHeaders, now: Date, endpoint: string | undefined) => readonly RateLimit[];
  /** Limits of endpoints (`VendorCall.endpoint`) that no header reports. */
  unreportedLimits?: Readonly<Record<string, Quota>>;
  /** How the vendor's responses differ from the standard table. */
  rules?: ResponseRules;
  /** The meaning of a missing response. Default: transient. */
  unanswered?: (failure: SendFailure) => Meaning | undefined;
  /** The header with the vendor's id of a request, for the vendor's support. */
  requestIdHeader?: string;
  /** The JSON of a response; undefined where it has none. Default: the body, parsed. */
  jsonOf?: (response: HttpResponse) => unknown;
  /** Sends the requests in place of `fetch`: the vendor's own client. */
  transport?: Fetch;
}

export interface VendorCall {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path after the base address; may have a query. */
  path: string;
  /**
   * The call in messages: no personal data, no ids. Default: method and path, where only plain words and versions are shown. Needed where
   * an id may be a plain word.
   */
  place?: string;
  /** The body, sent as JSON; a string is sent unchanged. */
  body?: object | string;
  /** The body, sent form-encoded. */
  form?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  /** The endpoint's name, as in `Budget.take`. */
  endpoint?: string;
  urgency?: Urgency;
}

type CallDetails = Omit<VendorCall, 'method' | 'path' | 'body'>;

export interface VendorApi {
  /**
   * Sends the call once, within the budget and the deadline; the queue repeats failed work. Returns the JSON of the response, parsed by
   * `schema` (`undefined` for an empty body).
   * @throws VendorError for every other response, with the advice of the table in classify.ts
   */
  call<S extends z.ZodType>(call: VendorCall, schema: S): Promise<z.output<S>>;
  /** `call` by GET. */
  get<S extends z.ZodType>(path: string, schema: S, more?: CallDetails): Promise<z.output<S>>;
  /** Like `call`, with a JSON body and any method but GET. */
  send<S extends z.ZodType>(
    method: Exclude<VendorCall['method'], 'GET'>,
    path: string,
    body: object | undefined,
    schema: S,
    more?: CallDetails,
  ): Promise<z.output<S>>;
  /** Like `call`, but `undefined` for a resource that does not exist (404). */
  find<S extends z.ZodType>(call: VendorCall, schema: S): Promise<z.output<S> | undefined>;
  /** First step of `call`: returns the response, whatever its status. A refused token is replaced once. */
  exchange(call: VendorCall): Promise<HttpResponse>;
  /** Second step: classifies the response, and pauses the calls for which the vendor asks to wait. @throws VendorError for a failure */
  accept(call: VendorCall, response: HttpResponse): Promise<void>;
  /** Third step: parses the body. @throws VendorError for another shape */
  parse<S extends z.ZodType>(call: VendorCall, response: HttpResponse, schema: S): z.output<S>;
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

type VendorPorts = Pick<ConnectorPorts, 'fetch' | 'now' | 'budget'>;

/**
 * The method and the path without ids and query. An id may name a person: only segments made of letters, and versions, stay as they are.
 */
function operationOf({ method, path, place }: VendorCall): string {
  return place ?? `${method} ${(path.split('?')[0] ?? '').split('/').map(segmentOf).join('/')}`;
}

const segmentOf = (segment: string): string =>
  /^([A-Za-z_-]*|v\d+|\d+\.\d+|\d{4}-\d\d)(\.json)?$/.test(segment)
    ? segment
    : `{id}${segment.endsWith('.json') ? '.json' : ''}`;

/** The call in messages. */
const placeOf = ({ name }: VendorAccount, call: VendorCall): string => `${name}: ${operationOf(call)}`;

/** The client of one vendor account. */
export function createVendorApi(account: VendorAccount, ports: VendorPorts): VendorApi {
  const { credentials, rules, requestIdHeader, refuses = ({ status }: HttpResponse) => status === 401 } = account;
  const attempt = (call: VendorCall, token: string | undefined) => sendOnce(account, ports, call, token);

  async function exchange(call: VendorCall): Promise<HttpResponse> {
    const token = await credentials?.current();
    const response = await attempt(call, token);
    if (token === undefined || !refuses(response)) return response;
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
    const fields = rules?.fieldsOf?.(response.json);
    throw new VendorError(placeOf(account, call), found, { reference, fields });
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
    get: (path, schema, more) => call({ ...more, method: 'GET', path }, schema),
    send: (method, path, body, schema, more) => call({ ...more, method, path, ...(body && { body }) }, schema),
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

/** Sends once, within the budget. Reports the limits in the response's headers to the budget. */
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
  const unreported = endpoint === undefined ? undefined : account.unreportedLimits?.[endpoint];
  if (unreported !== undefined) await ports.budget.reportRemaining(unreported, endpoint);
  await ports.budget.take(endpoint, urgency);
  const init = requestOf(call, token === undefined ? {} : authorize(token));
  // The name is redacted, as a connector from outside closeloop may put an address into a path.
  const as = { to: name, operation: redacted(operationOf(call)) };
  const options = { timeoutMs, as, ...(head !== undefined && { head }) };
  const response = await send(transport, baseUrl + path, init, options).catch((error: unknown) => {
    throw error instanceof SendFailure ? unanswered(account, call, error) : error;
  });
  const limits = account.rateLimits?.(response.headers, ports.now(), endpoint) ?? [];
  for (const { name, ...quota } of limits) await ports.budget.reportRemaining(quota, name);
  const { status, ok, headers, text } = response;
  return { status, ok, headers, text, json: jsonOf(response) };
}

/** An id in a path must neither lead to another resource nor cut off the query. */
const leadsElsewhere = /[/\\](\.|%2e){1,2}([/\\?]|$)|#/i;

function requestOf({ method, body, form, headers }: VendorCall, credentials: Record<string, string>): SentRequest {
  const text = typeof body === 'object' ? JSON.stringify(body) : body;
  const type = form !== undefined ? 'application/x-www-form-urlencoded' : text !== undefined && 'application/json';
  const sent = form === undefined ? text : new URLSearchParams(form).toString();
  return {
    method,
    headers: { accept: 'application/json', ...(type && { 'content-type': type }), ...headers, ...credentials },
    ...(sent !== undefined && { body: sent }),
  };
}

/** The error for a call without a response. */
function unanswered(account: VendorAccount, call: VendorCall, failure: SendFailure): VendorError {
  const { message, outcome, cause } = failure;
  const { kind, problem, remedy } = account.unanswered?.(failure) ?? {
    kind: 'transient',
    problem: message,
    // Of the address only what is no secret: a receiver's path may be one.
    remedy: `check that ${URL.parse(account.baseUrl)?.origin ?? account.name} can be reached; a later attempt may succeed`,
  };
  const advice = kind === 'config' || kind === 'permanent' ? { kind } : { kind: 'transient' as const };
  return new VendorError(placeOf(account, call), { advice, outcome, problem, remedy, status: 0, code: '' }, { cause });
}
