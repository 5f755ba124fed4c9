import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Delivery, HttpReply } from '../../core/connector/contract.ts';
import { messageOf } from '../../core/errors.ts';
import type { Tracing } from '../operations/tracing.ts';
import { Bodies, type BodyLimits, BodyRefused, discard } from './bodies.ts';
import { Connections } from './connections.ts';
import { addHealthRoutes, type HealthOptions } from './health.ts';
import { inTurn } from './in-turn.ts';
import { MeteredServer } from './metered-server.ts';
import { Refusals } from './refusals.ts';
import { jsonReply, notAllowed, retryLater } from './replies.ts';
import { createTake, type TakeOptions } from './take-delivery.ts';
import { Turns } from './turns.ts';

/** A possible name of a source. Any other path segment is not logged: it may be a secret or a phone number. */
const sourceLike = /^[a-z][a-z-]{0,40}\d{0,3}$/;
/** How long an idle connection is kept: longer than proxies keep theirs. */
const keepAliveTimeout = 72_000;
/** The read-ahead of a connection. */
const highWaterMark = 16 * 1_024;
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

export interface IntakeOptions extends HealthOptions, TakeOptions {
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
}

/** The HTTP server: verifies the raw bytes, stores the events in one durable write, answers. Nothing slow comes before the answer. */
export function createIntake(options: IntakeOptions): FastifyInstance {
  const limits = { ...intakeLimits, ...options.limits };
  const { requestMs, checkMs, silentMs } = limits;
  const refusals = new Refusals(options.log, options.countRefused ?? (() => undefined));
  let takeDirectly: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  const app = Fastify({
    bodyLimit: limits.bytes,
    serverFactory: (handle) => {
      const times = { headersTimeout: requestMs, requestTimeout: requestMs, connectionsCheckingInterval: checkMs };
      const take = inTurn(
        (request, response) => void (takeDirectly(request, response) || handle(request, response)),
        () => refusals.count(pipelined),
      );
      return new MeteredServer({ ...times, keepAliveTimeout, highWaterMark }, take).setTimeout(silentMs);
    },
    trustProxy: isBehindProxy(options) ? [...options.trustProxy] : false,
    forceCloseConnections: 'idle',
    return503OnClosing: true,
  });
  const doors = { bodies: new Bodies(limits), connections: new Connections(app.server, limits.connections), refusals };
  discardUnread(app);
  const answered = ({ method, socket }: IncomingMessage, source: string | undefined, status: number): void => {
    doors.connections.waits(socket);
    if (method === 'POST') options.onAnswered?.(options.pipelines.get(source ?? '')?.context.name, status);
  };
  app.addHook('onResponse', ({ raw, params }, { statusCode }, next) => {
    next();
    answered(raw, Source.safeParse(params).data?.source, statusCode);
  });
  const reporting = setInterval(() => refusals.report(), options.reportEveryMs ?? 60_000).unref();
  app.addHook('onClose', async () => {
    clearInterval(reporting);
    refusals.report();
  });
  takeTypes(app, options.pipelines);
  answerErrors(app, refusals);
  const deliver = createDeliver(options, doors, () => app.listeningOrigin);
  takeDeliveries(app, options, { deliver, refusals });
  if (!isBehindProxy(options)) takeDirectly = directly(app, options, { deliver, refusals, answered });
  addHealthRoutes(app, options);
  return app;
}

const isBehindProxy = <Options extends Pick<IntakeOptions, 'trustProxy'>>(
  options: Options,
): options is Options & { trustProxy: readonly string[] } => (options.trustProxy ?? []).length > 0;

/** Of a request that is answered by its head, the body. */
function discardUnread(app: FastifyInstance): void {
  app.addHook('onSend', ({ raw }, _reply, payload, next) => {
    if (!raw.complete && raw.readableFlowing === null) discard(raw);
    next(null, payload);
  });
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

/** The answer to a request that failed, which is counted. */
function replyToError(error: unknown, refusals: Refusals): HttpReply {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  // The rest of the body is not read.
  const closing = error instanceof BodyRefused ? { connection: 'close' } : {};
  if (status === 415) return jsonReply(415, { error: 'Send JSON with Content-Type: application/json.' }, closing);
  if (status === 413) return jsonReply(413, { error: 'The delivery is too large.' }, closing);
  if (status < 500) return jsonReply(status, { error: 'The request could not be read.' }, closing);
  if (error instanceof BodyRefused) refusals.count({ ...busy, why: error.message });
  else refusals.count({ source: undefined, why: messageOf(error), message: 'intake failed', level: 'error' });
  return retryLater('Try again.', closing);
}

function answerErrors(app: FastifyInstance, refusals: Refusals): void {
  app.setErrorHandler(async (error, _request, reply) => await answer(reply, replyToError(error, refusals)));
  // Before the body is read, as for every request that is refused by its headers.
  app.addHook('onRequest', (request, reply, next) => {
    if (!request.is404) return next();
    const isHook = /^\/hooks\/[^/?]+(\?|$)/.test(request.url);
    if (isHook) void answer(reply, notAllowed);
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

async function answer(reply: FastifyReply, { status, headers = {}, body }: HttpReply): Promise<FastifyReply> {
  return await reply.code(status).headers(headers).send(body);
}

interface Doors {
  bodies: Bodies;
  connections: Connections;
  refusals: Refusals;
}

/** Reads a delivery to a source, and takes it. @throws BodyRefused */
type Deliver = (source: string, request: IncomingMessage, response: ServerResponse, from: string) => Promise<HttpReply>;

function createDeliver(
  options: IntakeOptions,
  { bodies, connections, refusals }: Doors,
  origin: () => string,
): Deliver {
  const { pipelines, now, tracing } = options;
  const take = createTake(options, refusals);
  const turns = new Turns(bytesATurn);
  let { publicUrl } = options;
  return async (source, request, response, from) => {
    const raw = await bodies.read(request, response, from, pipelines.get(source)?.context.source.largestBody);
    connections.works(request.socket);
    await turns.next(Math.max(leastBytes, raw.length));
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

type HookRequest = FastifyRequest<{ Params: { source: string } }>;

function takeDeliveries(
  app: FastifyInstance,
  { pipelines }: IntakeOptions,
  { deliver, refusals }: { deliver: Deliver; refusals: Refusals },
): void {
  app.route({
    method: ['POST', 'GET', 'HEAD'],
    url: '/hooks/:source',
    onRequest: (request: HookRequest, reply, next) => {
      const { source } = request.params;
      const pipeline = pipelines.get(source);
      // Some vendors try the address with other methods.
      const mayCome = request.method === 'POST' || pipeline?.context.source.handshake !== undefined;
      if (!mayCome) return void answer(reply, notAllowed);
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
    handler: async (request: HookRequest, reply) =>
      await answer(reply, await deliver(request.params.source, request.raw, reply.raw, request.ip)),
  });
}

const hooks = '/hooks/';
const plainJson = /^application\/json(?:; ?charset=utf-8)?$/i;

interface Direct {
  deliver: Deliver;
  refusals: Refusals;
  answered: (request: IncomingMessage, source: string, status: number) => void;
}

/**
 * Takes what nearly all deliveries look like without the router, which would take a third as long as all the rest. False: it is the
 * router's, as is everything that needs to be looked at more closely.
 */
function directly(app: FastifyInstance, { pipelines }: IntakeOptions, { deliver, refusals, answered }: Direct) {
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
    void deliver(source, request, response, request.socket.remoteAddress ?? '')
      .then((reply) => send(request, response, reply))
      .catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else send(request, response, replyToError(error, refusals));
      });
    return true;
  };
}

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

/** Of the headers that Node knows only this one may have several values. */
const areSingle = (headers: IncomingHttpHeaders): headers is IncomingHttpHeaders & Record<string, string | undefined> =>
  headers['set-cookie'] === undefined;

function firstValues(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  if (areSingle(headers)) return headers;
  const { 'set-cookie': cookies, ...single } = headers;
  return { ...firstValues(single), 'set-cookie': cookies?.[0] };
}
