/** Characters that the contract forbids in an id, and the escape sign. */
const forbidden = /[\s:%\p{Cc}]/gu;

/**
 * The sender's id in the form of the contract: no spaces, no ':', 100 characters. Reversible; undefined for what can't be an id.
 */
export function recordIdFrom(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed === '' || !trimmed.isWellFormed()) return undefined;
  const id = trimmed.replace(forbidden, encodeURIComponent);
  return id.length <= 100 ? id : undefined;
}

/** The id as the sender wrote it. An id without escapes is returned as it is. */
export function senderIdOf(recordId: string): string {
  try {
    return decodeURIComponent(recordId);
  } catch {
    return recordId;
  }
}
