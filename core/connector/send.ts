import { CloseloopError, type Outcome } from '../errors.ts';
import type { BegunResponse, Fetch, ResponseHeaders, SentRequest } from '../ports.ts';
import { jsonBody } from './json-body.ts';
import { tooIntricate } from './json-structure.ts';
import { faultOf, isCut, neverSentBy } from './network.ts';

/*
 * The one place that sends HTTP requests: to the service, to vendors, to receivers of answers and alerts. A response may come
 * from a broken server or from a proxy, so its size and structure are limited before it is parsed.
 */

/**
 * The largest response in bytes, after decompression: a page of 1,000 records with the longest comments has some 12 MB. Reading
 * takes up to four times as much memory: chunks, bytes, text, parsed JSON.
 */
const mostBytes = 16 * 1024 * 1024;
/** The largest response with an error status; longer ones are pages of a proxy. */
const mostErrorBytes = 1024 * 1024;

export interface SendOptions {
  /** The deadline for the whole call, from connecting to the last byte. */
  timeoutMs: number;
  /** Lets the caller stop the call. */
  signal?: AbortSignal | undefined;
  /** Reads only so many bytes of the response. */
  head?: number;
  /**
   * Sends a GET once more, within the same deadline, if the connection ended before a response began: as it does where the
   * server had just closed an idle keep-alive connection.
   */
  repeatsCut?: boolean;
}

/** A response, read to its last byte; redirects are not followed. */
export interface HttpResponse {
  status: number;
  ok: boolean;
  headers: ResponseHeaders;
  /** '' also for an error whose body can't be read. */
  text: string;
  /** Undefined for a body that isn't JSON. Parsed at each access. */
  readonly json: unknown;
}

/** There was no response, or an unreadable one. The message never quotes it. */
export class SendFailure extends Error {
  override readonly name = 'SendFailure';
  /** `late`: the deadline passed. `stopped`: by the caller. `cut`: by the network. `unbearable`: too large or nested too deep. */
  readonly why: 'late' | 'stopped' | 'cut' | 'unbearable';
  /** Whether the server may have executed the request. */
  readonly outcome: Outcome;
  /** Node's or undici's; '' where there is none. */
  readonly code: string;

  constructor(why: SendFailure['why'], message: string, options: { outcome?: Outcome; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.why = why;
    this.outcome = options.outcome ?? 'unknown';
    this.code = faultOf(options.cause).code;
  }
}

/**
 * One attempt.
 * @param init as for `fetch`, without a signal; redirects are never followed, as credentials must not go elsewhere
 * @throws SendFailure; CloseloopError config for headers that can't be sent
 */
export async function send(
  fetch: Fetch,
  url: string | URL,
  init: Omit<SentRequest, 'signal' | 'redirect'>,
  options: SendOptions,
): Promise<HttpResponse> {
  const { timeoutMs, signal } = options;
  if (signal?.aborted === true) throw new SendFailure('stopped', 'stopped on request', { outcome: 'never-sent' });
  refuseUnsendable(init);
  // A timer of our own: AbortSignal.any can lose its sources to the garbage collector while a body is being read.
  const giveUp = new AbortController();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    giveUp.abort(new DOMException('it took too long', 'TimeoutError'));
  }, timeoutMs);
  const stop = (): void => giveUp.abort();
  signal?.addEventListener('abort', stop);
  try {
    const request = () => fetch(url, { ...init, redirect: 'manual', signal: giveUp.signal });
    const response = await request().catch((error: unknown) => {
      const mayRepeat = options.repeatsCut === true && init.method === 'GET' && !giveUp.signal.aborted;
      if (mayRepeat && isCut(error)) return request();
      throw error;
    });
    return await read(response, options.head);
  } catch (cause) {
    if (cause instanceof SendFailure) throw cause;
    if (isLate || nameOf(cause) === 'TimeoutError')
      throw new SendFailure('late', `no whole answer within ${timeoutMs} ms`, { cause });
    if (giveUp.signal.aborted) throw new SendFailure('stopped', 'stopped on request', { cause });
    const outcome = neverSentBy(cause) === undefined ? 'unknown' : 'never-sent';
    const { code } = faultOf(cause);
    const what = outcome === 'never-sent' ? 'no connection' : 'the connection failed';
    throw new SendFailure('cut', code === '' ? what : `${what} (${code})`, { outcome, cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

/** What HTTP takes in a header's value; white space around it is left out. */
const sendable = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Node's own `fetch` would quote the whole header in its error, and the credential is in one. */
function refuseUnsendable({ headers = {} }: Pick<SentRequest, 'headers'>): void {
  if (Object.values(headers).every((value) => sendable.test(value.trim()))) return;
  const message =
    'A header of the call holds a character that HTTP does not allow: a credential was copied with a line break, or with a letter that it does not have. Copy it again.';
  throw new CloseloopError(message, { kind: 'config' }, { outcome: 'never-sent' });
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');

/** Made once: that takes longer than a body. */
const utf8 = new TextDecoder();

/** An error speaks for itself, so that there a body which is broken or without end counts as none. */
async function read(response: BegunResponse, head: number | undefined): Promise<HttpResponse> {
  const { status, headers } = response;
  const ok = status >= 200 && status < 300;
  try {
    const body = await bytesOf(response, head ?? Number.POSITIVE_INFINITY, ok ? mostBytes : mostErrorBytes);
    const flaw = tooIntricate(body);
    if (flaw !== undefined) throw new SendFailure('unbearable', `an answer that ${flaw}`);
    const text = utf8.decode(body);
    return {
      status,
      ok,
      headers,
      text,
      get json() {
        return jsonBody(text);
      },
    };
  } catch (error) {
    if (ok) throw error;
    return { status, ok, headers, text: '', json: undefined };
  }
}

async function bytesOf({ body }: BegunResponse, head: number, most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the rest.
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size >= head) break;
    if (size > most) throw new SendFailure('unbearable', `an answer of more than ${most / 1024 / 1024} MiB`);
  }
  const [only] = chunks;
  return (chunks.length === 1 && only ? only : Buffer.concat(chunks)).subarray(0, head);
}
