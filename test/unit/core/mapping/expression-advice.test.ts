import fc from 'fast-check';
import jsonata from 'jsonata';
import { describe, expect, test } from 'vitest';
import { adviceOn, alternativesIn, callAdvice, fixedTextAdvice } from '../../../../core/mapping/expression-advice.ts';
import { compileExpression, ExpressionSource } from '../../../../core/mapping/expression-compile.ts';

function parses(source: string): boolean {
  try {
    return jsonata(source) !== undefined;
  } catch {
    return false;
  }
}

const own = "A fixed text has quotes of its own, within those of the file: '";

describe('an expression that JSONata can not read is shown as it would be right', () => {
  test.each<[what: string, source: string, right: string]>([
    ['==', 'ticket.priority == "high"', 'ticket.priority = "high"'],
    ['===', 'a === 3', 'a = 3'],
    ['!==', 'a !== 3', 'a != 3'],
    ['<>', 'a <> 3', 'a != 3'],
    ['&&', 'a = "x" && b > 3', 'a = "x" and b > 3'],
    ['&& without spaces', 'a&&b', 'a and b'],
    ['||', 'a = "x" || b', 'a = "x" or b'],
    ['several at once', 'a == 1 && b == 2 || !c', 'a = 1 and b = 2 or $not(c)'],
    ['! before a path', '!ticket.x', '$not(ticket.x)'],
    ['! before a path with a place', '!a.b[0].c', '$not(a.b[0].c)'],
    ['! before a call', '!$exists(a.b) and c', '$not($exists(a.b)) and c'],
    ['! before brackets', '!(a or b)', '$not(a or b)'],
    ['! before "in"', '!"vip" in ticket.tags', '$not("vip" in ticket.tags)'],
    ['not', 'not ticket.x', '$not(ticket.x)'],
    ['not before "in"', 'not "vip" in tags', '$not("vip" in tags)'],
    ['not in', '"vip" not in tags', '$not("vip" in tags)'],
    ['capitals', 'a AND b OR "c" IN d', 'a and b or "c" in d'],
    ['is null', 'a.b is null', '$not($exists(a.b))'],
    ['is not null', 'a.b IS NOT NULL', '$exists(a.b)'],
    ['?.', 'ticket?.group?.name', 'ticket.group.name'],
    ['braces of a template', '{{requester.email}}', 'requester.email'],
    ['quotes of a word processor', 'a = “on hold”', 'a = "on hold"'],
    ['a name of digits', 'ticket.fields.360001 = "a"', 'ticket.fields.`360001` = "a"'],
    ['contains', 'ticket.subject contains "refund"', '$contains(ticket.subject, "refund")'],
    ['a fixed text without quotes', 'status = on hold and b', 'status = "on hold" and b'],
  ])('%s', (_what, source, right) => {
    expect(adviceOn(source, parses)).toMatch(/^Write /);
    expect(adviceOn(source, parses)?.endsWith(`: \`${right}\``)).toBe(true);
    expect(() => compileExpression(source)).toThrow(`: \`${right}\``);
  });

  test.each([
    ['a text', 'a == "b && !c"', 'a = "b && !c"'],
    ['a text in single quotes', "a == 'b || c' && d", "a = 'b || c' and d"],
    ['a name in backticks', '`a == b` == 1', '`a == b` = 1'],
    ['a regular expression', '$match(a, /x==y|!z/) == b', '$match(a, /x==y|!z/) = b'],
    ['a comment', '/* a == b */ a == b', '/* a == b */ a = b'],
  ])('%s in it stays as it is', (_what, source, right) => {
    expect(adviceOn(source, parses)).toBe(
      `Write "=" for "=="${right.includes(' and ') ? ', "and" for "&&"' : ''}: \`${right}\``,
    );
  });

  test('whatever is right in JSONata is found again when it was written with the operators of other languages', () => {
    const name = fc.constantFrom('a', 'ticket.x', '`b c`', '$count(d)', '"p == q"', '5');
    const comparison = fc.tuple(name, fc.constantFrom('=', '!='), name).map((parts) => parts.join(' '));
    const condition = fc
      .array(fc.tuple(comparison, fc.constantFrom(' and ', ' or ')), { minLength: 1, maxLength: 5 })
      .map((parts) => parts.map(([one, joint], i) => (i === 0 ? one : joint + one)).join(''));
    const foreign = (right: string) =>
      right
        .split(/("p == q"|`b c`)/)
        .map((part, i) =>
          i % 2 === 1
            ? part
            : part
                .replaceAll(/(?<!!)=/g, '==')
                .replaceAll(' and ', ' && ')
                .replaceAll(' or ', '||'),
        )
        .join('');
    fc.assert(
      fc.property(condition, (right) => {
        const written = foreign(right);
        fc.pre(written !== right);
        expect(adviceOn(written, parses)?.endsWith(`: \`${right}\``)).toBe(true);
      }),
    );
  });

  test('no text makes it fail, take long, or show an expression that JSONata can not read', () => {
    const piece = fc.constantFrom(...'a .()[]!=&|"\'`/\u{e000}1', '{{', '}}', 'not ', ' is null');
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }).map((parts) => parts.join('')),
        (source) => {
          const shown = /^Write .*?: `(.*)`$/s.exec(adviceOn(source, parses) ?? '')?.[1];
          expect(shown === undefined || parses(shown)).toBe(true);
        },
      ),
    );
  });
});

test.each([
  ['several words', 'Main Street', '"Main Street"'],
  ['an apostrophe', "Customer's desk", '"Customer\'\'s desk"'],
  ['a number in front', '10115 Berlin', '"10115 Berlin"'],
  ['an address', 'carl@example.com', '"carl@example.com"'],
  ['a phone number', '+372 5555 5555', '"+372 5555 5555"'],
  ['a time', '12:00', '"12:00"'],
  ['a word that is an operator elsewhere', 'not in stock', '"not in stock"'],
])('a fixed text without quotes of its own is told by %s', (_what, source, right) => {
  expect(adviceOn(source, parses)).toBe(`${own}${right}'`);
});

test('a name with a space gets backticks', () => {
  expect(adviceOn('ticket.fields.order no', parses)).toMatch(/ticket\.fields\.`order no`$/);
});

test.each(['ticket.(name', 'a = (', ''])('nothing is said where nothing is known: %j', (source) => {
  expect(adviceOn(source, parses)).toBeUndefined();
});

test('of a name that no record has the text is told that it may be', () => {
  expect(fixedTextAdvice('Main-Street', 'Main')).toBe(`${own}"Main-Street"'`);
  expect(fixedTextAdvice('ticket.group.name = Phone', 'Phone')).toBe('A fixed text has quotes: "Phone"');
});

describe('a setting that holds an expression', () => {
  test.each<[what: string, written: unknown, message: RegExp | undefined]>([
    ['a function without its $', 'length(ticket.subject) > 3', /write \$length: `\$length\(ticket\.subject\) > 3`$/],
    ['not as a function', 'not(ticket.x) and length(a) > 1', /write \$not, \$length: /],
    ['a method', 'ticket.subject.contains("x")', /`ticket\.subject\.\$contains\("x"\)`$/],
    ['a number', 5, /^must be a text: a fixed number is written "5"/],
    ['true', true, /what is always true "true"$/],
    ['nothing', '', /^is empty/],
    ['the quotes of a word processor', 'a = “open”', /straight ones: `a = "open"`$/],
    ['a function', '$length("length(a)") > 3', undefined],
    ['a name before brackets', 'order.(a and (b))', undefined],
    ['a function of its own', '($f := function($x) { $x }; $f(a))', undefined],
  ])('says what would be right: %s', (_what, written, message) => {
    const issues = ExpressionSource.safeParse(written).error?.issues ?? [];
    expect(issues.map((issue) => issue.message)).toEqual(message === undefined ? [] : [expect.stringMatching(message)]);
  });
});

test('a function without its $ that is called as if it was one of the record has no other reading', () => {
  expect(callAdvice('`not`(a) and foo(b)', new Set(['not']))).toBeUndefined();
});

test.each<[source: string, parts: string[] | undefined]>([
  ['requester.email or requester.phone', ['requester.email', 'requester.phone']],
  ['a.b and c["x or y"] or d', ['a.b', 'c["x or y"]', 'd']],
  ['phones[type = "a" or type = "b"].number', undefined],
  ['a ? b or c : d', undefined],
  ['"a or b"', undefined],
  ['order.email', undefined],
])('the alternatives in %s', (source, parts) => {
  expect(alternativesIn(source)).toEqual(parts);
});
