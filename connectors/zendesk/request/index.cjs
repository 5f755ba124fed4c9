'use strict';
/**
 * What `zendesk-node-api` gets when it asks for `request`: one call to Zendesk's API over fetch, and nothing else.
 *
 * The package as published crashes the process on a refused connection, resolves on 404 and 503, never times out and
 * throws status and headers away. Each of those faults lies between it and `request`, so they are cured here:
 * every failure becomes one error that says what Zendesk answered, and the body handed on is parseable even then,
 * because the package parses it after it has rejected. Types and meaning of each field: index.d.cts.
 */
const { AsyncLocalStorage } = require('node:async_hooks');

const timeoutMsByDefault = 10_000;
const userAgent = 'closeloop (zendesk-node-api)';
const transports = new AsyncLocalStorage();

/** Runs `work`; calls that it starts through `zendesk-node-api` use this `fetch` and report each answer to `onAnswer`. */
function withTransport(transport, work) {
  return transports.run(transport, work);
}

class ZendeskCallError extends Error {
  constructor(place, why, facts) {
    super(`${place.method} ${place.path}: ${why}`, facts.cause === undefined ? {} : { cause: facts.cause });
    this.name = 'ZendeskCallError';
    this.path = place.path;
    this.code = facts.code;
    this.statusCode = facts.statusCode;
    this.headers = facts.headers ?? {};
    this.body = facts.body;
    this.requestId = requestIdOf(this.headers);
    this.retryAfterMs = retryAfterMsOf(this.headers['retry-after']);
    this.retryable = facts.retryable;
    this.sent = facts.sent;
  }
}

/** One attempt. Resolves on 2xx with a JSON or empty body; anything else rejects with a ZendeskCallError. */
async function zendeskCall(options) {
  const method = (options.method ?? 'GET').toUpperCase();
  const url = safeUrl(options.url, method);
  const place = { method, path: url.pathname };
  const hasBody = options.json !== undefined && options.json !== true;
  const headers = { accept: 'application/json', 'user-agent': userAgent, ...options.headers };
  if (hasBody) headers['content-type'] = 'application/json';
  const transport = transports.getStore();
  const send = options.fetch ?? transport?.fetch ?? globalThis.fetch;

  let response;
  let text;
  try {
    response = await send(url, {
      method,
      headers,
      redirect: 'manual',
      // Covers the body as well: a server that goes silent halfway is left, too.
      signal: AbortSignal.timeout(options.timeoutMs ?? timeoutMsByDefault),
      ...(hasBody ? { body: JSON.stringify(options.json) } : {}),
    });
    text = await response.text();
  } catch (error) {
    throw networkError(place, error);
  }

  const answer = { statusCode: response.status, headers: Object.fromEntries(response.headers) };
  (options.onAnswer ?? transport?.onAnswer)?.(answer);
  const parsed = parse(text);
  const retryable =
    answer.statusCode === 408 || answer.statusCode === 409 || answer.statusCode === 429 || answer.statusCode >= 500;
  if (!response.ok) {
    const redirected = answer.statusCode >= 300 && answer.statusCode < 400;
    const code = redirected ? 'REDIRECT' : `HTTP_${answer.statusCode}`;
    const body = parsed.ok ? parsed.value : text;
    throw new ZendeskCallError(place, String(answer.statusCode), {
      ...answer,
      code,
      body,
      retryable,
      sent: 'answered',
    });
  }
  if (!parsed.ok) {
    // A 2xx page that is no JSON comes from something in between; whether Zendesk did the work can't be told.
    const facts = { ...answer, code: 'BAD_JSON', body: text, retryable: true, sent: 'maybe' };
    throw new ZendeskCallError(place, `${answer.statusCode}, but the answer is not JSON`, facts);
  }
  return { ...answer, requestId: requestIdOf(answer.headers), body: parsed.value };
}

/** Refuses every address that isn't the API of an https host, so that neither a setting nor an id can lead elsewhere. */
function safeUrl(raw, method) {
  const refuse = (why) => {
    const facts = { code: 'REFUSED_URL', retryable: false, sent: 'never' };
    return new ZendeskCallError({ method, path: '(refused)' }, why, facts);
  };
  if (!URL.canParse(raw)) throw refuse('not a URL');
  const url = new URL(raw);
  const loopback = ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && loopback)) throw refuse('https is required');
  if (url.username !== '' || url.password !== '') throw refuse('credentials in the URL');
  if (url.hash !== '') throw refuse("a '#' would cut the query off");
  // Looked at as written: the parser has already resolved `..` in `pathname`.
  const written = String(raw)
    .split('?', 1)[0]
    .replace(/^\w+:\/\//, '');
  if (/(^|[/\\])(\.|%2e){1,2}([/\\]|$)/i.test(written)) throw refuse("'.' or '..' in the path");
  url.pathname = url.pathname.replace(/\/{2,}/g, '/');
  if (!url.pathname.startsWith('/api/v2/') && url.pathname !== '/oauth/tokens')
    throw refuse('the path is outside /api/v2/');
  return url;
}

/** Failures before a connection existed: the request can't have reached anybody. */
const neverSent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function networkError(place, error) {
  const cause = error?.cause;
  // With several addresses for a host the codes sit in an AggregateError, which copies the first one.
  // core/connector/send.ts says why there is no answer; a plain fetch throws the signal's own reason.
  const late = error?.name === 'TimeoutError' || error?.why === 'late' || error?.why === 'stopped';
  const code = late ? 'ETIMEDOUT' : (cause?.code ?? error?.code ?? 'NETWORK');
  const known = typeof code === 'string' && code !== '' ? code : 'NETWORK';
  const tls = /CERT|UNABLE_TO_VERIFY/.test(known);
  const sent = neverSent.has(known) || tls ? 'never' : 'maybe';
  const failed = error?.why === 'unbearable' ? error.message : `the connection failed (${known})`;
  const why = known === 'ETIMEDOUT' ? 'no complete answer in time' : failed;
  return new ZendeskCallError(place, why, { code: known, retryable: true, sent, cause: error });
}

function parse(text) {
  if (text.trim() === '') return { ok: true, value: {} };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false };
  }
}

function requestIdOf(headers) {
  return headers['x-request-id'] ?? headers['x-zendesk-request-id'];
}

/** Seconds or an HTTP date. */
function retryAfterMsOf(value) {
  if (value === undefined) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, Math.ceil(seconds * 1000));
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

/** The part of `request` that `zendesk-node-api` uses. Calls back once, never at once. */
function request(options, callback) {
  // With `json`, request hands over parsed values; without, text.
  const as = (value) => (options.json === undefined ? JSON.stringify(value) : value);
  const call = (...values) => {
    try {
      callback(...values);
    } catch (error) {
      // Thrown from here it would end the process, and nobody could catch it.
      process.emitWarning(`a request callback threw ${error?.name ?? 'something'}`, 'ZendeskRequest');
    }
  };
  zendeskCall(options).then(
    (answer) => call(null, { statusCode: answer.statusCode, headers: answer.headers }, as(answer.body)),
    (error) => call(error, undefined, as({})),
  );
}

const verb = (method) => (options, callback) => request({ ...options, method }, callback);

module.exports = request;
module.exports.get = verb('GET');
module.exports.post = verb('POST');
module.exports.put = verb('PUT');
module.exports.delete = verb('DELETE');
module.exports.zendeskCall = zendeskCall;
module.exports.withTransport = withTransport;
module.exports.ZendeskCallError = ZendeskCallError;
