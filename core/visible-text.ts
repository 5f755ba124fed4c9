/** Invisible characters: white space, zero-width spaces and joiners, direction marks, fillers, control characters. */
const nothingToSee = /^[\s\p{Default_Ignorable_Code_Point}\p{Cc}\u2800]*$/u;
const unseen = /[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu;

/** Only letters, digits, signs and spaces of ASCII, as in nearly every text: all of these are visible, and have a single form. */
const plain = /^[ -~]*$/;

/** More combining marks on one letter than any language has: normalising them takes quadratic time. */
const heap = /\p{M}{31}/u;

/** The text in Unicode's composed form (NFC); text with a long run of combining marks is returned unchanged. */
export function composed(text: string): string {
  return plain.test(text) || heap.test(text) ? text : text.normalize('NFC');
}

/** Whether the text shows nothing to a reader; such a text counts as empty. */
export function isBlank(text: string): boolean {
  // Nearly every text begins with a letter, a digit or a sign of ASCII, and all of these are visible.
  const first = text.charCodeAt(0);
  return !(first > 0x20 && first < 0x7f) && nothingToSee.test(text);
}

/** The text without outer spaces and without the invisible characters that copying adds (direction marks around a phone number). */
export function withoutUnseen(text: string): string {
  return (plain.test(text) ? text : text.replace(unseen, '')).trim();
}
