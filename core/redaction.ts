/*
 * A second line of defence for what is written anywhere: code passes no personal data and no secrets, and if it does, or a
 * library's text quotes them, they are taken out.
 */

export const removed = '[removed]';

/** Each in the form that people and programs write it in, and as it stands in an address (%40 for @). */
const taken: readonly [what: RegExp, instead: string][] = [
  // Whatever stands before a host: a name and a password. The password may hold an @ itself.
  [/\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#"'<>]*@/gi, `$1${removed}@`],
  [/([?&][\w-]*(?:token|secret|key|password|signature|code|auth|mail|phone|contact)=)[^\s&#"'<>]+/gi, `$1${removed}`],
  [/\b(Bearer|Basic|Token) (?=\S*[\d=+/])[\w+/=.~-]{8,}/g, `$1 ${removed}`],
  [/\bwhsec_[\w+/=-]+/g, removed],
  // Of any script.
  [/[^\s@<>"'`(),:;/?&=]{1,256}(?:@|%40)[^\s@<>"'`(),:;/?&=%]+\.\p{L}[\p{L}\p{N}-]+/giu, removed],
  // International numbers, also with spaces, hyphens and brackets.
  [/(?:\+|%2B)\d(?:[ ().-]{0,2}\d){6,14}(?!\d)/gi, removed],
  [/\b00[1-9](?: ?\d){7,13}(?!\d)/g, removed],
];

/** Nobody reads on, and a disk is not to be filled by what somebody sent. */
const longest = 20_000;

/**
 * `text` without e-mail addresses, international phone numbers, and credentials; cut where it is longer than anybody reads.
 * Whatever begins a pattern has a bound: else each character of a long word would cost all those behind it.
 */
export function redacted(text: string): string {
  // What stands across the end is taken out before it is cut.
  const shown = taken.reduce((rest, [what, instead]) => rest.replaceAll(what, instead), text.slice(0, longest + 1_000));
  return text.length > longest ? `${shown.slice(0, longest)}… (${text.length} characters)` : shown;
}
