/*
 * Suggests corrections for mistakes in an expression. People write the operators of other languages, functions without their $,
 * and fixed texts without the quotes that JSONata needs. Texts, names in backticks and regular expressions stay unchanged. Pure.
 */

interface Slip {
  found: RegExp;
  /** The replacement, as in `String.replace`. */
  right: string;
  /** The advice in words. */
  say: string;
}

/** An operand of an operator: a path, a text, a call. A letter of the private use area stands for a text (`withoutTexts`). */
const operand = String.raw`[\p{L}\p{N}_$.\uE000-\uF8FF](?:[\p{L}\p{N}_$.\uE000-\uF8FF]|\[[^\][]*\]|\([^()]*\))*`;
const group = String.raw`\((?:[^()]|\([^()]*\))*\)`;
/** A word that is no operator: `open` and `ticket` in `status = open ticket`. */
const word = String.raw`(?!(?:and|or|in)\b)[\p{L}\p{N}_]+`;
const notWord = String.raw`(?<![\p{L}\p{N}_$.])not\s+`;
const notSign = String.raw`!(?!=)\s*`;
const words = (pattern: string): RegExp => new RegExp(pattern, 'giu');

/** The known mistakes, in the order of checking: longer operators come first. */
const slips: readonly Slip[] = [
  { found: /\{\{\s*([^{}]*?)\s*\}\}/g, right: '$1', say: 'no braces around it' },
  { found: /!==/g, right: '!=', say: '"!=" for "!=="' },
  { found: /<>/g, right: '!=', say: '"!=" for "<>"' },
  { found: /===/g, right: '=', say: '"=" for "==="' },
  { found: /==/g, right: '=', say: '"=" for "=="' },
  { found: /\s*&&\s*/g, right: ' and ', say: '"and" for "&&"' },
  { found: /\s*\|\|\s*/g, right: ' or ', say: '"or" for "||"' },
  { found: /\bAND\b/g, right: 'and', say: '"and" for "AND"' },
  { found: /\bOR\b/g, right: 'or', say: '"or" for "OR"' },
  { found: /\bIN\b/g, right: 'in', say: '"in" for "IN"' },
  { found: /\?\.(?!\d)/g, right: '.', say: '"." for "?."' },
  { found: words(`(${operand})\\s+is\\s+not\\s+null\\b`), right: '$$exists($1)', say: '$exists(…) for "is not null"' },
  {
    found: words(`(${operand})\\s+is\\s+null\\b`),
    right: '$$not($$exists($1))',
    say: '$not($exists(…)) for "is null"',
  },
  {
    found: words(`(${operand})\\s+not\\s+in\\s+(${operand})`),
    right: '$$not($1 in $2)',
    say: '$not(… in …) for "not in"',
  },
  {
    found: words(`(${operand})\\s+(?:contains|includes|like)\\s+(${operand})`),
    right: '$$contains($1, $2)',
    say: '$contains(…) for a text, or "in" for a list (`"vip" in ticket.tags`)',
  },
  { found: words(`(?:${notWord}|${notSign})(${operand}\\s+in\\s+${operand})`), right: '$$not($1)', say: '$not(…)' },
  { found: words(`${notWord}(${operand})`), right: '$$not($1)', say: '$not(…) for "not"' },
  { found: words(`${notWord}(${group})`), right: '$$not$1', say: '$not(…) for "not"' },
  { found: words(`${notSign}(${operand})`), right: '$$not($1)', say: '$not(…) for "!"' },
  { found: words(`${notSign}(${group})`), right: '$$not$1', say: '$not(…) for "!"' },
  { found: words(`(?<=[^!<>:]=\\s*|!=\\s*)(${word}(?:\\s+${word})+)`), right: '"$1"', say: 'a fixed text in quotes' },
  { found: /(?<=[\p{L}_`)\]])\.(\d+)(?![\p{L}\p{N}_])/gu, right: '.`$1`', say: 'backticks around a name of digits' },
];

/**
 * Advice on an expression that JSONata can't read; undefined where closeloop has no advice. A corrected expression is suggested only if
 * JSONata can read it.
 */
export function adviceOn(source: string, parses: (source: string) => boolean): string | undefined {
  const text = source.trim();
  const { hidden, shown } = withoutTexts(text.replaceAll(/[“”„]/g, '"').replaceAll(/[‘’]/g, "'"));
  const said = /[“”„‘’]/.test(text) ? ['straight quotes'] : [];
  const mended = slips.reduce((rest, { found, right, say }) => {
    const next = rest.replaceAll(found, right);
    if (next !== rest) said.push(say);
    return next;
  }, hidden);
  const whole = shown(mended);
  if (said.length > 0 && parses(whole)) return `Write ${said.join(', ')}: \`${whole}\``;
  const spaced = /^((?:[\p{L}_][\p{L}\p{N}_]*\.)+)([\p{L}\p{N}_]+(?: [\p{L}\p{N}_]+)+)$/u.exec(text);
  if (spaced) return `A name with a space in it needs backticks: ${spaced[1]}\`${spaced[2]}\``;
  if (fixedText.test(text)) return wholeTextAdvice(text);
  return said.length > 0 ? `Write ${said.join(', ')}` : undefined;
}

const fixedText = /^[\p{L}\p{N}#+][\p{L}\p{N}\s'’.,:@#+&/%!?-]*$/u;

/** Advice to write a fixed text with quotes of its own, as the quotes of YAML are not part of the expression. */
function wholeTextAdvice(text: string): string {
  return `A fixed text has quotes of its own, within those of the file: '${JSON.stringify(text).replaceAll("'", "''")}'`;
}

/** Advice on a name in an expression that no record has: the writer may have meant a fixed text. */
export function fixedTextAdvice(source: string, name: string): string {
  return fixedText.test(source.trim()) ? wholeTextAdvice(source.trim()) : `A fixed text has quotes: "${name}"`;
}

/** Advice on the quotes of a word processor: JSONata reads them as part of a name. */
export function quotesAdvice(source: string): string | undefined {
  const straight = withoutTexts(source).hidden.replaceAll(/[“”„]/g, '"');
  if (!straight.includes('"')) return undefined;
  return `has quotes of a word processor: write straight ones: \`${withoutTexts(source).shown(straight)}\``;
}

/**
 * Advice on a function that is called without its $: `length(ticket.subject)`. JSONata reads the function's name as a name in the record, and
 * fails for every record.
 */
export function callAdvice(source: string, functions: ReadonlySet<string>): string | undefined {
  const { hidden, shown } = withoutTexts(source);
  const called = new Set<string>();
  const mended = hidden.replaceAll(/(?<![\p{L}\p{N}_$`])([a-z]\w*)(?=\s*\()/giu, (name) => {
    if (!functions.has(name)) return name;
    called.add(`$${name}`);
    return `$${name}`;
  });
  return called.size === 0
    ? undefined
    : `A function begins with $: write ${[...called].join(', ')}: \`${shown(mended)}\``;
}

/**
 * The parts of an expression that joins them by `or` or `and`. Its result is true or false, and never the value of a part. Undefined
 * for any other expression.
 */
export function alternativesIn(source: string): string[] | undefined {
  const { hidden, shown } = withoutTexts(source);
  const nested = /\([^()]*\)|\[[^\][]*\]|\{[^{}]*\}/g;
  let flat = hidden;
  for (let before = ''; before !== flat; ) {
    before = flat;
    flat = flat.replaceAll(nested, (part) => '\u{f8ff}'.repeat(part.length));
  }
  const joints = [...flat.matchAll(/(?<=\s)(?:or|and)(?=\s)/g)];
  if (joints.length === 0 || /[?:]/.test(flat)) return undefined;
  const ends = [...joints.map(({ index }) => index), hidden.length];
  const starts = [0, ...joints.map(({ index, 0: joint }) => index + joint.length)];
  return starts.map((start, i) => shown(hidden.slice(start, ends[i])).trim());
}

/** The parts that stay unchanged: texts, names in backticks, comments, regular expressions. */
const kept =
  /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`|\/\*.*?\*\/|(?<=[(,>]\s*)\/(?![*/])(?:\\.|[^/\\\n])+\/[im]*/gs;
const firstMark = 0xe000;
const marks = 0xf8fe - firstMark;

/** `hidden`: the expression with a letter in place of each unchanged part; `shown` puts the parts back. */
function withoutTexts(source: string): { hidden: string; shown: (text: string) => string } {
  const parts: string[] = [];
  const hidden = source.replaceAll(kept, (part) => {
    if (parts.length >= marks) return part;
    parts.push(part);
    return String.fromCharCode(firstMark + parts.length - 1);
  });
  const shown = (text: string) =>
    text.replaceAll(/[\uE000-\uF8FF]/g, (mark) => parts[mark.charCodeAt(0) - firstMark] ?? mark);
  return { hidden, shown };
}
