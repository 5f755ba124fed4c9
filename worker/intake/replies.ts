import type { HttpReply } from '../../core/connector/contract.ts';
import { messageOf } from '../../core/errors.ts';
import { BodyRefused } from './bodies.ts';
import type { Refusals } from './refusals.ts';

/** Zendesk retries a 503 only with a Retry-After of at most 60 s. */
const retryAfterSeconds = '30';

export function jsonReply(status: number, value: object, headers: Readonly<Record<string, string>> = {}): HttpReply {
  const body = JSON.stringify(value);
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body };
}

export function retryLater(error: string, headers: Readonly<Record<string, string>> = {}): HttpReply {
  return jsonReply(503, { error }, { 'retry-after': retryAfterSeconds, ...headers });
}

export const notAllowed = jsonReply(405, { error: 'Send deliveries with POST.' }, { allow: 'POST' });

/** Answers a request that failed, and counts it. @param source whose address it came to, where that is known */
export function replyToError(error: unknown, refusals: Refusals, source?: string): HttpReply {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  // The server does not read the rest of the body.
  const closing = error instanceof BodyRefused ? { connection: 'close' } : {};
  const refused = (why: string) => refusals.count({ source, why, message: 'delivery refused: body', level: 'warn' });
  if (status === 415) refused('it is not sent with Content-Type: application/json');
  if (status === 413) refused('it is too large');
  if (status === 415) return jsonReply(415, { error: 'Send JSON with Content-Type: application/json.' }, closing);
  if (status === 413) return jsonReply(413, { error: 'The delivery is too large.' }, closing);
  if (status < 500) return jsonReply(status, { error: 'The request could not be read.' }, closing);
  if (error instanceof BodyRefused) refusals.count({ ...busy, why: error.message });
  else refusals.count({ source: undefined, why: messageOf(error), message: 'intake failed', level: 'error' });
  return retryLater('Try again.', closing);
}

const busy = {
  source: undefined,
  message: 'bodies that are slow gave way to others: 503. Somebody sends many at once, or a proxy is slow',
  level: 'warn',
} as const;
