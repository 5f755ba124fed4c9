import type { Delivery, HttpReply } from '../../core/connector/contract.ts';
import type { HmacScheme } from '../../core/connector/signature.ts';

/**
 * The secret is plain text: WooCommerce decodes HTML entities in what it has stored before it signs, so the one to configure is
 * `&`, never `&amp;`. It signs no time: nothing but the closing's journey keeps a repetition from counting. Source: WooCommerce,
 * class-wc-webhook.php.
 */
export const signature: HmacScheme = { header: 'x-wc-webhook-signature', algorithm: 'sha256', encoding: 'base64' };

/** When a webhook is saved its address gets a ping, form-encoded and unsigned, which has to be answered like any delivery. */
export function ping({ headers, raw }: Delivery): HttpReply | undefined {
  const isSigned = (headers[signature.header] ?? '') !== '';
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '');
  const isPing = isForm && raw.length < 40 && /^webhook_id=\d+$/.test(Buffer.from(raw).toString('latin1'));
  return isPing && !isSigned ? { status: 200 } : undefined;
}
