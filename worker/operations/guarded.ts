import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify';
import { isLoopback } from '../../core/address.ts';

/** Refuses a request by sending its response, which is given back; undefined: the request is let in. */
export type Guard = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined;

/**
 * A server whose guard sees every request before anything answers. Hooks alone do not: the framework answers an address that it can't
 * decode, or whose part is too long for it, and any request while it closes, without them.
 */
export function createGuarded(options: FastifyServerOptions, guard: Guard): FastifyInstance {
  const app = Fastify({
    ...options,
    return503OnClosing: false,
    frameworkErrors: (_error, request, reply) => {
      if (guard(request, reply) === undefined) sendText(reply, 400, 'This address can not be read.');
    },
  });
  app.addHook('onRequest', async (request, reply) => guard(request, reply));
  return app;
}

/** Whether a request asks for this address: `Host` may name another port, or leave out the usual port. */
export function isNamed(publicUrl: string | undefined, { headers: { host = '' } }: FastifyRequest): boolean {
  return publicUrl !== undefined && URL.parse(`https://${host}`)?.host === new URL(publicUrl).host;
}

/**
 * Refuses what asks for a server by another name than its public address or a name of this machine: another name in `Host` is a site that
 * has its own name lead here (DNS rebinding). What a proxy passes on under a name of this machine would come from anywhere.
 * @param what begins the sentence that tells where it is shown: "This page is"
 */
export function foreignName(
  request: FastifyRequest,
  reply: FastifyReply,
  { what, publicUrl }: { what: string; publicUrl?: string | undefined },
): FastifyReply | undefined {
  const isOfThisMachine = isLoopback(`http://${request.headers.host ?? ''}`) && !isPassedOn(request);
  if (isNamed(publicUrl, request) || isOfThisMachine) return undefined;
  const places = publicUrl === undefined ? 'http://127.0.0.1 and http://localhost only' : `${publicUrl} only`;
  const text = `${what} shown at ${places}. A proxy has to pass on the name that it was asked for ("Host").`;
  return sendText(reply, 421, text);
}

function isPassedOn({ headers }: FastifyRequest): boolean {
  return ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host'].some((name) => headers[name] !== undefined);
}

function sendText(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).type('text/plain; charset=utf-8').send(`${text}\n`);
}
