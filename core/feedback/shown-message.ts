import { composed, isBlank } from '../visible-text.ts';

/*
 * The service's own messages, as errors repeat them. They may quote what was sent, such as a contact or a comment, and errors reach logs
 * and traces: what was sent in the call, and whatever looks like an address or a phone number, is left out.
 */

const longest = 200;
/** A message is blanked before it is cut: a cut could leave part of a value. */
const longestRead = 1_000;
/** A part of a sent text is left out where it is this long, or is a word of a text of so few words, such as a name. */
const longestPart = 12;
const fewWords = 3;
const shortestWord = 3;

const lookAlikes: readonly RegExp[] = [
  // E-mail addresses of any script, also as in a URL.
  /[^\s<>"“”«»,;]*(?:@|%40)[^\s<>"“”«»,;]*/giu,
  // Six digits and more, with what people write between them. Not a limit, as in "100 characters".
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

/** On one line, with nothing in it that does not show. */
const plain = (text: string): string =>
  composed(text)
    .replace(/[\s\p{C}]+/gu, ' ')
    .trim();

/** In lower case where that takes as many characters. */
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

/** Wherever the value stands by itself, and is no part of another word. */
function hideWhole(value: string, text: string, hide: Hide): void {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const end = at + value.length;
    const isWithin =
      (isWordPart(text[at - 1]) && isWordPart(value[0])) || (isWordPart(value.at(-1)) && isWordPart(text[end]));
    if (!isWithin) hide(at, end);
  }
}

/** Wherever the message quotes a part of the value. */
function hideRuns(value: string, text: string, hide: Hide): void {
  for (let from = 0; from + longestPart <= text.length; from++) {
    let to = from + longestPart;
    if (!value.includes(text.slice(from, to))) continue;
    while (to < text.length && value.includes(text.slice(from, to + 1))) to += 1;
    hide(from, to);
    from = to - 1;
  }
}

/** The punctuation at the end is the sentence's in which the message is repeated. */
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
