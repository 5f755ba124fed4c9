import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { CloseloopError } from '../../../../core/errors.ts';
import { compileExpression } from '../../../../core/mapping/expression-compile.ts';
import { ExpressionSetAside, functionNames } from '../../../../core/mapping/expression-failure.ts';

const ticket = {
  ticket: {
    id: '41960',
    group: { name: 'Phone' },
    tags: ['vip', 'north'],
    fields: { store: 'Kadriorg', pin: null },
    lines: [
      { sku: 'a', count: 1 },
      { sku: 'b', count: 2 },
    ],
  },
};

async function failureOf(run: () => unknown): Promise<CloseloopError> {
  try {
    await run();
  } catch (error) {
    if (error instanceof CloseloopError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

describe('an expression', () => {
  const rows: [name: string, source: string, expected: unknown][] = [
    ['reads a value by its path', 'ticket.fields.store', 'Kadriorg'],
    ['is absent where nothing is found', 'ticket.fields.shop', undefined],
    ['keeps null', 'ticket.fields.pin', null],
    ['gives a condition', 'ticket.group.name = "Phone" and $not("no_survey" in ticket.tags)', true],
    ['gives a plain list', 'ticket.lines.sku', ['a', 'b']],
    ['gives one match as itself', 'ticket.lines[count > 1].sku', 'b'],
    ['gives a list of one where asked to', 'ticket.lines[count > 1].sku[]', ['b']],
    ['gives an object', 'ticket.group', { name: 'Phone' }],
    ['may use its own variables and functions', '($f := function($n) { $n < 2 ? 1 : $n * $f($n - 1) }; $f(5))', 120],
    [
      'recurses in its tail as long as it likes',
      '($f := function($n) { $n = 0 ? "end" : $f($n - 1) }; $f(500))',
      'end',
    ],
    ['encodes base64', '$base64decode($base64encode("a:b"))', 'a:b'],
    ['formats numbers', '$formatNumber(1234.5, "#,##0.00")', '1,234.50'],
  ];
  for (const [name, source, expected] of rows) {
    test(name, async () => expect(await compileExpression(source).evaluate(ticket)).toStrictEqual(expected));
  }

  test('gives a result without the marks of the evaluator', async () => {
    const result = await compileExpression('ticket.lines.sku').evaluate(ticket);
    expect(Object.getOwnPropertyNames(result)).toStrictEqual(['0', '1', 'length']);
    expect(Object.getPrototypeOf(result)).toBe(Array.prototype);
  });

  test('gives a copy of the input, never a part of it', async () => {
    expect(await compileExpression('ticket.group').evaluate(ticket)).not.toBe(ticket.ticket.group);
  });

  test('remembers nothing from one run to the next, nor between runs at the same time', async () => {
    const expression = compileExpression('($seen := $exists($seen) ? $seen & id : id; $seen)');
    const runs = Array.from({ length: 50 }, (_, id) => expression.evaluate({ id: String(id) }));
    expect(await Promise.all(runs)).toStrictEqual(Array.from({ length: 50 }, (_, id) => String(id)));
    expect(await compileExpression('(true ? $exists($seen) : ($seen := 1))').evaluate({})).toBe(false);
  });
});

describe('a mistake in an expression', () => {
  const rows: [name: string, source: string, message: RegExp][] = [
    ['is shown with its place', 'ticket.(name', /`ticket\.\(name` has a mistake near character 12: Expected "\)"/],
    ['is found in an empty text', '', /mistake.*end of expression/],
    ['is found in text that only looks like one', 'North East', /near character 10: Syntax error: "East"/],
    ['is found in a broken regular expression', '$match(a, /[/)', /mistake/],
    [
      'is a function that nobody has, with the one that may be meant',
      '$lowercas(ticket.id) = "a"',
      /near character 9: \$lowercas is no function of JSONata, and the expression does not define it; did you mean "\$lowercase"\?$/,
    ],
    ['is a function that nobody has and that is passed on', '$map(list, $trimm)', /\$trimm .* mean "\$trim"\?$/],
    [
      'is a function that nobody has at the end of a chain',
      'name ~> $trim ~> $uper',
      /character 22: \$uper is no function/,
    ],
    ['is a function that nobody has, applied in part', '$nofunc(?, 2)', /near character 7: \$nofunc is no function/],
    ['is a variable that nothing binds', '($order := 5; $oder + 1)', /\$oder is .* mean "\$order"\?$/],
    ['is found in endless brackets', '('.repeat(20_000), /has a mistake: not a JSONata expression/],
  ];
  for (const [name, source, message] of rows) {
    test(name, async () => {
      const error = await failureOf(() => compileExpression(source));
      expect(error.message).toMatch(message);
      expect(error.message.length).toBeLessThan(300);
      expect(error.advice).toStrictEqual({ kind: 'config' });
    });
  }
});

test('every function of JSONata is known, and no other', async () => {
  const code = readFileSync(createRequire(import.meta.url).resolve('jsonata'), 'utf8');
  const bound = [...code.matchAll(/(?:staticFrame|environment)\.bind\('(\w+)'/g)].map(([, name]) => name);
  expect([...functionNames].sort()).toStrictEqual([...new Set(bound)].sort());
});

test.each([
  ['parameters of a function', '$map(list, function($v, $i, $all) { $v & $i & $count($all) })'],
  ['parameters of a function with λ', 'λ($x)<n:n>{ $x * 2 }(4)'],
  ['variables of a block', '($a := 1; $b := $a + 1; ($c := $b; $c))'],
  ['a function that calls itself', '($f := function($n) { $n < 2 ? 1 : $n * $f($n - 1) }; $f(5))'],
  ['a chain of functions', '($both := $trim ~> $uppercase; name ~> $both)'],
  ['a function applied in part', '($first := $substring(?, 0, 1); $first(name))'],
  ['the record and the context', '$$.name = $ or $.name in $$.list'],
  ['a focus', 'list@$l.name@$n[$l = $n].{"l": $l, "n": $n}'],
  ['a place', 'list#$i[$i < 2].{"at": $i}'],
  ['a place after a condition', 'list[$ > 1]#$i.{"at": $i}'],
  ['a sorted place', 'list^(>$)#$i.$i'],
  ['a parent', 'list.lines.{"of": %.name}'],
  ['a change of a copy', '$ ~> |list|{"price": $sum(lines)}, ["x"]|'],
  ['groups', 'list{name: $sum(lines)}'],
  ['a text, a name and a comment', '"$nofunc()" & `$nofunc` /* $nofunc() */ & $match(name, /$nofunc/)'],
  ['the clock', '$now() & $millis()'],
])('no name is refused that is defined: %s', (_what, source) => {
  expect(() => compileExpression(source)).not.toThrow();
});

const record = { name: 'Mari Maasikas', when: 'eile', list: ['x', 1], text: `${'a'.repeat(40)}!` };

describe('the message of a failure', () => {
  const noFunction = 'it calls something that is no function';
  const reasons: [source: string, reason: string][] = [
    ['-name', 'near character 1: only a number can be negated'],
    ['{"a": 1, name: 2, "Mari Maasikas": 3}', 'near character 1: two entries of an object have the same key'],
    ['{1: 2}', 'near character 1: a key of an object is not a text'],
    ['[1..1e9]', 'near character 4: a range (..) is too long'],
    ['[name..3]', 'near character 7: the start of a range (..) is not a whole number'],
    ['[1..name]', 'near character 4: the end of a range (..) is not a whole number'],
    ['$toMillis("5 10", "[H] [Y]")', 'near character 10: the date picture lacks a part'],
    ['$single(list)', 'near character 8: $single() found more than one'],
    ['$single([])', 'near character 8: $single() found none'],
    ['$assert(false, name)', 'near character 8: its own $assert() failed'],
    ['uppercase(name)', `near character 10: ${noFunction} (a $ is missing before its name?)`],
    ['foo(name)', `near character 4: ${noFunction}`],
    ['[1, name]^($)', 'near character 10: an order-by meets values of different kinds'],
    ['[{"a":true},{"a":false}]^(a)', 'near character 25: an order-by meets values that are neither numbers nor texts'],
    ['$contains(5, "a")', 'near character 10: an argument of $contains() is of the wrong kind'],
    ['$each(5, 6)', 'near character 6: an argument of $each() is of the wrong kind'],
    ['$base64encode(5)', 'near character 14: an argument of $base64encode() is of the wrong kind'],
    ['$clone(5)', 'near character 7: an argument of $clone() is of the wrong kind'],
    ['name ~> |a|b|', ': an argument of a function is of the wrong kind'],
    ['$uppercase()', 'near character 11: $uppercase() misses its context value'],
    ['$sum(list)', 'near character 5: $sum() got a list with entries of the wrong kind'],
    ...['+', '-', '*', '/', '%'].map((sign): [string, string] => [
      `1 ${sign} name`,
      `near character 3: ${sign} needs numbers on both sides`,
    ]),
    ...['<', '<=', '>', '>='].map((sign): [string, string] => [
      `1 ${sign} name`,
      `near character ${2 + sign.length}: ${sign} compares values of different kinds`,
    ]),
    ['true >= false', 'near character 7: >= compares values of different kinds'],
    ['($f := function($a)<n:n>{$a}; $f(name))', 'near character 33: an argument of a function is of the wrong kind'],
    ['($f := function($a)<s-:s>{$a}; $f())', 'near character 34: a function misses its context value'],
    [
      '($f := function($a)<a<n>:n>{$a}; $f(list))',
      'near character 36: a function got a list with entries of the wrong kind',
    ],
    ['$sqrt(-1)', "near character 6: JSONata's error D3060"],
    ['$base64encode("€")', "near character 14: JSONata's error unknown"],
    ['"a" ~> "b"', "near character 6: JSONata's error T2006"],
  ];
  test.each(reasons)('%s says %s', async (source, reason) => {
    const error = await failureOf(() => compileExpression(source).evaluate(record));
    expect(error.message).toBe(`The expression \`${source}\` failed${reason.startsWith(':') ? '' : ' '}${reason}`);
    expect([error.advice, error.outcome]).toStrictEqual([{ kind: 'permanent' }, 'never-sent']);
  });

  test.each([
    ['(\n  name\n)  + 1', '`( name ) + 1`'],
    [`name + ${'1'.repeat(73)}`, `\`name + ${'1'.repeat(73)}\``],
    [`name + ${'1'.repeat(74)}`, `\`name + ${'1'.repeat(72)}…\``],
  ])('is quoted in a line of 80 characters at most: %j', async (source, quoted) => {
    const { message } = await failureOf(() => compileExpression(` ${source} `).evaluate(record));
    expect(message).toContain(`The expression ${quoted} failed near`);
  });
});

describe('an expression that fails for a record', () => {
  const rows: [name: string, source: string, message: RegExp][] = [
    ['says that a value is not a number', '$number(name)', /a value is not a number/],
    ['says that a text is no timestamp', '$toMillis(when)', /not an ISO 8601 timestamp/],
    ['does not pass on its own error text', '$error(name)', /its own \$error\(\) was called/],
    ['says that a division by nothing is out of range', '1 / (list[1] - 1)', /out of range/],
    ['says that a function is no value', '$uppercase', /a function, not a value/],
    ['says that a lambda is no value', 'function($x) { $x }', /a function, not a value/],
    ['is stopped in a nesting without end', '($f := function($x) { $f($x + 1) + 1 }; $f(1))', /nests too deep/],
    ['is stopped in a doubled list', '($f := function($x) { $f($append($x, $x)) }; $f([1, 2]))', /list is too long/],
    ['is stopped in a text that doubles', '($f := function($x) { $f($x & $x) }; $f("ab"))', /too much text/],
    ['is stopped in a range that is far too long', '[1..9999999]', /list is too long/],
    ['is stopped when it gives too much', '$pad("", 2000000, "x")', /too much text/],
  ];
  for (const [name, source, message] of rows) {
    test(name, async () => {
      const error = await failureOf(() => compileExpression(source).evaluate(record));
      expect(error.message).toMatch(message);
      expect(error.message).not.toMatch(/Mari|eile|aaaa/);
      expect(error.advice).toStrictEqual({ kind: 'permanent' });
    });
  }

  test('leaves nothing behind: the next one works', async () => {
    const endless = compileExpression('($f := function($x) { $f($x + 1) }; $f(1))');
    const results = await Promise.allSettled([endless.evaluate({}), compileExpression('a').evaluate({ a: 1 })]);
    expect(results.map(({ status }) => status)).toStrictEqual(['rejected', 'fulfilled']);
  });
});

describe('an expression that takes too much time or memory is set aside, for a person to look at,', () => {
  // More of them: test/system/core/mapping/expression-limits.test.ts, in `npm run test:long`.
  const late = /was stopped, as it ran for too long\. Look for/;
  const rows: [name: string, source: string, message: RegExp][] = [
    ['with a recursion without end', '($f := function($x) { $f($x + 1) }; $f(1))', late],
    ['with lists of lists', '[1..99999].([1..99999])', /was stopped, as it used up the memory/],
  ];
  test.each(rows)('%s (audit 26)', async (_name, source, message) => {
    const error = await failureOf(() => compileExpression(source).evaluate(record));
    expect(error).toBeInstanceOf(ExpressionSetAside);
    expect(error.message).toMatch(message);
    expect(error.message).not.toMatch(/aaaa/);
    expect(error.advice).toStrictEqual({ kind: 'config' });
  });
});

describe('the constant of an expression', () => {
  const rows: [name: string, source: string, expected: unknown][] = [
    ['is a text', '"North"', { ok: true, value: 'North' }],
    ['is a sum', '-(2 + 3)', { ok: true, value: -5 }],
    ['is null', 'null', { ok: true, value: null }],
    ['is a list', '["a", "b"]', { ok: true, value: ['a', 'b'] }],
    ['is true', 'true', { ok: true, value: true }],
    ['is an object', '{"a": 1}', { ok: true, value: { a: 1 } }],
    ['is one of two', '1 = 1 ? "a" : "b"', { ok: true, value: 'a' }],
    ['is the last of several', '("a"; "b")', { ok: true, value: 'b' }],
    ['is not there for the record itself', '$', undefined],
    ['is not there for a path', 'North', undefined],
    ['is not there where a part reads the record', '"No. " & id', undefined],
    ['is not there for the clock', '$now()', undefined],
  ];
  for (const [name, source, expected] of rows) {
    test(name, () => expect(compileExpression(source).constant).toStrictEqual(expected));
  }

  test('says why it has none', () => {
    expect(compileExpression('1 / 0').constant).toMatchObject({
      ok: false,
      why: expect.stringMatching(/out of range/),
    });
  });
});
