import type { Delivery, Verdict } from '../../core/connector/contract.ts';
import { type HmacScheme, verifyHmac, verifySecretHeader } from '../../core/connector/signature.ts';
import { verifyStandardWebhook } from '../../core/connector/standard-webhook.ts';
import type { WebhookSettings } from './settings.ts';

/** The tolerance of Standard Webhooks, in both directions. */
const toleranceMs = 300_000;

export function verify(delivery: Delivery, signature: WebhookSettings['signature']): Verdict {
  const { secrets } = signature;
  switch (signature.kind) {
    case 'standard':
      return verifyStandardWebhook(delivery, secrets);
    case 'hmac':
      return verifyHmac(delivery, secrets, schemeOf(signature));
    case 'token':
      return verifySecretHeader(delivery, secrets, signature.header);
  }
}

function schemeOf({
  header,
  algorithm,
  encoding,
  prefix,
  timestampHeader,
}: Extract<WebhookSettings['signature'], { kind: 'hmac' }>): HmacScheme {
  const scheme: HmacScheme = { header, algorithm, encoding, prefix };
  if (timestampHeader === undefined) return scheme;
  return {
    ...scheme,
    timestamp: { header: timestampHeader, as: 'seconds', toleranceMs },
    signed: ({ raw }, timestamp) => [`${timestamp}.`, raw],
  };
}
