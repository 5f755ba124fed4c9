import type { FastifyInstance } from 'fastify';
import { isLoopback } from '../../core/address.ts';

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
 * Before anything else looks at a request: what every response carries, and whom none is given. The page of this machine is
 * asked for by a name of this machine: another name in `Host` is a site that has its own name lead here (DNS rebinding), or a
 * proxy that would show the page elsewhere.
 */
export function guard(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(headers);
    const { host } = request.headers;
    if (host === undefined || !isLoopback(`http://${host}`)) {
      return await reply
        .code(421)
        .type('text/plain; charset=utf-8')
        .send('This page is shown at http://127.0.0.1 and http://localhost only.\n');
    }
  });
}
