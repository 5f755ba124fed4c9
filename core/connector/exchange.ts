import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { BegunResponse, Fetch, ResponseBody, ResponseHeaders, SentRequest } from '../ports.ts';

const require = createRequire(import.meta.url);

let loaded: typeof import('./connections.ts') | undefined;
/** Loaded with the first request: it takes as long as the rest of a request. */
export function connections(): typeof import('./connections.ts') {
  loaded ??= require(`./connections${extname(import.meta.url)}`) as typeof import('./connections.ts');
  return loaded;
}

/** Those that the process keeps. */
export const keptConnections = (): Dispatcher => connections().getGlobalDispatcher();

/**
 * Sends one request over kept connections and resolves when its response begins. What `fetch` does beyond that for browsers (streams,
 * headers and requests as objects of their own) takes more of the CPU than the whole request.
 */
export const exchange: Fetch = (url, init: SentRequest & { dispatcher?: Pick<Dispatcher, 'dispatch'> }) =>
  new Promise((resolve, reject) => {
    const { method = 'GET', body = null, headers, signal, dispatcher = keptConnections() } = init;
    signal?.throwIfAborted();
    const { origin, pathname, search } = new URL(url);
    const incoming = new Incoming(signal, { resolve, reject });
    const request = { origin, path: pathname + search, method, headers: withOwn(headers), body };
    dispatcher.dispatch({ ...request, ...withoutDeadline }, incoming);
  });

/** The caller's signal is the only deadline. Undici's own would end longer ones: after five minutes without a head, or a piece of the body. */
const withoutDeadline = { headersTimeout: 0, bodyTimeout: 0 };

/** As `fetch` does it, a line break at the end of a value (of a token from a file) is left out. */
function withOwn(headers: SentRequest['headers'] = {}): Record<string, string> {
  const sent: Record<string, string> = { accept: '*/*', 'accept-encoding': 'gzip, br', 'user-agent': 'closeloop' };
  for (const name of Object.keys(headers)) sent[name.toLowerCase()] = headers[name]?.trim() ?? '';
  return sent;
}

interface Begun {
  resolve: (response: BegunResponse) => void;
  reject: (error: unknown) => void;
}

const asleep = (): void => undefined;

/** More of a body than this is not read ahead. Bytes. */
const mostAhead = 65_536;

/** A response as it comes in: what the connection tells of it, and its body for one reader. */
class Incoming implements Dispatcher.DispatchHandler, AsyncIterableIterator<Uint8Array>, ResponseBody {
  readonly #begun: Begun;
  readonly #signal: AbortSignal | undefined;
  readonly #chunks: Uint8Array[] = [];
  #ahead = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #end: { error?: unknown } | undefined;
  #wake = asleep;

  constructor(signal: AbortSignal | undefined, begun: Begun) {
    this.#begun = begun;
    this.#signal = signal;
    signal?.addEventListener('abort', this);
  }

  /** The signal's. Also of a request that still waits for its connection: that is not sent. */
  handleEvent(): void {
    this.#controller?.abort(this.#signal?.reason);
    this.#finish({ error: this.#signal?.reason });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal?.aborted) controller.abort(this.#signal.reason);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Received): void {
    if (status < 200) return;
    const codings = `${headers['content-encoding'] ?? ''}`;
    this.#begun.resolve({
      status,
      headers: new ReceivedHeaders(headers),
      body: codings === '' ? this : decoded(this, codings),
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#ahead += chunk.byteLength;
    if (this.#ahead > mostAhead) controller.pause();
    this.#wake();
  }

  onResponseEnd(): void {
    this.#finish({});
  }

  onResponseError(_: unknown, error: unknown): void {
    this.#finish({ error });
  }

  #finish(end: { error?: unknown }): void {
    this.#signal?.removeEventListener('abort', this);
    this.#end ??= end;
    if ('error' in end) this.#begun.reject(end.error);
    this.#wake();
  }

  get whole(): Uint8Array | undefined {
    const hasCome = this.#end !== undefined && !('error' in this.#end);
    return hasCome && this.#chunks.length === 1 ? this.#chunks[0] : undefined;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    for (;;) {
      const value = this.#chunks.shift();
      if (value !== undefined) {
        this.#ahead -= value.byteLength;
        if (this.#ahead <= mostAhead) this.#controller?.resume();
        return { value, done: false };
      }
      if (this.#end !== undefined) {
        if ('error' in this.#end) throw this.#end.error;
        return { value: undefined, done: true };
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The reader wants no more. */
  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#controller?.abort(new DOMException('the rest is not read', 'AbortError'));
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
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
function decoded(body: AsyncIterable<Uint8Array>, text: string): AsyncIterable<Uint8Array> {
  const codings = text.toLowerCase().split(',').reverse();
  const known = codings.flatMap((coding) => decoders.get(coding.trim()) ?? []);
  if (known.length < codings.length || known.length > mostCodings) return body;
  return known.reduce<Readable>((from, decoder) => pipeline(from, decoder(), () => undefined), Readable.from(body));
}
