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

  /** @throws ForgedForm unless a page of ours in the same browser sent it */
  check(request: FastifyRequest, token: string): void {
    const { origin, host, 'sec-fetch-site': site } = request.headers;
    const isOurs = (origin === undefined || isOf(origin, host)) && (site ?? 'same-origin') === 'same-origin';
    const visit = visitOf(request);
    if (!isOurs || visit === undefined || !isSame(token, this.#tokenOf(visit))) throw new ForgedForm();
  }

  #tokenOf(visit: string): string {
    return this.#seal.digest(`form of ${visit}`);
  }
}

/** A form that no page of ours sent, or an old one of another visit. */
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
