import { type Contact, type ContactOptions, contactKey, parseContact } from './contact.ts';
import { CloseloopError } from './errors.ts';
import { firstOf } from './spread.ts';

/** A contact found in a text, at the characters `from` up to `to`. */
interface Mention {
  from: number;
  to: number;
  keys: string[];
}

/** The longest address or number. */
const longest = 320;
/** Patterns for words, and for the parts of a URL. The separators of a URL's parts may also be part of an e-mail address. */
const words = /[^\s<>"(),;:\\[\]]+/g;
const parts = /[^/?&#=|{}']+/g;
const points = ".!*'";
const numbers = /(?<![\w@])(?:\+|00)?\d[\d ().\u00a0/-]{5,}\d(?![\w@])/g;

/** Yields the keys of the contacts in a text: the whole text as one contact, and contacts among other words. Lazy. */
export function* contactsInText(text: string, options: ContactOptions): Generator<string> {
  for (const { keys } of mentionsIn(text, options)) yield* keys;
}

/** The most contacts that are parsed in one text. */
const mostMentions = 1_000;

/** The text without the contacts to forget; undefined where nothing is left, or the text holds too many contacts to parse. */
export function withoutContacts(
  text: string,
  isForgotten: (key: string) => boolean,
  options: ContactOptions,
): string | undefined {
  const all = firstOf(mentionsIn(text, options), mostMentions + 1);
  if (all.length > mostMentions) return undefined;
  const gone = all.filter(({ keys }) => keys.some(isForgotten));
  if (gone.some(({ from, to }) => from === 0 && to === text.length)) return undefined;
  let left = '';
  let at = 0;
  for (const { from, to } of gone.toSorted((a, b) => a.from - b.from)) {
    if (from < at) continue;
    left += `${text.slice(at, from)}***`;
    at = to;
  }
  return left + text.slice(at);
}

function* mentionsIn(text: string, options: ContactOptions): Generator<Mention> {
  const whole = contactIn(text, options);
  yield { from: 0, to: text.length, keys: whole ? keysOf(whole, text) : [] };
  if (whole && whole.kind !== 'identifier') return;
  for (const found of [addressesIn(text, options), matchesOf(numbers, text)]) {
    for (const { from, word } of found) {
      const contact = contactIn(word, options);
      // Candidates that turn out to be no contact count as well, as parsing takes most of the time.
      yield { from, to: from + word.length, keys: contact ? keysOf(contact, word) : [] };
    }
  }
}

interface Word {
  from: number;
  word: string;
}

function* matchesOf(pattern: RegExp, text: string): Generator<Word> {
  for (const { index, 0: word } of text.matchAll(pattern)) yield { from: index, word };
}

function* addressesIn(text: string, options: ContactOptions): Generator<Word> {
  if (!text.includes('@')) return;
  for (const whole of matchesOf(words, text)) {
    if (!whole.word.includes('@')) continue;
    const trimmed = withoutPoints(whole);
    if (contactIn(trimmed.word, options)?.kind === 'email') {
      yield trimmed;
      continue;
    }
    for (const { from, word } of matchesOf(parts, whole.word)) {
      if (word.includes('@')) yield withoutPoints({ from: whole.from + from, word });
    }
  }
}

/** Punctuation at the end of a sentence does not belong to the address. */
function withoutPoints({ from, word }: Word): Word {
  let [begin, end] = [0, word.length];
  while (begin < end && points.includes(word.charAt(begin))) begin++;
  while (begin < end && `${points}-`.includes(word.charAt(end - 1))) end--;
  return { from: from + begin, word: word.slice(begin, end) };
}

/** A number without a country has two keys: in the default country, and as an identifier. */
function keysOf(contact: Contact, written: string): string[] {
  return [...new Set([contactKey(contact), contactKey({ ...contact, value: written })])];
}

/** Only text that may be a contact is parsed: with an `@`, or at least four digits. */
function contactIn(text: string, options: ContactOptions): Contact | undefined {
  if (text.length > longest || !/@|\d{4}/.test(text.replace(/[\s()./-]/g, ''))) return undefined;
  try {
    return parseContact(text, options);
  } catch (error) {
    if (error instanceof CloseloopError) return undefined;
    throw error;
  }
}
