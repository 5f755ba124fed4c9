import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { Fetch, ResponseHeaders, SentRequest } from '../ports.ts';

const require = createRequire(import.meta.url);

let loaded: typeof import('./connections.ts') | undefined;
/** undici is loaded with the first request, because loading takes as long as the rest of a request. */
export function connections(): typeof import('./connections.ts') {
  loaded ??= require(`./connections${extname(import.meta.url)}`) as typeof import('./connections.ts');
  return loaded;
}

/** The connections that the process keeps open. */
export const keptConnections = (): Dispatcher => connections().getGlobalDispatcher();

type Init = SentRequest & { dispatcher?: Pick<Dispatcher, 'dispatch'> };

/**
 * Sends one request over kept connections, and resolves when the response begins. `fetch` does more for browsers (streams, headers and
 * requests as objects of their own), which takes more CPU than the whole request.
 */
export const exchange: Fetch = async (url, init: Init) => {
  const { method = 'GET', body = null, headers, signal, dispatcher = keptConnections() } = init;
  signal?.throwIfAborted();
  const { origin, pathname, search } = new URL(url);
  const request = { origin, path: pathname + search, method, headers: withOwn(headers), body };
  const begun = connections().request.call(dispatcher, signal ? { ...request, signal, ...withoutDeadline } : request);
  const response = await (signal ? Promise.race([begun, abortOf(signal)]) : begun);
  const codings = `${response.headers['content-encoding'] ?? ''}`;
  return {
    status: response.statusCode,
    headers: new ReceivedHeaders(response.headers),
    body: codings === '' ? response.body : decoded(response.body, codings),
  };
};

/**
 * Switches off undici's own time limits, so that the caller's signal is the only deadline: undici ends a call after five minutes without
 * a response head or a part of the body. A call without a signal (of a stranger's connector) keeps them.
 */
const withoutDeadline = { headersTimeout: 0, bodyTimeout: 0 };

/** Rejects when the caller aborts. undici would reject only after it has a connection. */
function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

/** Removes a line break at the end of a value (of a token from a file), as `fetch` does. */
function withOwn(headers: SentRequest['headers'] = {}): Record<string, string> {
  const sent: Record<string, string> = { accept: '*/*', 'accept-encoding': 'gzip, br', 'user-agent': 'closeloop' };
  for (const name of Object.keys(headers)) sent[name.toLowerCase()] = headers[name]?.trim() ?? '';
  return sent;
}

/** The received headers by their names in lower case. */
type Received = Record<string, string | string[] | undefined>;

class ReceivedHeaders implements ResponseHeaders {
  readonly #received: Received;

  constructor(received: Received) {
    this.#received = received;
  }

  get(name: string): string | null {
    const value = this.#received[name.toLowerCase()];
    return Array.isArray(value) ? value.join(', ') : (value ?? null);
  }

  *[Symbol.iterator](): Generator<[name: string, value: string]> {
    for (const name of Object.keys(this.#received)) yield [name, this.get(name) ?? ''];
  }
}

/** A body that ends early is returned as far as it arrived, as `fetch` does. */
const lenient = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const lenientBrotli = {
  flush: constants.BROTLI_OPERATION_FLUSH,
  finishFlush: constants.BROTLI_OPERATION_FLUSH,
};

const gunzip = () => createGunzip(lenient);
const decoders = new Map([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['br', () => createBrotliDecompress(lenientBrotli)],
]);
/** The most content codings that are decoded for one body: each takes memory of its own. */
const mostCodings = 3;

/** Decodes the body's content codings, the last coding first. A body with a coding that was not asked for stays as it is. */
function decoded(body: Readable, text: string): Readable {
  const codings = text.toLowerCase().split(',').reverse();
  const known = codings.flatMap((coding) => decoders.get(coding.trim()) ?? []);
  if (known.length < codings.length || known.length > mostCodings) return body;
  return known.reduce((from, decoder) => pipeline(from, decoder(), () => undefined), body);
}
