import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Delivery, type HttpReply, mostEvents, type SourceEvent } from '../../core/connector/contract.ts';
import { tooIntricate } from '../../core/connector/json-structure.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import { redacted } from '../../core/redaction.ts';
import type { Tracing } from '../operations/tracing.ts';
import type { SourcePipeline } from '../pipeline/source-pipeline.ts';
import { Bodies, type BodyLimits, BodyRefused, discard } from './bodies.ts';
import { Connections } from './connections.ts';
import { addHealthRoutes, type HealthOptions } from './health.ts';
import { inTurn } from './in-turn.ts';
import { MeteredServer } from './metered-server.ts';
import { Refusals } from './refusals.ts';
import { inTime, storeMs, within } from './store-in-time.ts';
import { Turns } from './turns.ts';

/** Zendesk retries a 503 only with a Retry-After of at most 60 s. */
const retryAfterSeconds = '30';
/** A possible name of a source. Any other path segment is not logged: it may be a secret or a phone number. */
const sourceLike = /^[a-z][a-z-]{0,40}\d{0,3}$/;
/** How long an idle connection is kept: longer than proxies keep theirs. */
const keepAliveTimeout = 72_000;
/** The read-ahead of a connection. */
const highWaterMark = 16 * 1_024;
/** Of the JSON of a delivery: ten bytes each where it is as long as it may be. An order of 1 MiB has some 40,000. */
const mostEntries = 100_000;
/** Bytes of deliveries that are verified and parsed in one turn of the event loop; each counts as at least a kilobyte. */
const bytesATurn = 64 * 1_024;
const leastBytes = 1_024;

interface IntakeLimits extends BodyLimits {
  connections: number;
  /** From the first byte of a request to its last. */
  requestMs: number;
  /** How often requests over that time are searched for. */
  checkMs: number;
  /** How long a connection may be silent in the middle of a request or a response. */
  silentMs: number;
}

const mebibyte = 1024 * 1024;
/** Vendors send some kilobytes within milliseconds, ten deliveries at once at most: facts of HubSpot, Zendesk and the shops. */
export const intakeLimits: IntakeLimits = {
  bytes: mebibyte,
  allBytes: 32 * mebibyte,
  addressBytes: 16 * mebibyte,
  connections: 1_000,
  requestMs: 10_000,
  checkMs: 1_000,
  silentMs: 20_000,
};

export interface IntakeOptions extends HealthOptions {
  /** By the name that a delivery comes under; another one, once the configuration was reloaded. */
  pipelines: { get(source: string): Pick<SourcePipeline, 'context'> | undefined };
  /** Stores the events durably before it resolves. */
  store: (source: string, events: readonly SourceEvent[], receivedAt: Date) => Promise<void>;
  /** Address as the vendors call it, without a slash at the end: signatures may cover it. Default: where we listen. */
  publicUrl?: string | undefined;
  /** Proxies whose X-Forwarded-For is trusted. */
  trustProxy?: readonly string[];
  /** Called with the number of deliveries that were refused for a reason. */
  countRefused?: (source: string, why: string, count: number) => void;
  /** A delivery was answered; `source` is undefined for a name that is not in the configuration. */
  onAnswered?: (source: string | undefined, status: number) => void;
  /** Traces what becomes of a delivery. */
  tracing?: Pick<Tracing, 'span'> | undefined;
  /** How often refused deliveries are summed up. Default a minute. */
  reportEveryMs?: number;
  limits?: Partial<IntakeLimits>;
  log: Log;
}

/** The HTTP server: verifies the raw bytes, stores the events in one durable write, answers. Nothing slow comes before the answer. */
export function createIntake(options: IntakeOptions): FastifyInstance {
  const limits = { ...intakeLimits, ...options.limits };
  const { requestMs, checkMs, silentMs } = limits;
  const refusals = new Refusals(options.log, options.countRefused ?? (() => undefined));
  const app = Fastify({
    bodyLimit: limits.bytes,
    serverFactory: (handle) => {
      const times = { headersTimeout: requestMs, requestTimeout: requestMs, connectionsCheckingInterval: checkMs };
      const server = new MeteredServer(
        { ...times, keepAliveTimeout, highWaterMark },
        inTurn(handle, () => refusals.count(pipelined)),
      );
      return server.setTimeout(silentMs);
    },
    trustProxy: options.trustProxy && options.trustProxy.length > 0 ? [...options.trustProxy] : false,
    forceCloseConnections: 'idle',
    return503OnClosing: true,
  });
  const connections = new Connections(app.server, limits.connections);
  // The body of a request that is answered by its head.
  app.addHook('onSend', ({ raw }, _reply, payload, next) => {
    if (!raw.complete && raw.readableFlowing === null) discard(raw);
    next(null, payload);
  });
  app.addHook('onResponse', (request, { statusCode }, next) => {
    connections.waits(request.raw.socket);
    next();
    if (request.method !== 'POST' || options.onAnswered === undefined) return;
    const { source = '' } = Source.safeParse(request.params).data ?? {};
    options.onAnswered(options.pipelines.get(source)?.context.name, statusCode);
  });
  const reporting = setInterval(() => refusals.report(), options.reportEveryMs ?? 60_000).unref();
  app.addHook('onClose', async () => {
    clearInterval(reporting);
    refusals.report();
  });
  takeTypes(app, options.pipelines);
  answerErrors(app, refusals);
  takeDeliveries(app, options, { bodies: new Bodies(limits), connections, refusals });
  addHealthRoutes(app, options);
  return app;
}

const Source = z.object({ source: z.string().optional() });

const otherTypes = [
  { kind: 'form', type: /^application\/x-www-form-urlencoded\b/ },
  { kind: 'xml', type: /^(application|text)\/(.+\+)?xml\b/ },
] as const;

/** Of which type a body may be. Nothing is read yet. */
function takeTypes(app: FastifyInstance, pipelines: IntakeOptions['pipelines']): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(/^application\/(.+\+)?json\b/, (_request, _body, next) => next(null));
  for (const { kind, type } of otherTypes) {
    app.addContentTypeParser(type, (request, _body, next) => {
      const { source = '' } = Source.catch({}).parse(request.params);
      const isTaken = pipelines.get(source)?.context.source.alsoTakes?.includes(kind) === true;
      next(isTaken ? null : Object.assign(new Error('not JSON'), { statusCode: 415 }));
    });
  }
}

function answerErrors(app: FastifyInstance, refusals: Refusals): void {
  app.setErrorHandler(async (error: { statusCode?: number; code?: string }, _request, reply) => {
    const status = error.statusCode ?? 500;
    // The rest of the body is not read.
    if (error instanceof BodyRefused) reply.header('connection', 'close');
    if (status === 415) return await reply.code(415).send({ error: 'Send JSON with Content-Type: application/json.' });
    if (status === 413) return await reply.code(413).send({ error: 'The delivery is too large.' });
    if (status < 500) return await reply.code(status).send({ error: 'The request could not be read.' });
    if (error instanceof BodyRefused) refusals.count({ ...busy, why: error.message });
    else refusals.count({ source: undefined, why: messageOf(error), message: 'intake failed', level: 'error' });
    return await retryLater(reply, 'Try again.');
  });
  // Before the body is read, as for every request that is refused by its headers.
  app.addHook('onRequest', (request, reply, next) => {
    if (!request.is404) return next();
    const isHook = /^\/hooks\/[^/?]+(\?|$)/.test(request.url);
    if (isHook) notAllowed(reply);
    else reply.code(404).send({ error: 'Not found.' });
  });
}

const busy = {
  source: undefined,
  message: 'bodies that are slow gave way to others: 503. Somebody sends many at once, or a proxy is slow',
  level: 'warn',
} as const;

const pipelined = {
  source: undefined,
  why: 'more than ten requests at once, without waiting for an answer',
  message: 'connection closed',
  level: 'warn',
} as const;

async function retryLater(reply: FastifyReply, error: string): Promise<FastifyReply> {
  return await reply.code(503).header('retry-after', retryAfterSeconds).send({ error });
}

function notAllowed(reply: FastifyReply): FastifyReply {
  return reply.code(405).header('allow', 'POST').send({ error: 'Send deliveries with POST.' });
}

async function answer(reply: FastifyReply, { status, headers = {}, body }: HttpReply): Promise<FastifyReply> {
  return await reply.code(status).headers(headers).send(body);
}

interface Doors {
  bodies: Bodies;
  connections: Connections;
  refusals: Refusals;
}

type HookRequest = FastifyRequest<{ Params: { source: string } }>;

function takeDeliveries(app: FastifyInstance, options: IntakeOptions, { bodies, connections, refusals }: Doors): void {
  const { pipelines, now } = options;
  const take = createTake({ ...options, store: inTime(options.store) }, refusals);
  const turns = new Turns(bytesATurn);
  let { publicUrl } = options;
  app.route({
    method: ['POST', 'GET', 'HEAD'],
    url: '/hooks/:source',
    onRequest: (request: HookRequest, reply, next) => {
      const { source } = request.params;
      const pipeline = pipelines.get(source);
      // Some vendors try the address with other methods.
      const mayCome = request.method === 'POST' || pipeline?.context.source.handshake !== undefined;
      if (!mayCome) return void notAllowed(reply);
      if (pipeline !== undefined) return next();
      const message = 'delivery for a source that is not in the configuration';
      refusals.count({
        source: undefined,
        why: 'unknown source',
        message,
        level: 'warn',
        ...(sourceLike.test(source) && { example: source }),
      });
      reply.code(404).send({ error: 'There is no source of this name.' });
    },
    handler: async (request: HookRequest, reply) => {
      const { source } = request.params;
      const raw = await bodies.read(
        request.raw,
        reply.raw,
        request.ip,
        pipelines.get(source)?.context.source.largestBody,
      );
      connections.works(request.raw.socket);
      await turns.next(Math.max(leastBytes, raw.length));
      // Asking the socket for its address takes longer than the rest of a delivery's head.
      publicUrl ??= app.listeningOrigin;
      const delivery: Delivery = {
        method: request.method,
        url: `${publicUrl}${request.url}`,
        headers: firstValues(request.headers),
        raw,
        receivedAt: now(),
      };
      const work = () => take(source, delivery, reply);
      return await (options.tracing?.span('delivery', { source }, work) ?? work());
    },
  });
}

/** Verifies a delivery, stores its events, and answers. */
function createTake({ pipelines, store, log }: IntakeOptions, refusals: Refusals) {
  return async (name: string, delivery: Delivery, reply: FastifyReply): Promise<FastifyReply> => {
    const { context } = pipelines.get(name) ?? {};
    if (!context) throw new Error('the source was there when the request began');
    const { source } = context;
    const refused = (why: string, message: string, level: 'warn' | 'error' = 'warn') =>
      refusals.count({ source: name, why, message, level });
    const shaken = source.handshake?.(delivery);
    if (shaken !== undefined) return await answer(reply, shaken);
    if (delivery.method !== 'POST') return notAllowed(reply);
    const verdict = source.verify(delivery);
    if (!verdict.ok) {
      refused(verdict.why, 'delivery refused: signature');
      return await reply.code(401).send({ error: signatureErrors[verdict.why] });
    }
    const flaw = tooIntricate(delivery.raw, mostEntries);
    const found = flaw === undefined ? await source.events(delivery) : { ok: false as const, why: `the body ${flaw}` };
    if (!found.ok) {
      const why = redacted(found.why);
      refused(why, 'delivery refused: body');
      return await reply.code(400).send({ error: why });
    }
    const { events, ignored } = found;
    if (events.length > mostEvents) {
      refused(`more than ${mostEvents} events`, 'delivery refused: body');
      return await reply.code(413).send({ error: tooManyEvents });
    }
    for (const { what, why, act } of ignored) {
      log[act ? 'warn' : 'debug']({ source: name, event: what, why }, act ? 'somebody has to act' : 'ignored');
      if (act) await within(storeMs, context.alert('to-do', `${what}: ${why}`, 'do it by hand')).catch(() => undefined);
    }
    if (events.length > 0) {
      try {
        await store(name, events, delivery.receivedAt);
      } catch (error) {
        refused(messageOf(error), 'delivery not stored: the vendor is told to come again', 'error');
        if (source.notStored !== undefined) return await answer(reply, source.notStored);
        return await retryLater(reply, 'Not stored. Send it again.');
      }
    }
    const { taken } = source;
    const counts = { accepted: events.length, ignored: ignored.length };
    return taken.body === undefined ? await reply.code(taken.status).send(counts) : await answer(reply, taken);
  };
}

const tooManyEvents = `A delivery may hold ${mostEvents} events at most. Send them in several.`;

const signatureErrors = {
  unsigned: 'The signature is missing.',
  mismatch:
    'The signature does not match. Check the secret of this source, and that nothing changes the body on its way.',
  stale: 'The signature is too old. Check the clocks, and that nothing holds deliveries back.',
};

function firstValues(headers: Record<string, string | string[] | undefined>): Record<string, string | undefined> {
  const first: Record<string, string | undefined> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    first[name] = Array.isArray(value) ? value[0] : value;
  }
  return first;
}
