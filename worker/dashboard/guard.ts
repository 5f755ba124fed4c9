import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isEqual } from '../../core/connector/signature.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { DashboardRole } from '../config/dashboard.ts';
import { foreignName, type Guard } from '../operations/guarded.ts';
import type { Seal } from '../redis/seal.ts';
import { loginAt } from './addresses.ts';
import { Cookie } from './cookies.ts';

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

/** Who sends a request. */
export interface Visitor {
  /** For people and the audit log. */
  name: string;
  role: DashboardRole;
  /** Whether they are shown customers' addresses in full. */
  contacts: boolean;
  /** What the forms of this login are bound to. Undefined: no login is needed. */
  session?: string;
}

/** `anybody`: whether logged in or not. `unasked`: who sends it is not even looked up. */
type Access = DashboardRole | 'anybody' | 'unasked';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may send this to the page. Left out: who may read where it is a GET, else who may act. */
    access?: Access;
    /** A search that is sent as a form, so that what it looks for stands in no address: it changes nothing, and its form has no token. */
    isSearch?: true;
  }
}

/** What every response carries, and whom none is given: the page is asked for by its public address or by a name of this machine. */
export function hostGuard(publicUrl: string | undefined): Guard {
  return (request, reply) => {
    reply.headers(headers);
    return foreignName(request, reply, { what: 'This page is', publicUrl });
  };
}

interface AccessOptions {
  publicUrl: string | undefined;
  seal: Pick<Seal, 'digest'>;
  /** Who sends a request. Undefined: somebody who has to log in. */
  identify: (request: FastifyRequest) => Promise<Visitor | undefined>;
}

const visitor = Symbol('visitor');
const formTokens = Symbol('form tokens');
const Form = z.object({ csrf: z.string() }).catch({ csrf: '' });

/** Checks each request before its route runs: who sends the request, whether they may, from which site, and that our own page sent the form. */
export function guardAccess(app: FastifyInstance, { publicUrl, seal, identify }: AccessOptions): void {
  const tokens = new FormTokens(seal, publicUrl);
  app.decorateRequest(visitor);
  app.decorate(formTokens, tokens);
  app.addHook('onRequest', async (request, reply) => {
    const { access = isReading(request) ? 'read' : 'act' } = request.routeOptions.config;
    if (access === 'unasked') return;
    request.setDecorator(visitor, await identify(request));
    if (access === 'anybody') return;
    if (visitorOf(request) === undefined) return await sendToLogin(request, reply);
    if (access === 'act' && !mayAct(request)) throw new Refused(403, 'You may look at this page, but not act on it.');
  });
  app.addHook('preHandler', async (request) => {
    if (request.is404) return;
    if (isFromElsewhere(request)) throw forged();
    if (isReading(request) || request.routeOptions.config.isSearch) return;
    if (!tokens.isOf(request, Form.parse(request.body).csrf)) throw forged();
  });
}

/** Who sent it; undefined: nobody knows yet. */
export function visitorOf(request: FastifyRequest): Visitor | undefined {
  return request.getDecorator<Visitor | undefined>(visitor);
}

/** Whether who sent it is shown buttons. */
export function mayAct(request: FastifyRequest): boolean {
  return visitorOf(request)?.role === 'act';
}

/** Whether who sent it is shown customers' addresses in full. */
export function seesContacts(request: FastifyRequest): boolean {
  return visitorOf(request)?.contacts === true;
}

/** Who sent it, for the audit log. */
export function nameOf(request: FastifyRequest): string {
  return visitorOf(request)?.name ?? 'nobody';
}

/** For a form in this response that acts: `csrfField`. */
export function formToken(reply: FastifyReply): string {
  return reply.server.getDecorator<FormTokens>(formTokens).next(reply);
}

/**
 * Forms that act take a token that only a page of ours, shown to the same browser, can hold: a keyed digest of the login's session
 * or, where there is none, of a random number that the browser keeps in a cookie. Nothing is stored, and every process of the
 * installation knows its own tokens.
 */
class FormTokens {
  readonly #seal: Pick<Seal, 'digest'>;
  readonly #cookie: Cookie;

  constructor(seal: Pick<Seal, 'digest'>, publicUrl: string | undefined) {
    this.#seal = seal;
    this.#cookie = new Cookie('closeloop-visit', publicUrl);
  }

  next(reply: FastifyReply): string {
    const known = this.#visitOf(reply.request);
    if (known !== undefined) return this.#tokenOf(known);
    const visit = randomBytes(32).toString('base64url');
    this.#cookie.set(reply, visit);
    return this.#tokenOf(visit);
  }

  /** Whether a page that the same browser was shown holds this token. */
  isOf(request: FastifyRequest, token: string): boolean {
    const visit = this.#visitOf(request);
    return visit !== undefined && isEqual(Buffer.from(this.#tokenOf(visit)), Buffer.from(token));
  }

  #visitOf(request: FastifyRequest): string | undefined {
    const visit = this.#cookie.of(request) ?? '';
    return visitorOf(request)?.session ?? (/^[\w-]{43}$/.test(visit) ? visit : undefined);
  }

  #tokenOf(visit: string): string {
    return this.#seal.digest(`form of ${visit}`);
  }
}

/**
 * By what browsers say of themselves: from which site a request comes. From another site only a link is followed: a picture or a form
 * there would have this page call the service and the vendors.
 */
function isFromElsewhere({ method, headers }: FastifyRequest): boolean {
  const { origin, host = '', 'sec-fetch-site': site = 'same-origin', 'sec-fetch-mode': mode } = headers;
  if (method === 'GET' && mode === 'navigate') return false;
  if (site !== 'same-origin') return true;
  if (origin === undefined) return false;
  // Browsers leave out the usual port of an origin; what passes a request on may name it in `Host`.
  const from = URL.parse(origin);
  return from === null || from.host !== URL.parse(`${from.protocol}//${host}`)?.host;
}

class Refused extends CloseloopError {
  readonly statusCode: 401 | 403;

  constructor(statusCode: Refused['statusCode'], message: string) {
    super(`${message} Nothing was done.`, { kind: 'permanent' });
    this.statusCode = statusCode;
  }
}

/** A form or another request that no page of ours sent, or an old one of another visit. */
function forged(): Refused {
  return new Refused(403, 'This form did not come from this page, or is from an earlier visit: load the page again.');
}

async function sendToLogin(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (isReading(request)) return await reply.redirect(loginAt(request.url), 303);
  throw new Refused(401, 'You are not logged in any more: log in, and send the form again.');
}

function isReading({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}
