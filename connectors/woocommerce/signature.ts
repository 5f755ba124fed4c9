import type { Delivery, Verdict } from '../../core/connector/contract.ts';
import { type HmacScheme, verifyHmac } from '../../core/connector/signature.ts';

/**
 * The secret is plain text: WooCommerce decodes HTML entities in what it has stored before it signs, so the one to configure is
 * `&`, never `&amp;`. It signs no time: nothing but the closing's journey keeps a repetition from counting. Source: WooCommerce,
 * class-wc-webhook.php.
 */
export const scheme: HmacScheme = { header: 'x-wc-webhook-signature', algorithm: 'sha256', encoding: 'base64' };

/** When a webhook is saved its address gets a ping, form-encoded and unsigned, which has to be answered like any delivery. */
export function verify(delivery: Delivery, secrets: readonly string[]): Verdict {
  const isUnsigned = (delivery.headers[scheme.header] ?? '') === '';
  return isUnsigned && isPing(delivery) ? { ok: true, ping: true } : verifyHmac(delivery, secrets, scheme);
}

function isPing({ headers, raw }: Delivery): boolean {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '');
  return isForm && raw.length < 40 && /^webhook_id=\d+$/.test(Buffer.from(raw).toString('latin1'));
}
