import type { z } from 'zod';
import type { Outcome } from '../errors.ts';
import type { Ports } from '../ports.ts';
import type { Answer, Place } from './failure.ts';
import { answerFailure, FeedbackError, mismatchesOf, notJsonFailure, shapeFailure } from './failure.ts';
import { leavingBy } from './leave-by.ts';
import { abortFailure, isCut, networkFailure, timeoutFailure } from './network-failure.ts';
import type { FeedbackSettings } from './settings.ts';
import { baseUrlOf } from './settings.ts';

/** More than any page of 1,000 records; a body without end must not fill the memory within the time-out. */
const maxBodyBytes = 64 * 1024 * 1024;

/** One call. `path` continues the base address, encoded, and may hold a query. */
export interface Call extends Place {
  method: string;
  path: string;
  /** Undefined: no body. */
  body?: object | undefined;
  signal?: AbortSignal | undefined;
  /** See CreateOptions. */
  leaveBy?: Date | undefined;
}

export interface Http {
  /**
   * One attempt, connections kept alive. A GET is repeated once, within the same time-out, when the connection died
   * before an answer began: an idle kept connection that the service had just closed looks like that.
   * @returns The answer, with a status in 2xx.
   * @throws FeedbackError for everything else.
   */
  send(call: Call): Promise<Answer>;
  /**
   * `next` of a list's page as a path for `send`.
   * @throws FeedbackError config, for an address outside the configured origin and path: the key never goes elsewhere.
   */
  pathOf(next: string, call: Place): string;
}

export function createHttp(settings: FeedbackSettings, ports: Pick<Ports, 'fetch' | 'now'>): Http {
  const base = baseUrlOf(settings);
  const prefix = `${base.origin}${base.pathname === '/' ? '' : base.pathname}`;
  const { apiKey, timeoutMs } = settings;

  async function send(call: Call): Promise<Answer> {
    if (call.signal?.aborted === true) throw abortFailure(call, false);
    // A timer of our own: AbortSignal.any can lose its sources to the garbage collector while a body is being read.
    const giveUp = new AbortController();
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      giveUp.abort();
    }, timeoutMs);
    const stop = (): void => giveUp.abort();
    call.signal?.addEventListener('abort', stop);
    try {
      const response = await reach(call, giveUp.signal);
      const answer = await read(response, call);
      if (response.ok) return answer;
      throw answerFailure(answer, call, ports.now());
    } catch (error) {
      if (error instanceof FeedbackError) throw error;
      if (timedOut) throw timeoutFailure(call, timeoutMs);
      if (giveUp.signal.aborted) throw abortFailure(call, true);
      throw networkFailure(error, call);
    } finally {
      clearTimeout(timer);
      call.signal?.removeEventListener('abort', stop);
    }
  }

  async function reach(call: Call, signal: AbortSignal): Promise<Response> {
    const { method, path, body, leaveBy } = call;
    const request = (): Promise<Response> => {
      const init = {
        method,
        headers: {
          Authorization: `Token ${apiKey}`,
          Accept: 'application/json',
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        // A redirect may lead to another origin; the key must not go there.
        redirect: 'manual' as const,
        signal,
      };
      // Assigned, as Node's types know another release of undici than the one that is installed.
      return ports.fetch(
        `${prefix}${path}`,
        leaveBy ? Object.assign(init, { dispatcher: leavingBy(leaveBy, ports.now) }) : init,
      );
    };
    try {
      return await request();
    } catch (error) {
      if (method !== 'GET' || signal.aborted || !isCut(error)) throw error;
      return request();
    }
  }

  function pathOf(next: string, call: Place): string {
    const url = URL.parse(next, `${prefix}/`);
    const root = `${base.pathname === '/' ? '' : base.pathname}/`;
    const ours =
      url !== null &&
      url.origin === base.origin &&
      url.username === '' &&
      url.password === '' &&
      url.pathname.startsWith(root);
    if (ours) return `${url.pathname.slice(root.length - 1)}${url.search}`;
    const where = url === null ? 'no address at all' : url.origin === base.origin ? 'another path' : url.origin;
    throw new FeedbackError(
      `Feedback service: ${call.place} names its next page at ${where}, not under ${prefix}; it is not fetched. ` +
        'Set feedback.baseUrl to the address under which the service knows itself.',
      { kind: 'config' },
    );
  }

  return { send, pathOf };
}

/** Reads the body. An error status speaks for itself, so there a broken or endless body counts as none. */
async function read(response: Response, call: Call): Promise<Answer> {
  const { status, headers } = response;
  try {
    const text = await bodyText(response);
    if (text === undefined) throw shapeFailure(status, call, [`(root) (over ${maxBodyBytes} bytes)`], outcomeOf(call));
    return { status, headers, body: asJson(text) };
  } catch (error) {
    if (response.ok) throw error;
    return { status, headers, body: { json: false } };
  }
}

/** Undefined: the body is over the limit. */
async function bodyText(response: Response): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBodyBytes) return undefined; // leaving the loop cancels the stream
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function asJson(text: string): Answer['body'] {
  try {
    return { json: true, value: JSON.parse(text) };
  } catch {
    // The parser's error quotes the text, so it goes no further.
    return { json: false };
  }
}

/** After a 2xx that can't be read: a read has changed nothing, anything else was probably done. */
export function outcomeOf(call: Pick<Call, 'method'>): Outcome {
  return call.method === 'GET' ? 'refused' : 'unknown';
}

/** The JSON of an answer. @throws FeedbackError transient, when it isn't JSON. */
export function jsonOf(answer: Answer, call: Call): unknown {
  if (answer.body.json) return answer.body.value;
  throw notJsonFailure(answer, call, outcomeOf(call));
}

/** The answer as `schema` describes it. @throws FeedbackError, permanent for another shape. */
export function parseAnswer<Schema extends z.ZodType>(answer: Answer, schema: Schema, call: Call): z.output<Schema> {
  const parsed = schema.safeParse(jsonOf(answer, call));
  if (parsed.success) return parsed.data;
  throw shapeFailure(answer.status, call, mismatchesOf(parsed.error), outcomeOf(call));
}
