interface Limits {
  levels: number;
  /** Lists, objects and their entries. */
  entries: number;
}

const bearable: Limits = {
  /** Several times the depth of any documented body, and still safe for recursive code. */
  levels: 64,
  /**
   * A hundred tickets with 300 custom fields each have 200,000 entries. V8 parses this many in about 50 ms; it took 17 s for a real body of 60
   * MB of brackets.
   */
  entries: 300_000,
};

const [quote, backslash, comma, colon, openList, openObject, closeList, closeObject] = Buffer.from('"\\,:[{]}');
const [minus = 0, zero = 0, nine = 0] = Buffer.from('-09');
/** The number of digits of 2^53. */
const fewestLongDigits = 16;

/** The structure of a text, read from its bytes before it is parsed as JSON. Only the parser decides whether the text is JSON. */
export interface JsonStructure {
  /** Why the text is refused, without quoting the text. */
  flaw?: string;
  /** Where each integer beyond 2^53 begins and ends, one place after the other. */
  longIntegers: readonly number[];
}

/** Why this text should not be parsed as JSON, without quoting the text; undefined if it is simple enough. */
export function tooIntricate(text: Uint8Array, entries = bearable.entries): string | undefined {
  return structureOf(text, { ...bearable, entries }).flaw;
}

export function structureOf(text: Uint8Array, most: Limits = bearable): JsonStructure {
  const longIntegers: number[] = [];
  let levels = 0;
  let entries = 0;
  for (let i = 0; i < text.length; i++) {
    const byte = text[i] ?? 0;
    switch (byte) {
      case quote:
        i = endOfString(text, i);
        break;
      case openList:
      case openObject:
        levels += 1;
        entries += 1;
        if (levels > most.levels) return { flaw: `nests more than ${most.levels} levels deep`, longIntegers };
        break;
      case comma:
        entries += 1;
        break;
      case closeList:
      case closeObject:
        levels -= 1;
        break;
      default:
        if (byte === minus || isDigit(byte)) {
          const end = endOfDigits(text, i + 1);
          if (end - i >= fewestLongDigits && isLongInteger(text, i, end)) longIntegers.push(i, end);
          i = end - 1;
        }
    }
    if (entries > most.entries) return { flaw: `has more than ${most.entries} entries`, longIntegers };
  }
  return { longIntegers };
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= zero && byte <= nine;

function endOfDigits(text: Uint8Array, start: number): number {
  let end = start;
  while (isDigit(text[end])) end += 1;
  return end;
}

/**
 * Whether these digits, perhaps after a minus, are an integer beyond 2^53, and neither a part of another number nor a key, which would not be
 * JSON.
 */
function isLongInteger(text: Uint8Array, start: number, end: number): boolean {
  const first = text[start] === minus ? start + 1 : start;
  if (text[first] === zero || beyondDigits.has(text[start - 1]) || beyondDigits.has(text[end])) return false;
  let next = end;
  while (isSpace(text[next])) next += 1;
  if (text[next] === colon) return false;
  return end - first > fewestLongDigits || !Number.isSafeInteger(Number(utf8.decode(text.subarray(first, end))));
}

const beyondDigits = new Set<number | undefined>(Buffer.from('+-.eE'));
const isSpace = (byte: number | undefined): boolean => byte === 32 || byte === 10 || byte === 13 || byte === 9;
const utf8 = new TextDecoder();

/** The end of the string that begins at `start`; beyond the text if the string has no end. */
function endOfString(text: Uint8Array, start: number): number {
  let end = start + 1;
  while (end < text.length && text[end] !== quote) end += text[end] === backslash ? 2 : 1;
  return end;
}
