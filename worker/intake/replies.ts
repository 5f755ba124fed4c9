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

/** Answers a request that failed, and counts it. */
export function replyToError(error: unknown, refusals: Refusals): HttpReply {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (status === 415) return jsonReply(415, { error: 'Send JSON with Content-Type: application/json.' });
  if (status === 413) return jsonReply(413, { error: 'The delivery is too large.' });
  if (status < 500) return jsonReply(status, { error: 'The request could not be read.' });
  if (error instanceof BodyRefused) refusals.count({ ...busy, why: error.message });
  else refusals.count({ source: undefined, why: messageOf(error), message: 'intake failed', level: 'error' });
  return retryLater('Try again.');
}

const busy = {
  source: undefined,
  message: 'bodies are refused: 503. Somebody sends many at once, or a proxy is slow',
  level: 'warn',
} as const;
