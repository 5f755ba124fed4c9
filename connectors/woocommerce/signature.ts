import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Delivery, Verdict } from '../../core/connector/contract.ts';

/**
 * Base64(HMAC-SHA256(secret, raw body)). The secret is plain text: WooCommerce decodes HTML entities in what it has stored
 * before it signs, so the one to configure is `&`, never `&amp;`. Source: WooCommerce, class-wc-webhook.php.
 */
export function sign(secret: string, raw: Uint8Array): string {
  return createHmac('sha256', secret).update(raw).digest('base64');
}

/**
 * Tries every secret, always all of them. WooCommerce signs no timestamp: nothing but the closing's journey keeps a
 * repetition from counting. When a webhook is saved its address gets a ping, form-encoded and unsigned, which has to be
 * answered like any delivery.
 */
export function verify({ headers, raw }: Delivery, secrets: readonly string[]): Verdict {
  const given = headers['x-wc-webhook-signature'] ?? '';
  if (given === '') return isPing(headers, raw) ? { ok: true, ping: true } : { ok: false, why: 'unsigned' };
  const matches = secrets.map((secret) => secret !== '' && equal(sign(secret, raw), given));
  return matches.includes(true) ? { ok: true } : { ok: false, why: 'mismatch' };
}

function isPing(headers: Delivery['headers'], raw: Uint8Array): boolean {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '');
  return isForm && raw.length < 40 && /^webhook_id=\d+$/.test(Buffer.from(raw).toString('latin1'));
}

function equal(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
