import { randomBytes } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isEqual } from '../../core/connector/signature.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { DashboardRole } from '../config/dashboard.ts';
import { foreignName, type Guard, isNamed } from '../operations/guarded.ts';
import type { Seal } from '../redis/seal.ts';
import { loginAt } from './addresses.ts';

/** A cookie for one browser session. The browser sends it only to closeloop, and only from closeloop's own pages. */
export class Cookie {
  readonly #name: string;
  readonly #publicUrl: string | undefined;

  constructor(name: string, publicUrl: string | undefined) {
    this.#name = name;
    this.#publicUrl = publicUrl;
  }

  /** Reads the value that `set` stored under the same address. */
  of(request: FastifyRequest): string | undefined {
    return parseCookie(request.headers.cookie ?? '')[this.#at(request).name];
  }

  /** Sets the cookie; an empty value removes it. */
  set(reply: FastifyReply, value: string): void {
    const life = value === '' ? { maxAge: 0 } : {};
    const rights = { path: '/', httpOnly: true, sameSite: 'strict' } as const;
    reply.header('set-cookie', stringifySetCookie({ ...this.#at(reply.request), value, ...rights, ...life }));
  }

  /** A browser accepts a `__Host-` cookie only from this very host and over TLS: no neighbouring site can plant one. */
  #at(request: FastifyRequest): { name: string; secure: boolean } {
    const secure = this.#publicUrl?.startsWith('https:') === true && isNamed(this.#publicUrl, request);
    return { name: secure ? `__Host-${this.#name}` : this.#name, secure };
  }
}

/** The page loads nothing from other hosts, runs nothing inline, and no site may show it in a frame. */
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
  // With no-referrer browsers would send "Origin: null" with closeloop's own forms.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cache-control': 'no-store',
};

/** The person who sends a request. */
export interface Visitor {
  /** The visitor's name on pages and in the audit log. */
  name: string;
  role: DashboardRole;
  /** Whether the visitor sees customers' addresses in full. */
  contacts: boolean;
  /** The session that the forms of this login are bound to. Undefined: no login is needed. */
  session?: string;
}

/** `anybody`: with or without a login. `unasked`: the guard does not look up the visitor at all. */
type Access = DashboardRole | 'anybody' | 'unasked';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call this route. Left out: `read` for a GET, else `act`. */
    access?: Access;
    /** A search by POST, so that the searched text is in no address. The search changes nothing, so its form has no token. */
    isSearch?: true;
  }
}

/** Sets the headers of every response, and refuses requests for a host other than the public address or a name of this machine. */
export function hostGuard(publicUrl: string | undefined): Guard {
  return (request, reply) => {
    reply.headers(headers);
    return foreignName(request, reply, { what: 'This page is', publicUrl });
  };
}

interface AccessOptions {
  publicUrl: string | undefined;
  seal: Pick<Seal, 'digest'>;
  /** Finds the visitor who sends a request. Undefined: the visitor has to log in. */
  identify: (request: FastifyRequest) => Promise<Visitor | undefined>;
}

const visitor = Symbol('visitor');
const formTokens = Symbol('form tokens');
const Form = z.object({ csrf: z.string() }).catch({ csrf: '' });

/**
 * Checks each request before its route runs: who sends it, whether the visitor may, from which site, and that closeloop's own page sent
 * the form.
 */
export function guardAccess(app: FastifyInstance, { publicUrl, seal, identify }: AccessOptions): void {
  const tokens = new FormTokens(seal, publicUrl);
  app.decorateRequest(visitor);
  app.decorate(formTokens, tokens);
  app.addHook('onRequest', async (request, reply) => {
    const { access = isReading(request) ? 'read' : 'act' } = request.routeOptions.config;
    if (access === 'unasked') return;
    request.setDecorator(visitor, await identify(request));
    if (access === 'anybody') return;
    if (visitorOf(request) === undefined)
      return isReading(request) ? await reply.redirect(loginAt(request.url), 303) : undefined;
    if (access === 'act' && !mayAct(request)) throw new Refused(403, 'You may look at this page, but not act on it.');
  });
  app.addHook('preHandler', async (request) => {
    const { access } = request.routeOptions.config;
    // Refused only here, where the form is read: the page of the refusal shows what the person typed.
    if (access !== 'unasked' && access !== 'anybody' && visitorOf(request) === undefined)
      throw new Refused(401, 'You are not logged in any more: log in, and send the form again.');
    if (request.is404) return;
    if (isFromElsewhere(request)) throw forged();
    if (isReading(request) || request.routeOptions.config.isSearch) return;
    if (!tokens.isOf(request, Form.parse(request.body).csrf)) throw forged();
  });
}

/** The visitor who sent the request; undefined while the visitor is unknown. */
export function visitorOf(request: FastifyRequest): Visitor | undefined {
  return request.getDecorator<Visitor | undefined>(visitor);
}

/** Whether the visitor sees buttons. */
export function mayAct(request: FastifyRequest): boolean {
  return visitorOf(request)?.role === 'act';
}

/** Whether the visitor sees customers' addresses in full. */
export function seesContacts(request: FastifyRequest): boolean {
  return visitorOf(request)?.contacts === true;
}

/** The visitor's name for the audit log. */
export function nameOf(request: FastifyRequest): string {
  return visitorOf(request)?.name ?? 'nobody';
}

/** The token for a form (`actingForm`) in this response. */
export function formToken(reply: FastifyReply): string {
  return reply.server.getDecorator<FormTokens>(formTokens).next(reply);
}

/**
 * Forms that act carry a token which only a page that closeloop showed to the same browser can contain: a keyed digest of the login's
 * session or, without a session, of a random number in a cookie. The token is not stored: every process of the installation can calculate
 * it.
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

  /** Whether closeloop gave this token to the same browser. */
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
 * Whether a request comes from another site, by the headers that browsers send. A link from another site is followed; a picture or a form
 * there is refused, as it would make closeloop call the service and the vendors.
 */
export function isFromElsewhere({ method, headers }: FastifyRequest): boolean {
  const { origin, host = '', 'sec-fetch-site': site = 'same-origin', 'sec-fetch-mode': mode } = headers;
  if (method === 'GET' && mode === 'navigate') return false;
  if (site !== 'same-origin') return true;
  if (origin === undefined) return false;
  // Browsers leave out the usual port of an origin; a proxy may name the port in `Host`.
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

/** The error for a form or another request that no page of closeloop sent, or that a page of an earlier visit sent. */
function forged(): Refused {
  return new Refused(403, 'This form did not come from this page, or is from an earlier visit: load the page again.');
}

function isReading({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}
