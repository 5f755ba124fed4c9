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
  /** For a vendor that signs a time as well: the time's header, its format, and the tolerance in both directions. */
  timestamp?: { header: string; as: 'seconds' | 'milliseconds' | 'iso'; toleranceMs: number };
  /** The signed parts, in order. Default: the body. With `timestamp` the parts have to include the time, or an attacker could forge it. */
  signed?: (delivery: SignedDelivery, timestamp: string) => readonly (string | Uint8Array)[];
}

type SignedDelivery = Pick<Delivery, 'method' | 'url' | 'raw'>;

/** The header's value as the vendor would write it. The secret is used as text, and never decoded. */
export function signHmac(secret: string, delivery: SignedDelivery, scheme: HmacScheme, timestamp = ''): string {
  const { algorithm, encoding, prefix = '', signed = ({ raw }) => [raw] } = scheme;
  const hmac = createHmac(algorithm, secret);
  for (const part of signed(delivery, timestamp)) hmac.update(part);
  return prefix + hmac.digest(encoding);
}

/** The accepted formats of times. */
const written = { seconds: /^\d{1,12}$/, milliseconds: /^\d{13}$/, iso: /./ };
const inWords = {
  seconds: 'whole seconds since 1970',
  milliseconds: 'milliseconds since 1970',
  iso: 'an ISO 8601 time',
};

/** Checks whether one of the secrets signed the delivery. Always tries all secrets, each in constant time. */
export function verifyHmac(delivery: Delivery, secrets: readonly string[], scheme: HmacScheme): Verdict {
  const { encoding, prefix = '', timestamp } = scheme;
  const given = delivery.headers[scheme.header] ?? '';
  const signedAt = timestamp === undefined ? '' : (delivery.headers[timestamp.header] ?? '');
  if (given === '') return { ok: false, why: 'unsigned' };
  if (timestamp !== undefined && !written[timestamp.as].test(signedAt)) {
    const { header, as } = timestamp;
    if (signedAt === '') return { ok: false, why: 'unsigned', detail: `The header ${header} is missing.` };
    return { ok: false, why: 'mismatch', detail: `The header ${header} must be ${inWords[as]}.` };
  }
  // Upper and lower case differ in base64.
  const isAnyCase = encoding === 'hex' && scheme.smallOnly !== true;
  const digest = isAnyCase ? prefix + given.slice(prefix.length).toLowerCase() : given;
  if (
    !given.startsWith(prefix) ||
    !matchesAny(digest, secrets, (secret) => signHmac(secret, delivery, scheme, signedAt))
  )
    return { ok: false, why: 'mismatch' };
  if (timestamp === undefined) return { ok: true };
  const ageMs = Math.abs(delivery.receivedAt.getTime() - millisecondsOf(signedAt, timestamp.as));
  // `<=` refuses an unreadable time, whose age is NaN; a check with `>` would let it pass.
  return ageMs <= timestamp.toleranceMs ? { ok: true } : { ok: false, why: 'stale' };
}

function millisecondsOf(text: string, as: 'seconds' | 'milliseconds' | 'iso'): number {
  if (as === 'iso') return Date.parse(text);
  return Number(text) * (as === 'seconds' ? 1000 : 1);
}

/**
 * For vendors that sign nothing: checks whether the whole value of this header (`Bearer …` included) is one of the secrets. This is weak:
 * anybody who has seen one delivery can send others.
 */
export function verifySecretHeader(delivery: Delivery, secrets: readonly string[], header: string): Verdict {
  const given = delivery.headers[header] ?? '';
  if (given === '') return { ok: false, why: 'unsigned', detail: `The header ${header} is missing.` };
  if (matchesAny(given, secrets, (secret) => secret)) return { ok: true };
  return { ok: false, why: 'mismatch', detail: `The header ${header} does not hold the secret of this source.` };
}

/** Compares all secrets, also after a match; an empty secret matches nothing. */
function matchesAny(given: string, secrets: readonly string[], expected: (secret: string) => string): boolean {
  return secrets
    .map((secret) => secret !== '' && isEqual(Buffer.from(expected(secret)), Buffer.from(given)))
    .includes(true);
}

/** Compares bytes, in constant time for equal lengths. All comparisons of signatures use this function. */
export function isEqual(expected: Uint8Array, given: Uint8Array): boolean {
  return expected.length === given.length && timingSafeEqual(expected, given);
}
