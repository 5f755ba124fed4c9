/*
 * The second line of defence for logs, traces and errors: closeloop's code passes no personal data and no secrets to them. Data that slips through,
 * or that a library quotes, is removed here.
 */

export const removed = '[removed]';

/** Each pattern matches the plain form and the form in a URL (%40 for @). */
const taken: readonly [what: RegExp, instead: string][] = [
  // User name and password before a host. The password may contain an @.
  [/\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#"'<>]*@/gi, `$1${removed}@`],
  [/([?&][\w-]*(?:token|secret|key|password|signature|code|auth|mail|phone|contact)=)[^\s&#"'<>]+/gi, `$1${removed}`],
  [/\b(Bearer|Basic|Token) (?=\S*[\d=+/])[\w+/=.~-]{8,}/g, `$1 ${removed}`],
  [/\bwhsec_[\w+/=-]+/g, removed],
  // E-mail addresses in any script.
  [/[^\s@<>"'`(),:;/?&=]{1,256}(?:@|%40)[^\s@<>"'`(),:;/?&=%]+\.\p{L}[\p{L}\p{N}-]+/giu, removed],
  // International numbers, also with spaces, hyphens and brackets.
  [/(?:\+|%2B)\d(?:[ ().-]{0,2}\d){6,14}(?!\d)/gi, removed],
  [/\b00[1-9](?: ?\d){7,13}(?!\d)/g, removed],
];

/** Matches every text that one of the patterns matches, so that a single check is enough for most texts. */
const telling = /[@%=+]|\b(?:Bearer|Basic|Token) |whsec_|\b00[1-9]/;

/** The longest text that is logged or stored: a sender must not be able to fill the disk. */
const longest = 20_000;

/**
 * `text` without e-mail addresses, international phone numbers and credentials, cut to a maximum length. Every pattern begins
 * with a bounded repetition, so that a long word takes linear time.
 */
export function redacted(text: string): string {
  if (text.length <= longest && !telling.test(text)) return text;
  // Redacts before cutting, as a match may lie across the cut.
  const shown = taken.reduce((rest, [what, instead]) => rest.replaceAll(what, instead), text.slice(0, longest + 1_000));
  return text.length > longest ? `${shown.slice(0, longest)}… (${text.length} characters)` : shown;
}
