import { CloseloopError, type Outcome } from '../errors.ts';
import type { BegunResponse, Fetch, ResponseHeaders, SentRequest } from '../ports.ts';
import { type CalledAs, callNotes, type NoStatus } from './calls.ts';
import { inUtf8 } from './charset.ts';
import { inQuotes, parsed } from './json-body.ts';
import { structureOf } from './json-structure.ts';
import { faultOf, isCut, neverSentBy } from './network.ts';

/*
 * Sends all HTTP requests: to the service, to vendors, to receivers of answers and alerts. A response may come from a broken server or a
 * proxy, so its size and structure are checked before it is parsed.
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
  /** Reads only this many bytes of the response. */
  head?: number;
  /**
   * Sends a GET once more, within the same deadline, if the connection ended before a response began. This happens if the server has just
   * closed an idle connection.
   */
  repeatsCut?: boolean;
  /** The call's name for the recorder of the current work (calls.ts). Left out: the call is not recorded. */
  as?: CalledAs;
}

/** A response, read to its last byte; redirects are not followed. */
export interface HttpResponse {
  status: number;
  ok: boolean;
  headers: ResponseHeaders;
  /** The body; '' also for an error whose body can't be read. */
  text: string;
  /** The body as `jsonBody` reads it; undefined if it isn't JSON. Parsed at each access. */
  readonly json: unknown;
}

/** The request got no response, or an unreadable one. The message never quotes the response. */
export class SendFailure extends Error {
  override readonly name = 'SendFailure';
  /** `late`: the deadline passed. `stopped`: by the caller. `cut`: by the network. `unbearable`: too large, nested too deep, or in an unknown character set. */
  readonly why: 'late' | 'stopped' | 'cut' | 'unbearable';
  /** Whether the server may have executed the request. */
  readonly outcome: Outcome;
  /** The error code of Node or undici; '' if there is none. */
  readonly code: string;

  constructor(why: SendFailure['why'], message: string, options: { outcome?: Outcome; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.why = why;
    this.outcome = options.outcome ?? 'unknown';
    this.code = faultOf(options.cause).code;
  }
}

/**
 * Sends a request once.
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
  // closeloop uses its own timer, because AbortSignal.any can lose its sources to the garbage collector while a body is being read.
  const giveUp = new AbortController();
  const timer = setTimeout(giveUpLate, timeoutMs, giveUp);
  const stop = signal && ((): void => giveUp.abort());
  if (stop) signal.addEventListener('abort', stop);
  const request: SentRequest = { ...init, redirect: 'manual', signal: giveUp.signal };
  const note = noting(options.as);
  let tries = 1;
  try {
    const begun = await fetch(url, request).catch((error: unknown) => {
      const mayRepeat = options.repeatsCut === true && init.method === 'GET' && !giveUp.signal.aborted;
      if (!mayRepeat || !isCut(error)) throw error;
      tries++;
      return fetch(url, request);
    });
    const response = await read(begun, options.head);
    note(response.status, tries);
    return response;
  } catch (cause) {
    const failure = cause instanceof SendFailure ? cause : failureOf(cause, giveUp.signal, timeoutMs);
    note(failure.outcome === 'never-sent' ? 'never-sent' : failure.why, tries);
    throw failure;
  } finally {
    clearTimeout(timer);
    if (stop) signal.removeEventListener('abort', stop);
  }
}

/** Starts recording a call. The returned function records the end. */
function noting(as: CalledAs | undefined): (end: number | NoStatus, tries: number) => void {
  const notes = callNotes();
  if (as === undefined || notes === undefined) return () => undefined;
  const begunAt = performance.now();
  return (end, tries) => notes.note({ ...as, end, begunAt, ms: Math.round(performance.now() - begunAt), tries });
}

function giveUpLate(call: AbortController): void {
  call.abort(new DOMException('it took too long', 'TimeoutError'));
}

/** @param call the signal that ended the call: by the deadline with a TimeoutError, or by the caller */
function failureOf(cause: unknown, call: AbortSignal, timeoutMs: number): SendFailure {
  if (nameOf(call.reason) === 'TimeoutError' || nameOf(cause) === 'TimeoutError')
    return new SendFailure('late', `no whole answer within ${timeoutMs} ms`, { cause });
  if (call.aborted) return new SendFailure('stopped', 'stopped on request', { cause });
  const outcome = neverSentBy(cause) === undefined ? 'unknown' : 'never-sent';
  const { code } = faultOf(cause);
  const what = outcome === 'never-sent' ? 'no connection' : 'the connection failed';
  return new SendFailure('cut', code === '' ? what : `${what} (${code})`, { outcome, cause });
}

/** The characters that HTTP allows in a header's value; white space around the value is removed. */
const sendable = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Refuses headers that can't be sent. Node's own `fetch` would quote the whole header, with the credential, in its error. */
function refuseUnsendable({ headers = {} }: Pick<SentRequest, 'headers'>): void {
  if (Object.values(headers).every((value) => sendable.test(value.trim()))) return;
  const message =
    'A header of the call holds a character that HTTP does not allow: a credential was copied with a line break, or with a letter that it does not have. Copy it again.';
  throw new CloseloopError(message, { kind: 'config' }, { outcome: 'never-sent' });
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');

/** The decoder is made only once, as making it takes longer than decoding a body. */
const utf8 = new TextDecoder();

/** Reads a response. The status of an error is enough, so an error's broken or endless body counts as empty. */
async function read(response: BegunResponse, head: number | undefined): Promise<HttpResponse> {
  const { status, headers } = response;
  const ok = status >= 200 && status < 300;
  try {
    const most = ok ? mostBytes : mostErrorBytes;
    const sent = await bytesOf(response, most, head);
    const body = inUtf8(sent, { contentType: headers.get('content-type') ?? '', isPart: head !== undefined });
    if (typeof body === 'string') throw new SendFailure('unbearable', `an answer that ${body}`);
    const { flaw, longIntegers } = structureOf(body);
    if (flaw !== undefined) throw new SendFailure('unbearable', `an answer that ${flaw}`);
    return new TextResponse(status, headers, body, longIntegers);
  } catch (error) {
    if (ok) throw error;
    return new TextResponse(status, headers, new Uint8Array(), []);
  }
}

class TextResponse implements HttpResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: ResponseHeaders;
  /** The body in UTF-8. */
  readonly #body: Uint8Array;
  readonly #longIntegers: readonly number[];
  #text: string | undefined;

  constructor(status: number, headers: ResponseHeaders, body: Uint8Array, longIntegers: readonly number[]) {
    this.status = status;
    this.ok = status >= 200 && status < 300;
    this.headers = headers;
    this.#body = body;
    this.#longIntegers = longIntegers;
  }

  get text(): string {
    this.#text ??= utf8.decode(this.#body);
    return this.#text;
  }

  get json(): unknown {
    return parsed(this.#longIntegers.length === 0 ? this.text : inQuotes(this.#body, this.#longIntegers));
  }
}

async function bytesOf({ body }: BegunResponse, most: number, head = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the rest of the body.
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size >= head) break;
    if (size > most) throw new SendFailure('unbearable', `an answer of more than ${most / 1024 / 1024} MiB`);
  }
  const [only] = chunks;
  return (chunks.length === 1 && only ? only : Buffer.concat(chunks)).subarray(0, head);
}
