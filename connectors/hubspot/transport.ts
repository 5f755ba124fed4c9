import type { z } from 'zod';
import { CloseloopError, type Outcome } from '../../core/errors.ts';

/** An answer, read to its last byte. */
export interface Received {
  status: number;
  ok: boolean;
  headers: Headers;
  /** undefined: not JSON, a proxy's page most likely. null also where there was nothing to say (204). */
  json: unknown;
}

/**
 * Sends, and reads the answer. `place` is method and path, without ids.
 * @throws CloseloopError transient when no whole answer came
 */
export async function received(place: string, send: () => Promise<Response>): Promise<Received> {
  try {
    const response = await send();
    const { status, ok, headers } = response;
    const text = await response.text();
    return { status, ok, headers, json: status === 204 ? null : parseJson(text) };
  } catch (cause) {
    throw networkError(place, cause);
  }
}

const neverSent = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'EHOSTUNREACH']);

function networkError(place: string, cause: unknown): CloseloopError {
  const inner = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause;
  const code = typeof inner === 'object' && inner !== null && 'code' in inner ? String(inner.code) : '';
  const timedOut = cause instanceof Error && cause.name === 'TimeoutError';
  const what = timedOut ? 'no whole answer in time' : `no connection${code ? ` (${code})` : ''}`;
  const outcome: Outcome = neverSent.has(code) ? 'never-sent' : 'unknown';
  return new CloseloopError(`HubSpot ${place}: ${what}; tried again`, { kind: 'transient' }, { outcome, cause });
}

/** Another shape than expected is named by its place, never by its values. */
export function shaped<S extends z.ZodType>(place: string, schema: S, json: unknown): z.output<S> {
  if (json === undefined) {
    const advice = { kind: 'transient' } as const;
    throw new CloseloopError(`HubSpot ${place}: the answer is not JSON; tried again`, advice, { outcome: 'unknown' });
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const where = issue?.path.length ? issue.path.join('.') : 'its top';
  throw new CloseloopError(
    `HubSpot ${place}: the answer has another shape than expected, at ${where} (${issue?.code ?? 'unknown'})`,
    { kind: 'permanent' },
    { outcome: 'unknown' },
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
