import { describe, expect, test } from 'vitest';
import {
  compileExpression,
  ExpressionSetAside,
  evaluateAll,
  evaluateFirst,
} from '../../../../core/mapping/expression.ts';
import { bombed, ran } from '../../../support/core/expression-bombs.ts';

const slow = (text: string): string => `$contains(text, /^(${text}+)+$/)`;
const textFor = (text: string): object => ({ text: `${text.repeat(60)}!` });

describe('while an expression runs away', () => {
  test('this thread goes on with its work (audit 26)', async () => {
    let turns = 0;
    const turning = setInterval(() => turns++, 1);
    await expect(compileExpression(slow('a')).evaluate(textFor('a'))).rejects.toThrow(ExpressionSetAside);
    clearInterval(turning);
    // Stopped along with it, it would have come to one.
    expect(turns).toBeGreaterThan(20);
  });

  test('others that need the thread are evaluated all the same, whatever it was doing for them (audit 26)', async () => {
    const others = Array.from({ length: 200 }, (_, i) => compileExpression('$string(n)').evaluate({ n: i }));
    const bad = compileExpression(slow('b')).evaluate(textFor('b'));
    const later = Array.from({ length: 200 }, (_, i) => compileExpression('$string(n)').evaluate({ n: i }));
    await expect(bad).rejects.toThrow(ExpressionSetAside);
    expect(await Promise.all([...others, ...later])).toHaveLength(400);
  });

  test('it is evaluated apart from then on, and is as good as before over other records (audit 26)', async () => {
    const bad = compileExpression(slow('c'));
    await expect(bad.evaluate(textFor('c'))).rejects.toThrow(ExpressionSetAside);
    const again = bad.evaluate(textFor('c')).catch((error: unknown) => error);
    const waiting = bad.evaluate({ text: 'ccc' }).catch((error: unknown) => error);
    // Another needs not wait until this one is stopped once more.
    expect(await compileExpression('$uppercase("x")').evaluate({})).toBe('X');
    expect(await again).toBeInstanceOf(ExpressionSetAside);
    expect(await waiting).toBeInstanceOf(ExpressionSetAside);
    expect(await bad.evaluate({ text: 'ccc' })).toBe(true);
  });
});

test('all expressions of the rule whose condition is true are evaluated together (audit 26)', async () => {
  const [no, yes, name, never] = ['$length(a) > 9', '$length(a) = 1', '$uppercase(a)', '$error("looked at")'].map(
    compileExpression,
  );
  if (!no || !yes || !name || !never) return expect.unreachable();
  const { verdicts, findings } = await evaluateFirst(
    [
      { when: no, then: [never] },
      { when: compileExpression('a = "y"'), then: [never] },
      { when: yes, then: [name, compileExpression('a')] },
      { when: never, then: [never] },
    ],
    { a: 'x' },
  );
  expect(verdicts).toEqual([
    { ok: true, value: false },
    { ok: true, value: false },
    { ok: true, value: true },
  ]);
  expect(findings.of(name)).toEqual({ ok: true, value: 'X' });
});

test('a condition that fails stops the search, as a later rule could be the wrong one (audit 26)', async () => {
  const good = compileExpression('$length(a) = 1');
  for (const bad of ['$number(a) > 1', 'a > 1'].map(compileExpression)) {
    const { verdicts } = await evaluateFirst(
      [
        { when: bad, then: [] },
        { when: good, then: [] },
      ],
      { a: 'x' },
    );
    expect(verdicts).toEqual([{ ok: false, why: expect.stringMatching(/not a number|different kinds/) }]);
  }
});

test('a record that is too large for any rule is refused, and not copied to the thread (audit 26)', async () => {
  const expression = compileExpression('$length(a)');
  const found = (await evaluateAll([expression], { a: 'x'.repeat(3_000_000) })).of(expression);
  expect(found).toEqual({ ok: false, why: expect.stringMatching(/longer than 2000000 characters/) });
});

// However much memory it was started with: expression-limits.test.ts, in `npm run test:long`.
test('no expression ends the process, or takes much of its memory (audit 26)', async () => {
  expect(await bombed()).toEqual([0, '[10,true]']);
});

test('it keeps no process alive that has nothing more to do (audit 26)', async () => {
  const { code, said } = await ran(`console.log(await compileExpression('$uppercase("x")').evaluate({}));`);
  expect([code, said.trim()]).toEqual([0, 'X']);
});

describe('the thread has nothing', () => {
  const rows = [
    '$eval("process")',
    '$eval("require(\\"fs\\")")',
    '$lookup($$, "constructor")',
    '$string.constructor',
    '$sum.implementation.constructor("return process")()',
    '$eval.environment',
    '$.__proto__.constructor',
  ];
  test.each(rows)('that %s could reach (audit 26)', async (source) => {
    const said = await compileExpression(source)
      .evaluate({ a: 1 })
      .catch(() => 'failed');
    expect([undefined, null, 'failed']).toContainEqual(said);
  });
});
