import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isNamed } from '../operations/guarded.ts';

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
