import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { type Delivery, type HttpReply, mostEvents, type SourceEvent } from '../../core/connector/contract.ts';
import { tooIntricate } from '../../core/connector/json-structure.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import { redacted } from '../../core/redaction.ts';
import { putOff } from '../operations/delivery-counts.ts';
import type { Tracing } from '../operations/tracing.ts';
import type { SourcePipeline } from '../pipeline/source-pipeline.ts';
import { redisInWords, within } from '../redis/unavailable.ts';
import { announcedBytes, type Bodies, discard, isShort } from './bodies.ts';
import type { Connections } from './connections.ts';
import type { Refusals } from './refusals.ts';
import { jsonReply, notAllowed, replyToError, retryLater } from './replies.ts';
import { inTime, storeMs } from './store-in-time.ts';
import { Turns } from './turns.ts';

/** The most entries in the JSON of a delivery: at ten bytes an entry a delivery of 1 MiB has so many. An order of 1 MiB has some 40,000. */
const mostEntries = 100_000;
/** Bytes of deliveries that are verified and parsed in one turn of the event loop; each counts as at least a kilobyte. */
const bytesATurn = 64 * 1_024;
const leastBytes = 1_024;

const hooks = '/hooks/';
const plainJson = /^application\/json(?:; ?charset=utf-8)?$/i;

export interface DeliveryOptions {
  /** Pipelines by the source's name in the delivery's address. Reloading the configuration replaces them. */
  pipelines: { get(source: string): Pick<SourcePipeline, 'context'> | undefined };
  /** Stores the events durably before it resolves. */
  store: (source: string, events: readonly SourceEvent[], receivedAt: Date) => Promise<void>;
  log: Log;
  /** Address as the vendors call it, without a slash at the end: signatures may cover it. Default: where we listen. */
  publicUrl?: string | undefined;
  /** Traces what becomes of a delivery. */
  tracing?: Pick<Tracing, 'span'> | undefined;
  now: () => Date;
}

interface Direct {
  deliver: Deliver;
  refusals: Refusals;
  answered: (request: IncomingMessage, source: string, status: number) => void;
}

/**
 * Takes ordinary deliveries without the router, which would take a third as long as all the rest. Returns false for every other request, which
 * the router then takes.
 */
export function directly(
  app: FastifyInstance,
  { pipelines }: DeliveryOptions,
  { deliver, refusals, answered }: Direct,
) {
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const { method, url = '', headers } = request;
    if (method !== 'POST' || isClosing || !url.startsWith(hooks)) return false;
    const source = url.slice(hooks.length);
    if (pipelines.get(source) === undefined || !plainJson.test(headers['content-type'] ?? '')) return false;
    response.once('finish', () => answered(request, source, response.statusCode));
    void deliver(source, request, response)
      .then((reply) => send(request, response, reply))
      .catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else send(request, response, replyToError(error, refusals, source));
      });
    return true;
  };
}

interface DeliveryGuards {
  bodies: Bodies;
  connections: Connections;
  refusals: Refusals;
}

/** Reads a delivery for a source and takes it. @throws BodyRefused */
export type Deliver = (source: string, request: IncomingMessage, response: ServerResponse) => Promise<HttpReply>;

export function createDeliver(
  options: DeliveryOptions,
  { bodies, connections, refusals }: DeliveryGuards,
  origin: () => string,
): Deliver {
  const { pipelines, now, tracing } = options;
  const take = counted(createTake(options, refusals), options, refusals);
  const turns = new Turns(bytesATurn);
  const turn = (bytes: number): Promise<void> => turns.next(Math.max(leastBytes, bytes));
  let { publicUrl } = options;
  return async (source, request, response) => {
    const announced = announcedBytes(request);
    // When its turn comes, the whole body has arrived: cheaper than waiting for each piece.
    const comesWhole = isShort(announced);
    if (comesWhole) await turn(announced);
    const raw = await bodies.read(request, response, pipelines.get(source)?.context.source.largestBody);
    connections.works(request.socket);
    if (!comesWhole) await turn(raw.length);
    // Asking the socket for its address takes longer than the rest of a delivery's head.
    publicUrl ??= origin();
    const delivery: Delivery = {
      method: request.method ?? '',
      url: `${publicUrl}${request.url}`,
      headers: firstValues(request.headers),
      raw,
      receivedAt: now(),
    };
    return await (tracing === undefined
      ? take(source, delivery)
      : tracing.span('delivery', { source }, () => take(source, delivery)));
  };
}

/** Verifies a delivery and stores its events. Resolves with the answer to the vendor. */
function createTake({ pipelines, log, ...options }: DeliveryOptions, refusals: Refusals) {
  const store = inTime(options.store);
  return async (name: string, delivery: Delivery): Promise<HttpReply> => {
    const { context } = pipelines.get(name) ?? {};
    if (!context) throw new Error('the source was there when the request began');
    const { source } = context;
    const refused = (why: string, message: string, level: 'warn' | 'error' = 'warn') =>
      refusals.count({ source: name, why, message, level });
    const shaken = source.handshake?.(delivery);
    if (shaken !== undefined) return shaken;
    if (delivery.method !== 'POST') return notAllowed;
    const verdict = source.verify(delivery);
    if (!verdict.ok) {
      refused(told(verdict.detail ?? signatureFlaws[verdict.why]), 'delivery refused: signature');
      return jsonReply(401, { error: verdict.detail ?? signatureErrors[verdict.why] });
    }
    const flaw = tooIntricate(delivery.raw, mostEntries);
    const found = flaw === undefined ? await source.events(delivery) : { ok: false as const, why: `the body ${flaw}` };
    if (!isResult(found)) throw new Error(noResult);
    if (!found.ok) {
      const why = told(found.why);
      refused(why, 'delivery refused: body');
      return jsonReply(400, { error: why });
    }
    const { events, ignored } = found;
    if (events.length > mostEvents) {
      refused(`more than ${mostEvents} events`, 'delivery refused: body');
      return jsonReply(413, { error: tooManyEvents });
    }
    for (const { what, why, act } of ignored) {
      log[act ? 'warn' : 'debug']({ source: name, event: what, why }, act ? 'somebody has to act' : 'ignored');
      if (act) await within(storeMs, context.alert('to-do', `${what}: ${why}`, 'do it by hand')).catch(() => undefined);
    }
    if (events.length > 0) {
      try {
        await store(name, events, delivery.receivedAt);
      } catch (error) {
        refused(putOff(redisInWords(error)), 'delivery not stored', 'error');
        return source.notStored ?? retryLater('Not stored. Send it again.');
      }
    }
    const { taken } = source;
    if (taken.body !== undefined) return taken;
    return jsonReply(taken.status, { accepted: events.length, ignored: ignored.length });
  };
}

type Take = ReturnType<typeof createTake>;

/** Where the connector's own code fails, the source counts it, and the vendor sends the delivery again, perhaps to a corrected connector. */
function counted(take: Take, { pipelines }: DeliveryOptions, refusals: Refusals): Take {
  return async (name, delivery) =>
    await take(name, delivery).catch((error: unknown) => {
      refusals.count({ source: name, why: told(messageOf(error)), message: 'delivery not read', level: 'error' });
      return pipelines.get(name)?.context.source.notStored ?? retryLater('Not read. Send it again.');
    });
}

/** What a connector says of a delivery, which may quote from it: for a count that Redis keeps. */
const told = (text: string): string => redacted(text).slice(0, 300);

/** A stranger's connector may return anything. */
const isResult = (found: unknown): boolean => typeof found === 'object' && found !== null && 'ok' in found;
const noResult = 'events of the connector must return oneEvent(…) or noEvent(…)';

const tooManyEvents = `A delivery may hold ${mostEvents} events at most. Send them in several.`;

const signatureFlaws = {
  unsigned: 'the signature is missing',
  mismatch: 'the signature does not match',
  stale: 'the signature is too old',
};

const signatureErrors = {
  unsigned: 'The signature is missing.',
  mismatch:
    'The signature does not match. Check the secret of this source, and that nothing changes the body on its way.',
  stale: 'The signature is too old. Check the clocks, and that nothing holds deliveries back.',
};

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers = {}, body = '' }: HttpReply,
): void {
  if (!request.complete && request.readableFlowing === null) discard(request);
  const isTyped = body === '' || Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  const type = isTyped ? {} : { 'content-type': 'text/plain; charset=utf-8' };
  response.writeHead(status, { ...type, ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}

/** Node gives an array of values for this header only. */
const areSingle = (headers: IncomingHttpHeaders): headers is IncomingHttpHeaders & Record<string, string | undefined> =>
  headers['set-cookie'] === undefined;

function firstValues(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  if (areSingle(headers)) return headers;
  const { 'set-cookie': cookies, ...single } = headers;
  return { ...firstValues(single), 'set-cookie': cookies?.[0] };
}
