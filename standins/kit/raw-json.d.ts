/** Writes an integer of any length; TypeScript's library does not have it yet. */
interface JSON {
  rawJSON(text: string): object;
}
