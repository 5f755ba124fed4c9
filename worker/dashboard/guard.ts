import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isLoopback } from '../../core/address.ts';
import { isAskedSecurely } from './cookies.ts';

/** Nothing of another host, nothing inline, in nobody's frame. */
const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // Not no-referrer: with that, browsers send "Origin: null" with our own forms.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cache-control': 'no-store',
};

/**
 * Before anything else looks at a request: what every response carries, and whom none is given. The page is asked for by its public
 * address or by a name of this machine: another name in `Host` is a site that has its own name lead here (DNS rebinding). What a proxy
 * passes on under a name of this machine would come from anywhere.
 */
export function guard(app: FastifyInstance, publicUrl: string | undefined): void {
  const publicHost = publicUrl === undefined ? undefined : new URL(publicUrl).host;
  const isPublic = (host: string) => publicHost !== undefined && URL.parse(`https://${host}`)?.host === publicHost;
  app.decorateRequest(isAskedSecurely.decorator);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(headers);
    const { host = '' } = request.headers;
    const isShown = isPublic(host) || (isLoopback(`http://${host}`) && !isPassedOn(request));
    if (!isShown) {
      const places = publicUrl === undefined ? 'http://127.0.0.1 and http://localhost only' : `${publicUrl} only`;
      return await reply
        .code(421)
        .type('text/plain; charset=utf-8')
        .send(`This page is shown at ${places}. A proxy has to pass on the name that it was asked for ("Host").\n`);
    }
    isAskedSecurely.note(request, isPublic(host) && publicUrl?.startsWith('https:') === true);
  });
}

function isPassedOn({ headers }: FastifyRequest): boolean {
  return ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host'].some((name) => headers[name] !== undefined);
}
