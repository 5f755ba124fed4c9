import type { Delivery, Verdict } from '../../core/connector/contract.ts';
import { type HmacScheme, signHmac, verifyHmac } from '../../core/connector/signature.ts';

/** HubSpot decodes these twelve escapes, once, before it signs; others (`%20`, `%26`, `%3D`) stay. */
const decoded: Readonly<Record<string, string>> = {
  '%3A': ':',
  '%2F': '/',
  '%3F': '?',
  '%40': '@',
  '%21': '!',
  '%24': '$',
  '%27': "'",
  '%28': '(',
  '%29': ')',
  '%2A': '*',
  '%2C': ',',
  '%3B': ';',
};

/**
 * Signature v3 only: v1 and v2, which HubSpot sends as well, can be replayed for ever. The tolerance of the time is five minutes, in
 * both directions; HubSpot signs a retry anew.
 * Source: HubSpot, request validation.
 */
const scheme: HmacScheme = {
  header: 'x-hubspot-signature-v3',
  algorithm: 'sha256',
  encoding: 'base64',
  timestamp: { header: 'x-hubspot-request-timestamp', as: 'milliseconds', toleranceMs: 300_000 },
  signed: ({ method, url, raw }, timestamp) => [
    method + url.replace(/%[0-9A-F]{2}/g, (code) => decoded[code] ?? code),
    raw,
    timestamp,
  ],
};

/** HubSpot's signature v3. `url` as configured, still encoded; `timestamp` is the header's text, epoch ms. */
export function sign(
  secret: string,
  { timestamp, ...request }: { method: string; url: string; raw: Uint8Array; timestamp: string },
): string {
  return signHmac(secret, request, scheme, timestamp);
}

/** @param publicUrl The address that HubSpot signs, where it isn't the delivery's. */
export function verify(delivery: Delivery, secrets: readonly string[], publicUrl?: string): Verdict {
  return verifyHmac({ ...delivery, url: publicUrl ?? delivery.url }, secrets, scheme);
}
