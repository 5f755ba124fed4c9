/** What the contract forbids in an id, and the sign that stands before what replaces it. */
const forbidden = /[\s:%\p{Cc}]/gu;

/**
 * The sender's id as the contract has it: no spaces, no ':', 100 characters. Written so that the sender's own can be told
 * from it again; undefined where it can't be an id.
 */
export function recordIdFrom(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed === '' || !trimmed.isWellFormed()) return undefined;
  const id = trimmed.replace(forbidden, encodeURIComponent);
  return id.length <= 100 ? id : undefined;
}

/** As the sender wrote it. An id that we never made is left as it is. */
export function senderIdOf(recordId: string): string {
  try {
    return decodeURIComponent(recordId);
  } catch {
    return recordId;
  }
}
