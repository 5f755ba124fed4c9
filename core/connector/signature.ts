import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Delivery, Verdict } from './contract.ts';

/** Declares how a vendor signs its deliveries. */
export interface HmacScheme {
  /** The header that holds the signature, in small letters. */
  header: string;
  algorithm: 'sha1' | 'sha256' | 'sha512';
  encoding: 'base64' | 'hex';
  /** Accept only lower-case hex. Default: both cases, as some vendors write capitals. */
  smallOnly?: true;
  /** The text before the digest: `sha256=`. */
  prefix?: string;
  /** Where the vendor signs a time as well: its header, its format, and the tolerance in both directions. */
  timestamp?: { header: string; as: 'seconds' | 'milliseconds' | 'iso'; toleranceMs: number };
  /** The signed parts, in order. Default: the body. With `timestamp` they have to include the time, or it could be forged. */
  signed?: (delivery: SignedDelivery, timestamp: string) => readonly (string | Uint8Array)[];
}

type SignedDelivery = Pick<Delivery, 'method' | 'url' | 'raw'>;

/** The header's value, as the vendor would write it. The secret is a text, never decoded. */
export function signHmac(secret: string, delivery: SignedDelivery, scheme: HmacScheme, timestamp = ''): string {
  const { algorithm, encoding, prefix = '', signed = ({ raw }) => [raw] } = scheme;
  const hmac = createHmac(algorithm, secret);
  for (const part of signed(delivery, timestamp)) hmac.update(part);
  return prefix + hmac.digest(encoding);
}

/** Other formats are refused. */
const written = { seconds: /^\d{1,12}$/, milliseconds: /^\d{13}$/, iso: /./ };

/** Is the delivery signed with one of the secrets? Always tries all of them, each in constant time. */
export function verifyHmac(delivery: Delivery, secrets: readonly string[], scheme: HmacScheme): Verdict {
  const { encoding, prefix = '', timestamp } = scheme;
  const given = delivery.headers[scheme.header] ?? '';
  const signedAt = timestamp === undefined ? '' : (delivery.headers[timestamp.header] ?? '');
  if (given === '' || (timestamp !== undefined && signedAt === '')) return { ok: false, why: 'unsigned' };
  if (timestamp !== undefined && !written[timestamp.as].test(signedAt)) return { ok: false, why: 'mismatch' };
  // Case matters in base64.
  const isAnyCase = encoding === 'hex' && scheme.smallOnly !== true;
  const digest = isAnyCase ? prefix + given.slice(prefix.length).toLowerCase() : given;
  if (
    !given.startsWith(prefix) ||
    !matchesAny(digest, secrets, (secret) => signHmac(secret, delivery, scheme, signedAt))
  )
    return { ok: false, why: 'mismatch' };
  if (timestamp === undefined) return { ok: true };
  const ageMs = Math.abs(delivery.receivedAt.getTime() - millisecondsOf(signedAt, timestamp.as));
  // Not `>`: an unreadable time gives NaN, which must not pass.
  return ageMs <= timestamp.toleranceMs ? { ok: true } : { ok: false, why: 'stale' };
}

function millisecondsOf(text: string, as: 'seconds' | 'milliseconds' | 'iso'): number {
  if (as === 'iso') return Date.parse(text);
  return Number(text) * (as === 'seconds' ? 1000 : 1);
}

/**
 * For vendors that sign nothing: is the whole value of this header one of the secrets (`Bearer …` included)? Weak: whoever has
 * seen one delivery can send others.
 */
export function verifySecretHeader(delivery: Delivery, secrets: readonly string[], header: string): Verdict {
  const given = delivery.headers[header] ?? '';
  if (given === '') return { ok: false, why: 'unsigned' };
  return matchesAny(given, secrets, (secret) => secret) ? { ok: true } : { ok: false, why: 'mismatch' };
}

/** Compares all secrets, also after a match; an empty secret matches nothing. */
function matchesAny(given: string, secrets: readonly string[], expected: (secret: string) => string): boolean {
  return secrets
    .map((secret) => secret !== '' && isEqual(Buffer.from(expected(secret)), Buffer.from(given)))
    .includes(true);
}

/** Are these the same bytes? In constant time for equal lengths: the one place that compares signatures. */
export function isEqual(expected: Uint8Array, given: Uint8Array): boolean {
  return expected.length === given.length && timingSafeEqual(expected, given);
}
