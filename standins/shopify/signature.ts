import { createHmac } from 'node:crypto';

/** Shopify's signature of a webhook: over the bytes, with the secret as it is written. */
export function signShopify(secret: string, body: string | Uint8Array): string {
  return createHmac('sha256', secret).update(body).digest('base64');
}
