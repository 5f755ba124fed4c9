import { createHmac } from 'node:crypto';

/** base64(HMAC-SHA256(secret text, timestamp + body)), no separator; the secret is never base64-decoded. */
export function signZendesk(secret: string, timestamp: string, body: string | Uint8Array): string {
  return createHmac('sha256', secret).update(timestamp, 'utf8').update(body).digest('base64');
}
