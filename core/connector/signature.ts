import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Verdict } from './contract.ts';

export interface HmacForm {
  algorithm: 'sha1' | 'sha256' | 'sha512';
  /** How the vendor writes the digest. `hex` is in small letters. */
  encoding: 'base64' | 'hex';
}

/** The signature of `parts`, one after the other, as a vendor would write it. The secret is a text, never decoded. */
export function signHmac(secret: string, parts: readonly (string | Uint8Array)[], form: HmacForm): string {
  const hmac = createHmac(form.algorithm, secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest(form.encoding);
}

/**
 * Is `given` the signature of `parts` with one of the secrets? Always tries all of them, each in constant time.
 * @param given As it stands in the header, without a prefix like "sha256="; missing or empty is `unsigned`.
 * @param fresh Where the vendor signs a time as well: a genuine delivery further than `toleranceMs` from it is `stale`,
 *   before and after. `parts` has to hold that time, or anybody could put in another.
 */
export function verifyHmac(
  given: string | undefined,
  secrets: readonly string[],
  parts: readonly (string | Uint8Array)[],
  form: HmacForm,
  fresh?: { signedAt: Date; receivedAt: Date; toleranceMs: number },
): Verdict {
  if (given === undefined || given === '') return { ok: false, why: 'unsigned' };
  const matches = secrets.map((secret) => isEqual(signHmac(secret, parts, form), given));
  if (!matches.includes(true)) return { ok: false, why: 'mismatch' };
  if (fresh === undefined) return { ok: true };
  const ageMs = Math.abs(fresh.receivedAt.getTime() - fresh.signedAt.getTime());
  // Not `>`: a time that is no date gives NaN, which must not pass.
  return ageMs <= fresh.toleranceMs ? { ok: true } : { ok: false, why: 'stale' };
}

/** Are two texts (a shared secret in a header, say) the same? In constant time for texts of one length. */
export function isEqual(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
