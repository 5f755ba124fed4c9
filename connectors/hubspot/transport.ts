import type { z } from 'zod';
import { jsonBody } from '../../core/connector/json-body.ts';
import { SendFailure } from '../../core/connector/send.ts';
import { notAnswered } from '../../core/connector/vendor-api.ts';
import { CloseloopError } from '../../core/errors.ts';

/** An answer, read to its last byte. */
export interface Received {
  status: number;
  ok: boolean;
  headers: Headers;
  /** undefined: not JSON, a proxy's page most likely. null also where there was nothing to say (204). */
  json: unknown;
}

/**
 * Sends (by `boundedFetch`), and reads the answer. `place` is method and path, without ids.
 * @throws CloseloopError transient when no whole answer came
 */
export async function received(place: string, send: () => Promise<Response>): Promise<Received> {
  try {
    const response = await send();
    const { status, ok, headers } = response;
    const text = await response.text();
    return { status, ok, headers, json: status === 204 ? null : jsonBody(text) };
  } catch (error) {
    throw error instanceof SendFailure ? notAnswered(`HubSpot ${place}`, error) : error;
  }
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
