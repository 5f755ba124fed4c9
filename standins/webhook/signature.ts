import { createHmac, timingSafeEqual } from 'node:crypto';

/** Standard Webhooks 1.0.0: the secret is base64 after `whsec_`, signed is `id.timestamp.body`. */
export function signature(secret: string, id: string, timestamp: string, body: string | Buffer): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

export function isSigned(
  headers: Readonly<Record<string, string | undefined>>,
  body: Buffer,
  secret: string,
  now: Date,
): boolean {
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', 'webhook-signature': given = '' } = headers;
  if (id === '' || id.includes('.') || !/^\d{10}$/.test(timestamp)) return false;
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > 300) return false;
  const expected = Buffer.from(signature(secret, id, timestamp, body));
  return given.split(' ').some((one) => {
    const bytes = Buffer.from(one);
    return bytes.length === expected.length && timingSafeEqual(bytes, expected);
  });
}
