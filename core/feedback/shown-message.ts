import { composed, isBlank } from '../visible-text.ts';

/*
 * The service's own messages, as errors repeat them. They may quote values of the call, such as a contact or a comment, and errors reach logs
 * and traces: so the values of the call, and everything that looks like an address or a phone number, are left out.
 */

const longest = 200;
/** Values are removed from this much of a message before the message is cut to `longest`, as a cut could leave part of a value. */
const longestRead = 1_000;
/** A part of a sent text is left out if it is at least this long, or if it is a word of a text with few words, such as a name. */
const longestPart = 12;
const fewWords = 3;
const shortestWord = 3;

const lookAlikes: readonly RegExp[] = [
  // E-mail addresses of any script, also as in a URL.
  /[^\s<>"“”«»,;]*(?:@|%40)[^\s<>"“”«»,;]*/giu,
  // Six digits or more, with the separators that people write between them. Fewer digits may be a limit, as in "100 characters".
  /(?:\+|%2B)?[(\p{Nd}](?:[ ()./\u00a0\u2010-\u2015-]{0,2}\p{Nd}){5,}/giu,
];

/**
 * The message without the values in it: "… is not one of the available choices". Undefined where nothing is left.
 * @param sent texts and numbers that the call carried
 */
export function shownMessage(message: string, sent: readonly unknown[] = []): string | undefined {
  const text = plain(message.slice(0, longestRead));
  const isHidden = new Uint8Array(text.length);
  const hide = (from: number, to: number): void => void isHidden.fill(1, from, to);
  for (const pattern of lookAlikes)
    for (const { index, 0: found } of text.matchAll(pattern)) hide(index, index + found.length);
  const lower = lowered(text);
  for (const value of sent) {
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    const written = lowered(plain(String(value)));
    for (const part of partsOf(written)) hideWhole(part, lower, hide);
    hideRuns(written, lower, hide);
  }
  const shown = withoutHidden(text, isHidden);
  return /[\p{L}\p{N}]/u.test(shown) ? shown : undefined;
}

/** The text on one line, without invisible characters. */
const plain = (text: string): string =>
  composed(text)
    .replace(/[\s\p{C}]+/gu, ' ')
    .trim();

/** The text in lower case, with its length unchanged. */
function lowered(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function partsOf(written: string): string[] {
  const words = written.split(' ');
  const isShort = words.length <= fewWords;
  return [written, ...(isShort ? words.filter((word) => word.length >= shortestWord) : [])].filter(
    (one) => !isBlank(one),
  );
}

type Hide = (from: number, to: number) => void;
const isWordPart = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{M}\p{N}_]/u.test(char);

/** Hides the value wherever it is not a part of another word. */
function hideWhole(value: string, text: string, hide: Hide): void {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const end = at + value.length;
    const isWithin =
      (isWordPart(text[at - 1]) && isWordPart(value[0])) || (isWordPart(value.at(-1)) && isWordPart(text[end]));
    if (!isWithin) hide(at, end);
  }
}

/** Hides every long part of the value that the message quotes. */
function hideRuns(value: string, text: string, hide: Hide): void {
  for (let from = 0; from + longestPart <= text.length; from++) {
    let to = from + longestPart;
    if (!value.includes(text.slice(from, to))) continue;
    while (to < text.length && value.includes(text.slice(from, to + 1))) to += 1;
    hide(from, to);
    from = to - 1;
  }
}

/** The message without the hidden parts, and without punctuation at its end, as it is repeated within a sentence. */
function withoutHidden(text: string, isHidden: Uint8Array): string {
  let shown = '';
  for (let i = 0; i < text.length; i++) {
    if (isHidden[i] === 0) shown += text[i];
    else if (isHidden[i - 1] !== 1) shown += '…';
  }
  const joined = shown.replace(/…(?:[ "'“”«».,-]*…)+/g, '…').replace(/["'“«]…["'”»]/g, '…');
  const cut = joined.length > longest ? `${joined.slice(0, longest).toWellFormed()}…` : joined;
  return cut.replace(/[\s.:,;!]+$/, '');
}
