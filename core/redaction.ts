/*
 * A second line of defence for what is written anywhere: code passes no personal data and no secrets, and if it does, or a
 * library's text quotes them, they are taken out.
 */

export const removed = '[removed]';

/** Each in the form that people and programs write it in, and as it stands in an address (%40 for @). */
const taken: readonly [what: RegExp, instead: string][] = [
  // Whatever stands before a host: a name and a password. The password may hold an @ itself.
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'<>]*@/gi, `$1${removed}@`],
  [/([?&][\w-]*(?:token|secret|key|password|signature|code|auth|mail|phone|contact)=)[^\s&#"'<>]+/gi, `$1${removed}`],
  [/\b(Bearer|Basic|Token) (?=\S*[\d=+/])[\w+/=.~-]{8,}/g, `$1 ${removed}`],
  [/\bwhsec_[\w+/=-]+/g, removed],
  // Of any script.
  [/[^\s@<>"'`(),:;/?&=]+(?:@|%40)[^\s@<>"'`(),:;/?&=%]+\.\p{L}[\p{L}\p{N}-]+/giu, removed],
  // International numbers, also with spaces, hyphens and brackets.
  [/(?:\+|%2B)\d(?:[ ().-]{0,2}\d){6,14}(?!\d)/gi, removed],
  [/\b00[1-9](?: ?\d){7,13}(?!\d)/g, removed],
];

/** `text` without e-mail addresses, international phone numbers, and credentials. */
export function redacted(text: string): string {
  return taken.reduce((rest, [what, instead]) => rest.replaceAll(what, instead), text);
}
