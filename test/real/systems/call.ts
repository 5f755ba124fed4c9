import type { z } from 'zod';

export type Call = <S extends z.ZodType>(
  schema: S,
  method: string,
  path: string,
  body?: object,
) => Promise<z.output<S>>;

/** Calls of a system's own interface as somebody, with JSON both ways. An answer with an empty body is `undefined`. */
export function callsAs(baseUrl: string, headers: Record<string, string>): Call {
  return async (schema, method, path, body) => {
    const answer = await fetch(`${baseUrl}${path}`, {
      method,
      redirect: 'error',
      headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}: ${text}`);
    return schema.parse(text === '' ? undefined : JSON.parse(text));
  };
}
