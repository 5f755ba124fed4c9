/** Characters that show nothing: white space, zero-width spaces and joiners, direction marks, fillers, control characters. */
const nothingToSee = /^[\s\p{Default_Ignorable_Code_Point}\p{Cc}\u2800]*$/u;
const unseen = /[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu;

/** More marks on one letter than any language has: putting them in order takes time that grows with the square of their number. */
const heap = /\p{M}{31}/u;

/** In one form, whether letters and their marks were typed as one character or as several; a heap of marks is left as it is. */
export function composed(text: string): string {
  return heap.test(text) ? text : text.normalize('NFC');
}

/** Would a reader see nothing? Such a text counts as empty. */
export function isBlank(text: string): boolean {
  return nothingToSee.test(text);
}

/** Without the characters that copying brings along unseen (direction marks around a phone number …), and outer spaces. */
export function withoutUnseen(text: string): string {
  return text.replace(unseen, '').trim();
}
