import type { Contact } from '../../core/contact.ts';

/** A contact as the visitor may see it: in full, or masked so that customers can still be told apart, but nobody can write to them. */
export function shownContact({ kind, value }: Contact, isInFull: boolean): string {
  if (isInFull) return value;
  if (kind === 'phone') return `${value.slice(0, 4)}••••${value.slice(-2)}`;
  const at = kind === 'email' ? value.lastIndexOf('@') : -1;
  return at > 0 ? `${firstOf(value)}•••@${firstOf(value.slice(at + 1))}•••` : `${firstOf(value)}•••`;
}

/** The first character, never half of a surrogate pair. */
const firstOf = (text: string): string => [...text].at(0) ?? '';

/**
 * A record's name as the visitor may see it. Undefined where the visitor may see only closeloop's own digest, as the vendor's id may be an
 * address.
 */
export function shownRecord(name: string | undefined, own: string | undefined, isInFull: boolean): string | undefined {
  return isInFull || name === own ? name : undefined;
}
