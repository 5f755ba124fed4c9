import { createRequire } from 'node:module';
import type { Matcher, RE2JS } from 're2js';

/*
 * JavaScript's own regular expressions use backtracking: a text can make a pattern run for years. The regular expressions here take time in
 * proportion to the text, and call `tick`, which may throw to stop them. Their syntax is JavaScript's, without the parts that need backtracking.
 */

const require = createRequire(import.meta.url);

/** The engine is loaded with the first pattern: few commands need the engine. */
const engine = (): typeof import('re2js') => require('re2js');

/** The parts of JavaScript's syntax that need backtracking, and what to write instead. */
const impossible: readonly { syntax: RegExp; what: string; instead: string }[] = [
  {
    syntax: /^\(\?=/,
    what: 'looks ahead: (?=…)',
    instead: 'join two conditions with "and", or match what follows as well and take a group of $match()',
  },
  {
    syntax: /^\(\?!/,
    what: 'looks ahead: (?!…)',
    instead: 'join a condition with "and $not($contains(…))"',
  },
  {
    syntax: /^\(\?<[=!]/,
    what: 'looks behind: (?<=…) or (?<!…)',
    instead: 'match what stands before as well, and take a group of $match()',
  },
  {
    syntax: /^\\(?:[1-9]|k<)/,
    what: 'refers back to a group: \\1 or \\k<name>',
    instead: 'compare two groups of $match()',
  },
];

const characters = String.raw`\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[a-zA-Z]`;
/** The next token of a pattern, outside a character class and inside it. */
const tokens = {
  outside: new RegExp(String.raw`${characters}|\\k<|\\[^]|\(\?<?[=!]|\(\?<|\[\^?\]?|[^]`, 'y'),
  inside: new RegExp(String.raw`${characters}|\\[^]|[^]`, 'y'),
};

const anything = '[\\x00-\\x{10FFFF}]';
const nothing = '[^\\x00-\\x{10FFFF}]';
/** JavaScript's `\s` and `\S`: the engine's own classes know only ASCII. */
const space = '\\t-\\r \\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}\\x{FEFF}';
const noSpace =
  '\\x00-\\x08\\x0E-\\x1F!-\\x{9F}\\x{A1}-\\x{167F}\\x{1681}-\\x{1FFF}\\x{200B}-\\x{2027}\\x{202A}-\\x{202E}' +
  '\\x{2030}-\\x{205E}\\x{2060}-\\x{2FFF}\\x{3001}-\\x{FEFE}\\x{FF00}-\\x{10FFFF}';
const noLineEnd = '[^\\n\\r\\x{2028}\\x{2029}]';
/** Escapes that mean the same in JavaScript and in the engine. In JavaScript any other escaped letter stands for itself. */
const same = /^\\[dDwWbBnrtfvpP0]/;

/** The same pattern in the engine's syntax. @throws UnsupportedPattern */
function translated(source: string): string {
  let isInClass = false;
  let made = '';
  for (let at = 0; at < source.length; ) {
    const token: RegExp = isInClass ? tokens.inside : tokens.outside;
    token.lastIndex = at;
    const [one = ''] = token.exec(source) ?? [];
    if (isInClass) {
      made +=
        one === '-' && source[at + 1] === '\\' && /[dDsSwW]/.test(source[at + 2] ?? '') ? '\\-' : inClass(one, made);
      isInClass = one !== ']';
    } else {
      const found = impossible.find(({ syntax }) => syntax.test(one));
      if (found !== undefined) {
        const { what, instead } = found;
        throw new UnsupportedPattern(source, `${what}, which could take for ever over some texts: ${instead}`);
      }
      made += outsideClass(one);
      isInClass = one === '[' || one === '[^';
    }
    at += one.length;
  }
  return made;
}

function outsideClass(one: string): string {
  if (one === '[]') return nothing;
  if (one === '[^]') return anything;
  if (one === '.') return noLineEnd;
  if (one === '(?<') return '(?P<';
  if (one === '\\s') return `[${space}]`;
  if (one === '\\S') return `[${noSpace}]`;
  return escaped(one);
}

/** @param before the translation of the pattern so far */
function inClass(one: string, before: string): string {
  // JavaScript has no classes like [:alpha:].
  if (one.startsWith('[')) return `\\${one}`;
  if (one === '\\s') return space;
  if (one === '\\S') return noSpace;
  if (one === '\\b') return '\\x08';
  // After a class like \w a hyphen can't mean a range.
  if (one === '-' && (/\\[dDwW]$/.test(before) || before.endsWith(space) || before.endsWith(noSpace))) return '\\-';
  return escaped(one);
}

function escaped(one: string): string {
  if (/^\\u./.test(one)) return `\\x{${one.split('\\u').slice(1).reduce(codePoint, 0).toString(16)}}`;
  if (/^\\c./.test(one)) return `\\x{${(one.charCodeAt(2) % 32).toString(16)}}`;
  if (one === '\\c') return '\\\\c';
  if (!one.startsWith('\\') || /^\\x./.test(one) || same.test(one)) return one;
  const character = one.slice(1);
  return /^[a-zA-Z]$/.test(character) || character > '\x7f' ? character : one;
}

function codePoint(high: number, hex: string): number {
  const low = Number.parseInt(hex, 16);
  return high === 0 ? low : (high - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000;
}

/** A pattern that the engine doesn't take. The message says what to write instead. */
export class UnsupportedPattern extends Error {
  override readonly name = 'UnsupportedPattern';

  constructor(source: string, what: string) {
    super(`the regular expression /${source.length > 60 ? `${source.slice(0, 59)}…` : source}/ ${what}`);
  }
}

function compiled(source: string, flags: string): RE2JS {
  // JavaScript itself reports mistakes in the pattern.
  new RegExp(source, flags);
  const { RE2JS } = engine();
  const inEngine = translated(source);
  const kept = flags.replaceAll(/[^im]/g, '');
  try {
    return RE2JS.compile(kept === '' ? inEngine : `(?${kept})${inEngine}`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UnsupportedPattern(source, `has a part that is not supported: ${why}`);
  }
}

/** A text that the engine reads character by character. */
class WatchedText extends String {
  readonly #tick: () => void;
  #left = ticks;

  constructor(text: string, tick: () => void) {
    super(text);
    this.#tick = tick;
  }

  override charCodeAt(at: number): number {
    this.#left -= 1;
    if (this.#left === 0) {
      this.#left = ticks;
      this.#tick();
    }
    return super.charCodeAt(at);
  }
}

/** How many characters are read between two ticks; a shorter text needs no tick. */
const ticks = 500;

interface Match extends Array<string | undefined> {
  index: number;
}

/** The parts of JavaScript's `RegExp` that JSONata uses. */
export interface LinearRegExp {
  readonly source: string;
  readonly isGlobal: boolean;
  readonly program: RE2JS;
  lastIndex: number;
  exec(text: string): Match | null;
  test(text: string): boolean;
}

/** @param tick called now and then while a pattern is matched */
export function linearRegExp(tick: () => void): new (pattern: string | LinearRegExp, flags?: string) => LinearRegExp {
  return class Linear implements LinearRegExp {
    readonly source: string;
    lastIndex = 0;
    readonly isGlobal: boolean;
    readonly program: RE2JS;
    #over: { text: string; matcher: Matcher } | undefined;

    constructor(pattern: string | LinearRegExp, flags = '') {
      const isText = typeof pattern === 'string';
      this.source = isText ? pattern : pattern.source;
      this.isGlobal = isText ? flags.includes('g') : pattern.isGlobal;
      this.program = isText ? compiled(pattern, flags) : pattern.program;
    }

    exec(text: string): Match | null {
      tick();
      const from = this.isGlobal ? this.lastIndex : 0;
      if (this.#over?.text !== text) {
        const input = engine().MatcherInput.utf16(text.length > ticks ? new WatchedText(text, tick) : text);
        this.#over = { text, matcher: this.program.matcher(input) };
      }
      const { matcher } = this.#over;
      if (from > text.length || !matcher.find(from)) {
        this.lastIndex = 0;
        return null;
      }
      const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, i) => matcher.group(i) ?? undefined);
      this.lastIndex = matcher.end();
      return Object.assign(groups, { index: matcher.start() });
    }

    test(text: string): boolean {
      return this.exec(text) !== null;
    }
  };
}
