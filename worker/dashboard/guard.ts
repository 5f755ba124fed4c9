import type { FastifyInstance } from 'fastify';
import { foreignName, type Guard, isNamed } from '../operations/guarded.ts';
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

/** What every response carries, and whom none is given: the page is asked for by its public address or by a name of this machine. */
export function pageGuard(publicUrl: string | undefined): Guard {
  return (request, reply) => {
    reply.headers(headers);
    return foreignName(request, reply, { what: 'This page is', publicUrl });
  };
}

/** Notes by which address a browser asks, for cookies. */
export function noteAddress(app: FastifyInstance, publicUrl: string | undefined): void {
  app.decorateRequest(isAskedSecurely.decorator);
  app.addHook('onRequest', async (request) => {
    isAskedSecurely.note(request, publicUrl?.startsWith('https:') === true && isNamed(publicUrl, request));
  });
}
