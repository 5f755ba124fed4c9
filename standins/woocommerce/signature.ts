import { createHmac } from 'node:crypto';

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#039;': "'",
};

/** base64(HMAC-SHA256(body)). The stored secret's HTML entities are decoded before it becomes the key. */
export function signWooCommerce(secret: string, raw: Uint8Array | string): string {
  const key = secret.replace(/&(?:amp|lt|gt|quot|#039);/g, (entity) => entities[entity] ?? entity);
  return createHmac('sha256', key).update(raw).digest('base64');
}
