import type { Delivery, Verdict } from '../../core/connector/contract.ts';
import { isEqual, verifyHmac } from '../../core/connector/signature.ts';
import { verifyStandardWebhook } from '../../core/connector/standard-webhook.ts';
import type { WebhookSettings } from './settings.ts';

/** As in Standard Webhooks, both ways. */
const toleranceMs = 300_000;

/** Every secret is tried, each in constant time. */
export function verify(delivery: Delivery, signature: WebhookSettings['signature']): Verdict {
  const { headers } = delivery;
  switch (signature.kind) {
    case 'standard':
      return verifyStandardWebhook(delivery, signature.secrets);
    case 'hmac':
      return verifyPlain(delivery, signature);
    case 'token': {
      const given = headers[signature.header] ?? '';
      if (given === '') return { ok: false, why: 'unsigned' };
      const matches = signature.secrets.map((secret) => isEqual(secret, given));
      return matches.includes(true) ? { ok: true } : { ok: false, why: 'mismatch' };
    }
  }
}

function verifyPlain(
  { headers, raw, receivedAt }: Delivery,
  { header, prefix, secrets, timestampHeader, ...form }: Extract<WebhookSettings['signature'], { kind: 'hmac' }>,
): Verdict {
  const given = headers[header] ?? '';
  if (given === '') return { ok: false, why: 'unsigned' };
  if (!given.startsWith(prefix) || given === prefix) return { ok: false, why: 'mismatch' };
  // Some write their hex in capitals; in base64 they would be other letters.
  const digest = form.encoding === 'hex' ? given.slice(prefix.length).toLowerCase() : given.slice(prefix.length);
  if (timestampHeader === undefined) return verifyHmac(digest, secrets, [raw], form);
  const timestamp = headers[timestampHeader] ?? '';
  if (timestamp === '') return { ok: false, why: 'unsigned' };
  if (!/^\d{1,12}$/.test(timestamp)) return { ok: false, why: 'mismatch' };
  const signedAt = new Date(Number(timestamp) * 1000);
  return verifyHmac(digest, secrets, [`${timestamp}.`, raw], form, { signedAt, receivedAt, toleranceMs });
}
