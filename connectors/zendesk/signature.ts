import type { Delivery, Verdict } from '../../core/connector/contract.ts';
import { type HmacScheme, signHmac, verifyHmac } from '../../core/connector/signature.ts';

/**
 * The secret is a text, never base64-decoded, however much it looks like it. Zendesk documents no window for the time and may
 * not sign retries anew, so 15 minutes is the least to take. Source: developer.zendesk.com/documentation/webhooks/verifying.
 */
const schemeWith = (toleranceSeconds: number): HmacScheme => ({
  header: 'x-zendesk-webhook-signature',
  algorithm: 'sha256',
  encoding: 'base64',
  timestamp: {
    header: 'x-zendesk-webhook-signature-timestamp',
    as: 'iso',
    toleranceMs: toleranceSeconds * 1000,
  },
  signed: ({ raw }, timestamp) => [timestamp, raw],
});

/** Signs as Zendesk does. */
export const sign = (secret: string, timestamp: string, raw: Uint8Array): string =>
  signHmac(secret, { method: 'POST', url: '', raw }, schemeWith(0), timestamp);

export const verify = (delivery: Delivery, secrets: readonly string[], toleranceSeconds: number): Verdict =>
  verifyHmac(delivery, secrets, schemeWith(toleranceSeconds));
