import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { contactKey } from '../../core/contact.ts';

/** Characters that the contract forbids in an id, and the escape sign. */
const forbidden = /[\s:%\p{Cc}]/gu;

/**
 * The sender's id in the form that the contract requires: no spaces, no ':', at most 100 characters. Reversible; undefined for a text that
 * can't be an id.
 */
export function recordIdFrom(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed === '' || !trimmed.isWellFormed()) return undefined;
  const id = trimmed.replace(forbidden, encodeURIComponent);
  return id.length <= 100 ? id : undefined;
}

/** The id as the sender wrote it. An id without escapes is returned unchanged. */
export function senderIdOf(recordId: string): string {
  try {
    return decodeURIComponent(recordId);
  } catch {
    return recordId;
  }
}

/** An e-mail address, or a phone number with its country. */
const looksPersonal = /@|^(?:\+|00)[\d\s().-]{7,}$/;
const digestForm = /^digest-[\w-]{22}$/;

/** Whether the id is a keyed digest made by `namer`. */
export const isDigest = (recordId: string): boolean => digestForm.test(recordId);

/** Converts a record's id to the id that events carry. */
export type NameOf = (recordId: string) => string;

/** Returns a keyed digest for an id that looks like personal data: all spellings of one address have the same digest. Other ids stay as they are. */
export function namer({ digest }: Pick<ConnectorPorts, 'digest'>): NameOf {
  return (recordId) => {
    const text = senderIdOf(recordId);
    if (!looksPersonal.test(text)) return recordId;
    return `digest-${digest(contactKey({ kind: 'identifier', value: text })).slice(0, 22)}`;
  };
}
