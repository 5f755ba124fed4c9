import type { IncomingMessage, ServerResponse } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { HttpReply } from '../../core/connector/contract.ts';
import { Bodies, type BodyLimits, discard } from './bodies.ts';
import { Connections } from './connections.ts';
import { addHealthRoutes, type HealthOptions } from './health.ts';
import { inTurn } from './in-turn.ts';
import { Refusals } from './refusals.ts';
import { notAllowed, replyToError } from './replies.ts';
import { createDeliver, type Deliver, type DeliveryOptions, directly } from './take-delivery.ts';

/** No `import`, which reads every export of the module, also WebSocket, for which Node loads `fetch`: 40 ms, and 16 MB for good. */
const { createServer } = process.getBuiltinModule('node:http');

/** The form of a source's name. Any other path segment may be a secret or a phone number, and is not logged. */
const sourceLike = /^[a-z][a-z-]{0,40}\d{0,3}$/;
/** How long an idle connection is kept: longer than proxies keep theirs. */
const keepAliveTimeout = 72_000;
interface IntakeLimits extends BodyLimits {
  connections: number;
  /** From the first byte of a request to its last. */
  requestMs: number;
  /** How often the server looks for requests that take too long. */
  checkMs: number;
  /** How long a connection may be silent in the middle of a request or a response. */
  silentMs: number;
}

const mebibyte = 1024 * 1024;
/** Source of the limits: HubSpot, Zendesk and the shops send some kilobytes within milliseconds, at most ten deliveries at once. */
export const intakeLimits: IntakeLimits = {
  bytes: mebibyte,
  allBytes: 32 * mebibyte,
  connections: 1_000,
  requestMs: 10_000,
  checkMs: 1_000,
  silentMs: 20_000,
};

export interface IntakeOptions extends HealthOptions, DeliveryOptions {
  /** Called with the number of deliveries that were refused for a reason. */
  countRefused?: (source: string, why: string, count: number) => void;
  /** A delivery was answered; `source` is undefined for a name that is not in the configuration. */
  onAnswered?: (source: string | undefined, status: number) => void;
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
    serverFactory: (handle) => {
      const times = { headersTimeout: requestMs, requestTimeout: requestMs, connectionsCheckingInterval: checkMs };
      const take = inTurn(
        (request, response) => void (takeDirectly(request, response) || handle(request, response)),
        () => refusals.count(pipelined),
      );
      // Requests without a host come to the handler as well, which counts them: Node would answer each by itself.
      return createServer({ ...times, keepAliveTimeout, requireHostHeader: false }, take).setTimeout(silentMs);
    },
    forceCloseConnections: 'idle',
    return503OnClosing: true,
  });
  const guards = { bodies: new Bodies(limits), connections: new Connections(app.server, limits.connections), refusals };
  discardUnread(app);
  const answered = ({ method, socket }: IncomingMessage, source: string | undefined, status: number): void => {
    guards.connections.waits(socket);
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
  const deliver = createDeliver(options, guards, () => app.listeningOrigin);
  takeDeliveries(app, options, { deliver, refusals });
  takeDirectly = directly(app, options, { deliver, refusals, answered });
  addHealthRoutes(app, options);
  return app;
}

/** Drops the body of a request that is answered by its head. */
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

/** Checks the type of the body before anything of the body is read. */
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
  app.setErrorHandler(async (error, { params }, reply) => {
    const { source } = Source.catch({}).parse(params);
    return await answer(reply, replyToError(error, refusals, source));
  });
  // This check comes before the body is read, like every check of the headers.
  app.addHook('onRequest', (request, reply, next) => {
    if (!request.is404) return next();
    const isHook = /^\/hooks\/[^/?]+(\?|$)/.test(request.url);
    if (isHook) void answer(reply, notAllowed);
    else reply.code(404).send({ error: 'Not found.' });
  });
}

const pipelined = {
  source: undefined,
  why: 'more than ten requests at once, without waiting for an answer',
  message: 'connection closed',
  level: 'warn',
} as const;

async function answer(reply: FastifyReply, { status, headers = {}, body }: HttpReply): Promise<FastifyReply> {
  return await reply.code(status).headers(headers).send(body);
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
      await answer(reply, await deliver(request.params.source, request.raw, reply.raw)),
  });
}
