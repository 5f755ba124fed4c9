import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CloseloopError } from '../../core/errors.ts';
import type { Seal } from '../redis/seal.ts';
import { visitorOf } from './access.ts';
import { cookieOf, setCookie } from './cookies.ts';

const cookie = 'closeloop-visit';
const visitForm = /^[\w-]{43}$/;

/**
 * Forms that act take a token that only a page of ours, shown to the same browser, can hold: a keyed digest of the login's session
 * or, where there is none, of a random number that the browser keeps in a cookie. Nothing is stored, and every process of the
 * installation knows its own tokens.
 */
export class Csrf {
  readonly #seal: Pick<Seal, 'digest'>;

  constructor(seal: Pick<Seal, 'digest'>) {
    this.#seal = seal;
  }

  /** For a form in the response to this request. */
  tokenFor(request: FastifyRequest, reply: FastifyReply): string {
    const known = visitOf(request);
    if (known !== undefined) return this.#tokenOf(known);
    const visit = randomBytes(32).toString('base64url');
    setCookie(reply, cookie, visit);
    return this.#tokenOf(visit);
  }

  /** @throws ForgedForm unless the token is of a page that the same browser was shown */
  check(request: FastifyRequest, token: string): void {
    const visit = visitOf(request);
    if (visit === undefined || !isSame(token, this.#tokenOf(visit))) throw new ForgedForm();
  }

  #tokenOf(visit: string): string {
    return this.#seal.digest(`form of ${visit}`);
  }
}

/**
 * By what browsers say of themselves: from which site a request comes. From another site only a link is followed: a picture or a form
 * there would have this page call the service and the vendors.
 * @throws ForgedForm
 */
export function checkOrigin({ method, headers }: FastifyRequest): void {
  const { origin, host, 'sec-fetch-site': site = 'same-origin', 'sec-fetch-mode': mode } = headers;
  if (method === 'GET' && mode === 'navigate') return;
  if ((origin !== undefined && !isOf(origin, host)) || site !== 'same-origin') throw new ForgedForm();
}

/** A form or another request that no page of ours sent, or an old one of another visit. */
export class ForgedForm extends CloseloopError {
  readonly statusCode = 403;

  constructor() {
    super(
      'This form did not come from this page, or is from an earlier visit. Nothing was done: load the page again.',
      {
        kind: 'permanent',
      },
    );
  }
}

function visitOf(request: FastifyRequest): string | undefined {
  const { session } = visitorOf(request) ?? {};
  if (session !== undefined) return session;
  const visit = cookieOf(request, cookie);
  return visit !== undefined && visitForm.test(visit) ? visit : undefined;
}

/** Browsers leave out the usual port of an origin; what passes a request on may name it in `Host`. */
function isOf(origin: string, host = ''): boolean {
  const from = URL.parse(origin);
  return from !== null && from.host === URL.parse(`${from.protocol}//${host}`)?.host;
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
