import type { Contact } from '../../core/contact.ts';

/** A contact as a person may see it: in full, or so that two customers can be told apart and nobody can be written to. */
export function shownContact({ kind, value }: Contact, isInFull: boolean): string {
  if (isInFull) return value;
  if (kind === 'phone') return `${value.slice(0, 4)}••••${value.slice(-2)}`;
  const at = kind === 'email' ? value.lastIndexOf('@') : -1;
  return at > 0 ? `${firstOf(value)}•••@${firstOf(value.slice(at + 1))}•••` : `${firstOf(value)}•••`;
}

/** Not half of a character. */
const firstOf = (text: string): string => [...text].at(0) ?? '';

/** A record's name as a person may see it; undefined where only closeloop's own digest may be shown, as the vendor's id may be an address. */
export function shownRecord(name: string | undefined, own: string | undefined, isInFull: boolean): string | undefined {
  return isInFull || name === own ? name : undefined;
}
