import type { Dispatcher } from 'undici';
import type { z } from 'zod';
import { connections, keptConnections } from '../connector/exchange.ts';
import { SendFailure, send } from '../connector/send.ts';
import type { Outcome } from '../errors.ts';
import { mismatchesOf } from '../mismatches.ts';
import type { Ports } from '../ports.ts';
import {
  abortFailure,
  answerFailure,
  FeedbackError,
  networkFailure,
  notJsonFailure,
  shapeFailure,
  timeoutFailure,
} from './failure.ts';
import { type Answer, type Place, saysNobody } from './response.ts';
import { baseUrlOf, type FeedbackSettings, prefixFlaw } from './settings.ts';

/** One call. `path` continues the base address, encoded, and may hold a query. */
export interface Call extends Place {
  method: string;
  path: string;
  /** The body as JSON. Undefined: no body is sent. */
  body?: object | undefined;
  signal?: AbortSignal | undefined;
  /** The call is not sent after this moment (`CreateOptions`). */
  sendDeadline?: Date | undefined;
}

export interface Http {
  /**
   * Makes one attempt, over kept-alive connections. A GET is repeated once, within the same time-out, when the connection died
   * before the response began: this happens when the service has just closed an idle connection.
   * @returns the response, with a status in 2xx
   * @throws FeedbackError for everything else
   */
  send(call: Call): Promise<Answer>;
  /** Sends like `send`; undefined where the service has no request of the contact. This is so for most customers at first, so it is no error. */
  find(call: Call): Promise<Answer | undefined>;
  /**
   * Turns `next` of a list's page into a path for `send`. `next` may be relative to the page.
   * @param page the call that got the page
   * @throws FeedbackError config, for an address outside the configured origin and path: the key never goes elsewhere.
   */
  pathOf(next: string, page: Pick<Call, 'path' | 'place'>): string;
}

export function createHttp(settings: FeedbackSettings, ports: Pick<Ports, 'fetch' | 'now'>): Http {
  const base = baseUrlOf(settings);
  const prefix = prefixOf(base);
  const { apiKey, timeoutMs } = settings;
  const headers = { Authorization: `Token ${apiKey}`, Accept: 'application/json' };
  const headersWithBody = { ...headers, 'Content-Type': 'application/json' };

  async function attempt(call: Call): Promise<Answer> {
    const { method, path, body, sendDeadline, signal } = call;
    const init = {
      method,
      ...(body === undefined ? { headers } : { headers: headersWithBody, body: JSON.stringify(body) }),
      ...(sendDeadline && { dispatcher: dispatcherUntil(sendDeadline, ports.now) }),
    };
    try {
      const { status, headers, json } = await send(ports.fetch, `${prefix}${path}`, init, {
        timeoutMs,
        signal,
        repeatsCut: true,
        as: { to: 'Feedback service', operation: call.place },
      });
      // The parser's error quotes the text, so it is not passed on.
      return { status, headers, body: json === undefined ? { json: false } : { json: true, value: json } };
    } catch (error) {
      if (!(error instanceof SendFailure)) throw error;
      const { why, message, outcome, cause } = error;
      if (why === 'late') throw timeoutFailure(call, timeoutMs);
      if (why === 'stopped') throw abortFailure(call, outcome !== 'never-sent');
      if (why === 'cut') throw networkFailure(cause, call);
      throw shapeFailure(200, call, [`(root) (${message})`], outcomeOf(call));
    }
  }

  function accepted(answer: Answer, call: Call): Answer {
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw answerFailure(answer, { ...call, addressFlaw: prefixFlaw(settings) }, ports.now());
  }

  return {
    send: async (call) => accepted(await attempt(call), call),
    find: async (call) => {
      const answer = await attempt(call);
      return saysNobody(answer, call) ? undefined : accepted(answer, call);
    },
    pathOf: (next, page) => pathUnder(base, next, page),
  };
}

/** The path of `next`, below the base address. */
function pathUnder(base: URL, next: string, page: Pick<Call, 'path' | 'place'>): string {
  const prefix = prefixOf(base);
  const url = URL.parse(next, `${prefix}${page.path}`);
  const root = `${base.pathname === '/' ? '' : base.pathname}/`;
  const isOurs =
    url !== null &&
    url.origin === base.origin &&
    url.username === '' &&
    url.password === '' &&
    url.pathname.startsWith(root);
  if (isOurs) return `${url.pathname.slice(root.length - 1)}${url.search}`;
  const where = url === null ? 'no address at all' : url.origin === base.origin ? 'another path' : url.origin;
  throw new FeedbackError(
    `Feedback service: ${page.place} names its next page at ${where}, not under ${prefix}; it is not fetched. ` +
      'Set feedback.baseUrl to the address under which the service knows itself.',
    { kind: 'config' },
  );
}

function prefixOf({ origin, pathname }: URL): string {
  return `${origin}${pathname === '/' ? '' : pathname}`;
}

/** The outcome of a call whose 2xx answer can't be read: a read changed nothing, any other call was probably carried out. */
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

/**
 * A dispatcher for `Ports.fetch` that checks the deadline at the moment in which the request is written to the connection. A process
 * may be suspended at any time (a paused machine, SIGSTOP), also while it connects, and a timer would fire too late.
 */
function dispatcherUntil(moment: Date, now: () => Date): Pick<Dispatcher, 'dispatch'> {
  return {
    dispatch: (options, handler) => {
      const { DecoratorHandler } = connections();
      const guard: Dispatcher.DispatchHandler = new DecoratorHandler(handler);
      const start = guard.onRequestStart?.bind(guard);
      // undici calls this before the first byte, and again if the request is sent once more.
      guard.onRequestStart = (controller, context) => {
        start?.(controller, context);
        if (now() > moment)
          controller.abort(Object.assign(new Error('it would have left too late'), { code: leftTooLate }));
      };
      return keptConnections().dispatch(options, guard);
    },
  };
}

/** The code of the error where the deadline had passed before anything was sent. `fetch` throws an error with this error as its cause. */
const leftTooLate = 'CLOSELOOP_LEFT_TOO_LATE';
