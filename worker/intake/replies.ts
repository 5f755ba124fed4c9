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

/** Answers a request that failed, and counts it. @param source the source to whose address the request came; left out: no configured source has that address */
export function replyToError(error: unknown, refusals: Refusals, source?: string): HttpReply {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  // The server does not read the rest of the body.
  const closing = error instanceof BodyRefused ? { connection: 'close' } : {};
  const flaw = bodyFlaws.get(status);
  if (flaw) {
    refusals.count({ source, why: flaw.why, message: 'delivery refused: body', level: 'warn' });
    return jsonReply(status, { error: flaw.error }, closing);
  }
  if (status < 500) return jsonReply(status, { error: 'The request could not be read.' }, closing);
  if (error instanceof BodyRefused) refusals.count({ ...busy, why: error.message });
  else refusals.count({ source: undefined, why: messageOf(error), message: 'intake failed', level: 'error' });
  return retryLater('Try again.', closing);
}

const bodyFlaws = new Map([
  [413, { why: 'it is too large', error: 'The delivery is too large.' }],
  [
    415,
    {
      why: 'it is not sent with Content-Type: application/json',
      error: 'Send JSON with Content-Type: application/json.',
    },
  ],
]);

const busy = {
  source: undefined,
  message: 'bodies that are slow gave way to others: 503. Somebody sends many at once, or a proxy is slow',
  level: 'warn',
} as const;
