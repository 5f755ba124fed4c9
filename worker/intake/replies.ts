import type { HttpReply } from '../../core/connector/contract.ts';

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
