import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { Fetch, ResponseHeaders, SentRequest } from '../ports.ts';

const require = createRequire(import.meta.url);

let loaded: typeof import('./connections.ts') | undefined;
/** Loaded with the first request: it takes as long as the rest of a request. */
export function connections(): typeof import('./connections.ts') {
  loaded ??= require(`./connections${extname(import.meta.url)}`) as typeof import('./connections.ts');
  return loaded;
}

/** Those that the process keeps. */
export const keptConnections = (): Dispatcher => connections().getGlobalDispatcher();

type Init = SentRequest & { dispatcher?: Pick<Dispatcher, 'dispatch'> };

/**
 * Sends one request over kept connections and resolves when its response begins. What `fetch` does beyond that for browsers (streams,
 * headers and requests as objects of their own) takes more of the CPU than the whole request.
 */
export const exchange: Fetch = async (url, init: Init) => {
  const { method = 'GET', body = null, headers, signal, dispatcher = keptConnections() } = init;
  signal?.throwIfAborted();
  const { origin, pathname, search } = new URL(url);
  const request = { origin, path: pathname + search, method, headers: withOwn(headers), body, ...withoutDeadline };
  const begun = connections().request.call(dispatcher, signal ? { ...request, signal } : request);
  const response = await (signal ? Promise.race([begun, abortOf(signal)]) : begun);
  const codings = `${response.headers['content-encoding'] ?? ''}`;
  return {
    status: response.statusCode,
    headers: new ReceivedHeaders(response.headers),
    body: codings === '' ? response.body : decoded(response.body, codings),
  };
};

/** The caller's signal is the only deadline. Undici's own would end longer ones: after five minutes without a head, or a piece of the body. */
const withoutDeadline = { headersTimeout: 0, bodyTimeout: 0 };

/** Rejects when the caller gives up. Undici alone would reject only once it had a connection. */
function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

/** As `fetch` does it, a line break at the end of a value (of a token from a file) is left out. */
function withOwn(headers: SentRequest['headers'] = {}): Record<string, string> {
  const sent: Record<string, string> = { accept: '*/*', 'accept-encoding': 'gzip, br', 'user-agent': 'closeloop' };
  for (const name of Object.keys(headers)) sent[name.toLowerCase()] = headers[name]?.trim() ?? '';
  return sent;
}

/** By their names in lower case. */
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

/** As `fetch` does it, a body that ends early is given as far as it came. */
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
/** The most codings of one body that are undone: each takes memory of its own. */
const mostCodings = 3;

/** The body without the codings that it was sent in, the last one first; as it is where one of them was not asked for. */
function decoded(body: Readable, text: string): Readable {
  const codings = text.toLowerCase().split(',').reverse();
  const known = codings.flatMap((coding) => decoders.get(coding.trim()) ?? []);
  if (known.length < codings.length || known.length > mostCodings) return body;
  return known.reduce((from, decoder) => pipeline(from, decoder(), () => undefined), body);
}
