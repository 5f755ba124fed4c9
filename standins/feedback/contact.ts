import { createHash } from 'node:crypto';

/** `+` and 7 to 15 digits when it is written as an international number (with + or 00), else undefined. */
export function internationalNumber(text: string): string | undefined {
  const bare = text.replace(/[\s().-]/g, '');
  const match = /^(?:\+|00)([1-9]\d{6,14})$/.exec(bare);
  return match === null ? undefined : `+${match[1]}`;
}

const plainText = (text: string): string => text.trim().toLowerCase();

/** One spelling per contact: what the contact record shows, and the key of blacklist, graylist and access log. */
export const normalised = (contact: string): string => internationalNumber(contact) ?? plainText(contact);

/**
 * The index keys under which a request with these values is found. An identifier is kept as it was written: it is a number
 * where it is one with + or 00 and nothing but digits ("the same number … names the same contact"); that spaces in it don't
 * matter is not promised.
 */
export function indexKeys(of: { phone: string | null; email: string | null; identifier: string | null }): string[] {
  const keys = new Set<string>();
  if (of.phone !== null) keys.add(`number:${of.phone}`);
  if (of.email !== null) keys.add(`text:${plainText(of.email)}`);
  if (of.identifier !== null) {
    keys.add(`text:${plainText(of.identifier)}`);
    const number = /[\s().-]/.test(of.identifier.trim()) ? undefined : internationalNumber(of.identifier.trim());
    if (number !== undefined) keys.add(`number:${number}`);
  }
  return [...keys];
}

/** A contact matches every request whose phone, email or identifier equals it, ignoring case (specification 2). */
export function lookupKeys(contact: string): string[] {
  const number = internationalNumber(contact);
  return number === undefined ? [`text:${plainText(contact)}`] : [`number:${number}`, `text:${plainText(contact)}`];
}

/** What is remembered of a masked contact: enough to recognize the contact when somebody names it, not enough to name it. */
export const digest = (key: string): string => createHash('sha256').update(key).digest('base64');
