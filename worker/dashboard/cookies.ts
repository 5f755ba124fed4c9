import type { FastifyReply, FastifyRequest } from 'fastify';

const secure = Symbol('secure');

/** For `guard`, which knows by which address a browser asks. */
export const isAskedSecurely = {
  decorator: secure,
  note: (request: FastifyRequest, isSecure: boolean) => request.setDecorator(secure, isSecure),
};

/** The value of the cookie that `setCookie` has set under the same address. */
export function cookieOf(request: FastifyRequest, name: string): string | undefined {
  const wanted = nameAt(request, name);
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => {
    const at = pair.indexOf('=');
    return [pair.slice(0, Math.max(0, at)).trim(), pair.slice(at + 1).trim()] as const;
  });
  return pairs.find(([one]) => one === wanted)?.[1];
}

/** For this browser session; sent back to us alone, and by our own pages alone. An empty value removes it. */
export function setCookie(reply: FastifyReply, name: string, value: string): void {
  const { request } = reply;
  const parts = [`${nameAt(request, name)}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Strict'];
  if (isSecure(request)) parts.push('Secure');
  if (value === '') parts.push('Max-Age=0');
  reply.header('set-cookie', parts.join('; '));
}

/** With `__Host-` a browser takes it from this very host and over TLS alone: no neighbouring site can plant one. */
function nameAt(request: FastifyRequest, name: string): string {
  return isSecure(request) ? `__Host-${name}` : name;
}

function isSecure(request: FastifyRequest): boolean {
  return request.getDecorator<boolean | undefined>(secure) === true;
}
