import type { Delivery, Verdict } from '../../core/connector/contract.ts';
import { type HmacScheme, verifyHmac } from '../../core/connector/signature.ts';

const scheme: HmacScheme = { header: 'x-shopify-hmac-sha256', algorithm: 'sha256', encoding: 'base64' };

/**
 * Signed over the bytes as they came, with one of the secrets, for this shop. Shopify signs no time, so a replay is recognised by its
 * delivery's id only; and one app signs for all of its shops with one secret, while the header that names the shop isn't signed: it
 * has to be the shop that this source is bound to. Source: shopify.dev, "verify deliveries".
 */
export function verify(delivery: Delivery, secrets: readonly string[], shop: string): Verdict {
  const verdict = verifyHmac(delivery, secrets, scheme);
  return verdict.ok && delivery.headers['x-shopify-shop-domain'] !== shop ? { ok: false, why: 'mismatch' } : verdict;
}
