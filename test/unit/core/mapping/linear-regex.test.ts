import fc from 'fast-check';
import jsonata from 'jsonata';
import { describe, expect, test } from 'vitest';
import { compileExpression } from '../../../../core/mapping/expression-compile.ts';
import { linearRegExp } from '../../../../core/mapping/linear-regex.ts';

const Linear = linearRegExp(() => undefined);

/** The matches with their groups, up to the first that is empty: there JSONata stops. A group without a part in it counts as empty. */
function matchesOf(
  pattern: { exec: (text: string) => (ArrayLike<string | undefined> & { index: number }) | null },
  text: string,
): unknown[] {
  const found: unknown[] = [];
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    found.push([match.index, ...Array.from(match, (group) => group ?? '')]);
    if (match[0] === '') break;
  }
  return found;
}

const atoms = String.raw`
  a b B 1 _ - é ß { } ] a{ . ^ $ [ab] [^a] [a-c1] [] [^] \. \d \D \w \W \s \S \b \B \t \n \r \/ \-
  [\w-.] [.-\w] [\s\d] [^\S] [a[] [-a] [a-] [\]a] \u0061 \x62 \q \cJ [\b] \u00e9 [é-ü]
`;
const atom = fc.constantFrom(' ', ...atoms.trim().split(/\s+/));
const quantifier = fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '{2,}', '*?', '+?', '??');
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    atom,
    fc.array(tie('pattern'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
    fc.tuple(tie('pattern'), tie('pattern')).map((two) => two.join('|')),
    tie('pattern').map((one) => `(${one})`),
    // Of what may be nothing at all, JavaScript and the engine repeat the nothing each in its own way.
    fc
      .tuple(tie('pattern'), quantifier)
      .map(([one, times]) => (matchesNothing(one) ? one : `(?:${ungrouped(one)})${times}`)),
    fc.tuple(atom, quantifier).map((two) => two.join('')),
  ),
}));
const character = fc.constantFrom(...'abB1_-. \t\n\u00a0éÉüß/{[]qx', '\r', '\u2028');
const text = fc.array(character, { maxLength: 12 }).map((all) => all.join(''));

function isPattern(source: string): boolean {
  try {
    return new RegExp(source) !== undefined;
  } catch {
    return false;
  }
}

/** A group that is repeated keeps what it found last, where JavaScript's forgets it with each repetition. */
function ungrouped(source: string): string {
  return source.replaceAll(/\((?!\?)/g, '(?:');
}

function matchesNothing(source: string): boolean {
  return !isPattern(source) || new RegExp(`(?:${source})|x`).exec('x')?.[0] !== 'x';
}

test("a pattern finds in a text what JavaScript's own finds, with its groups", () => {
  fc.assert(
    fc.property(pattern.filter(isPattern), fc.constantFrom('g', 'gi', 'gm', 'gim'), text, (source, flags, over) => {
      // With "m" a line ends with \n alone.
      const within = flags.includes('m') ? over.replaceAll(/[\r\u2028]/g, 'r') : over;
      const expected = matchesOf(new RegExp(source, flags), within);
      expect(matchesOf(new Linear(source, flags), within)).toStrictEqual(expected);
    }),
    { numRuns: 3_000 },
  );
});

describe('in an expression', () => {
  const over = { text: 'Order 17-b of Ülle, and 4-c.\nSecond order: 5-d', at: 'Carl@ACME.com', emoji: 'a😀b' };
  const rows = [
    '$match(text, /(\\d+)-([a-z])/)',
    '$match(text, /(\\d+)-([a-z])/, 2).groups[0]',
    '$match(text, /(?<number>\\d+)/)',
    '$match(text, /(x)?order/i)',
    '$match(text, /^second/im).index',
    '$match(text, /[a-z]*/)',
    '$contains(at, /@acme\\.com$/i)',
    '$contains(at, /@acme\\.com$/)',
    '$contains(text, /of\\s\\w/)',
    '$split(text, /[,.]\\s*/)',
    '$split(text, /\\s/, 3)',
    '$replace(text, /(\\d+)-([a-z])/, "$2$1")',
    '$replace(text, /\\d/, function($m) { $string($number($m.match) + 1) })',
    '$replace(text, /[aeiou]/i, "", 3)',
    '$map(["a1", "b"], function($v) { $contains($v, /\\d/) })',
    '$replace(emoji, /\\u{1F600}|😀/, "!")',
    '$match(text, /a/).groups',
    '$replace(text, /b*/, "x")',
  ];
  test.each(rows)("%s gives what JSONata gives with JavaScript's own", async (source) => {
    const expected = jsonata(source)
      .evaluate(over)
      .then(
        (value: unknown) => JSON.stringify(value),
        ({ code }: { code: string }) => code,
      );
    const given = compileExpression(source)
      .evaluate(over)
      .then(
        (value) => JSON.stringify(value),
        (error: Error) => /error (\w+)$/.exec(error.message)?.[1],
      );
    expect(await given).toBe(await expected);
  });

  // It would take a backtracking engine longer than the world is old.
  const hostile: [pattern: string, text: string][] = [
    ['^(a+)+$', `${'a'.repeat(50_000)}!`],
    ['(x+x+)+y', 'x'.repeat(50_000)],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(50_000)],
    ['(.*)*!', '?'.repeat(50_000)],
  ];
  test.each(hostile)('/%s/ comes to its end over any text', async (source, over) => {
    expect(await compileExpression(`$contains(text, /${source}/)`).evaluate({ text: over })).toBe(false);
  });

  test('what a date is read by is no way around it', async () => {
    const dates = compileExpression('$toMillis(text, "[Y][M][D][H][m][s][f]")');
    const said = await dates.evaluate({ text: `${'1'.repeat(5_000)}x` }).catch(({ message }: Error) => message);
    expect(said).toBe(undefined);
  });
});

describe('what needs going back and forth is a mistake that says what to write instead', () => {
  const rows: [source: string, message: string][] = [
    [
      '$contains(a, /b(?=c)/)',
      'the regular expression /b(?=c)/ looks ahead: (?=…), which could take for ever over some texts: join two conditions with "and", or match what follows as well and take a group of $match()',
    ],
    ['$contains(a, /^(?!b)/)', '"and $not($contains(…))"'],
    ['$contains(a, /(?<=b)c/)', 'match what stands before as well'],
    ['$contains(a, /(?<!b)c/)', 'looks behind'],
    ['$contains(a, /(b)\\1/)', 'compare two groups of $match()'],
    ['$contains(a, /(?<x>b)\\k<x>/)', 'refers back to a group'],
    ['$contains(a, /b{2000}/)', 'has a part that is not supported: '],
  ];
  test.each(rows)('%s', (source, message) => {
    expect(() => compileExpression(source)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(message),
        advice: { kind: 'config' },
      }),
    );
  });
});
