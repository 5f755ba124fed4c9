import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Delivery, Verdict } from '../../core/connector/contract.ts';

const maxAgeMs = 300_000;

/** What HubSpot decodes before it signs: these twelve escapes, once, and no others (`%20`, `%26` and `%3D` stay). */
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

/** HubSpot's signature v3, base64. `url` as configured, still encoded; `timestamp` is the header's text, epoch ms. */
export function sign(
  secret: string,
  request: { method: string; url: string; raw: Uint8Array; timestamp: string },
): string {
  const url = request.url.replace(/%[0-9A-F]{2}/g, (code) => decoded[code] ?? code);
  return createHmac('sha256', secret)
    .update(request.method + url)
    .update(request.raw)
    .update(request.timestamp)
    .digest('base64');
}

/**
 * Signature v3 only: v1 and v2, which HubSpot sends beside it, can be replayed for ever.
 * The time may differ by five minutes, both ways; a retry is signed afresh, so it passes too.
 * Source: HubSpot, request validation.
 */
export function verify(delivery: Delivery, secrets: readonly string[], publicUrl?: string): Verdict {
  const given = delivery.headers['x-hubspot-signature-v3'];
  const timestamp = delivery.headers['x-hubspot-request-timestamp'];
  if (!given || !timestamp) return { ok: false, why: 'unsigned' };
  if (!/^\d{13}$/.test(timestamp)) return { ok: false, why: 'mismatch' };
  const { method, raw } = delivery;
  const signed = { method, url: publicUrl ?? delivery.url, raw, timestamp };
  // every secret is tried whatever the first one says: the time taken tells nothing
  const matching = secrets.filter((secret) => equal(sign(secret, signed), given));
  if (matching.length === 0) return { ok: false, why: 'mismatch' };
  const ageMs = delivery.receivedAt.getTime() - Number(timestamp);
  return Math.abs(ageMs) > maxAgeMs ? { ok: false, why: 'stale' } : { ok: true };
}

function equal(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
