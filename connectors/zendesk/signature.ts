import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Delivery, Verdict } from '../../core/connector/contract.ts';

/**
 * What Zendesk puts into `x-zendesk-webhook-signature`: base64(HMAC-SHA256(secret, timestamp + raw body)).
 * The secret is a text, never base64-decoded, however much it looks like it.
 * Source: developer.zendesk.com/documentation/webhooks/verifying.
 */
export function sign(secret: string, timestamp: string, raw: Uint8Array): string {
  return createHmac('sha256', secret).update(timestamp).update(raw).digest('base64');
}

/**
 * Tries every secret, always all of them. `stale`: genuine, but signed more than `toleranceSeconds` before or after
 * `receivedAt`. Zendesk documents no such window and may not sign retries anew, so 15 minutes is the least to take.
 */
export function verify(delivery: Delivery, secrets: readonly string[], toleranceSeconds: number): Verdict {
  const given = delivery.headers['x-zendesk-webhook-signature'] ?? '';
  const timestamp = delivery.headers['x-zendesk-webhook-signature-timestamp'] ?? '';
  if (given === '' || timestamp === '') return { ok: false, why: 'unsigned' };

  const matches = secrets.map((secret) => equal(sign(secret, timestamp, delivery.raw), given));
  if (!matches.includes(true)) return { ok: false, why: 'mismatch' };

  const ageMs = Math.abs(delivery.receivedAt.getTime() - Date.parse(timestamp));
  // Not `>`: a timestamp that is no date gives NaN, which must not pass.
  return ageMs <= toleranceSeconds * 1000 ? { ok: true } : { ok: false, why: 'stale' };
}

function equal(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
