/** Characters that show nothing: white space, zero-width spaces and joiners, direction marks, fillers, control characters. */
const nothingToSee = /^[\s\p{Default_Ignorable_Code_Point}\p{Cc}\u2800]*$/u;
const unseen = /[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu;

/** Would a reader see nothing? Such a text counts as empty. */
export function isBlank(text: string): boolean {
  return nothingToSee.test(text);
}

/** Without the characters that copying brings along unseen (direction marks around a phone number …), and outer spaces. */
export function withoutUnseen(text: string): string {
  return text.replace(unseen, '').trim();
}
