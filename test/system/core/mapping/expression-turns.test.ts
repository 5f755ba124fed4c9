import { describe, expect, test } from 'vitest';
import { evaluateAll, evaluateFirst } from '../../../../core/mapping/expression.ts';
import { compileExpression } from '../../../../core/mapping/expression-compile.ts';
import { ExpressionSetAside } from '../../../../core/mapping/expression-failure.ts';
import { bombed, ran } from '../../../support/core/expression-bombs.ts';

/** Over a large number without end, as far as anybody waits. */
const counting = (name: string): string =>
  `($${name} := function($n) { $n = 0 ? "done" : $${name}($n - 1) }; $${name}(n))`;
const endless = { n: 1e12 };

describe('while an expression runs away', () => {
  test('the process goes on with its work in between (audit 26)', async () => {
    let turns = 0;
    const turning = setInterval(() => turns++, 1);
    await expect(compileExpression(counting('a')).evaluate(endless)).rejects.toThrow(ExpressionSetAside);
    clearInterval(turning);
    // Held up until the expression was stopped, it would have come to one.
    expect(turns).toBeGreaterThan(20);
  });

  test('expressions over other records end before it does, whether they came before or after (audit 26)', async () => {
    const ended: string[] = [];
    const others = (when: string) =>
      Array.from({ length: 200 }, async (_, n) => {
        await compileExpression('$string(n)').evaluate({ n });
        ended.push(when);
      });
    const before = others('before');
    const bad = compileExpression(counting('b')).evaluate(endless);
    const after = others('after');
    await expect(bad.finally(() => ended.push('bad'))).rejects.toThrow(ExpressionSetAside);
    await Promise.all([...before, ...after]);
    expect(ended.indexOf('bad')).toBe(400);
  });

  test('those of the same expression that wait for their turn are refused with it, without being tried (C 10)', async () => {
    const bad = compileExpression(counting('c'));
    const burst = Array.from({ length: 40 }, () => bad.evaluate(endless).catch((error: Error) => error.message));
    const said = await Promise.all(burst);
    expect(said.filter((message) => /ran for too long/.test(String(message)))).toHaveLength(1);
    expect(said.filter((message) => /is set aside, as it was stopped just before/.test(String(message)))).toHaveLength(
      39,
    );
  });

  test('it is as good as before over other records, and is stopped sooner from then on (audit 26, C 10)', async () => {
    const bad = compileExpression(counting('d'));
    const cpuMs = async (): Promise<number> => {
      const before = process.threadCpuUsage();
      await expect(bad.evaluate(endless)).rejects.toThrow(ExpressionSetAside);
      const { user, system } = process.threadCpuUsage(before);
      return (user + system) / 1_000;
    };
    const first = await cpuMs();
    expect(await bad.evaluate({ n: 3 })).toBe('done');
    expect(await cpuMs()).toBeLessThan(first / 2);
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

test('a record that is too large for any rule is refused (audit 26)', async () => {
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

describe('an expression has nothing', () => {
  const rows = [
    '$lookup($$, "constructor")',
    '$string.constructor',
    '$sum.implementation.constructor("return process")()',
    '$.__proto__.constructor',
  ];
  test.each(rows)('that %s could reach (audit 26)', async (source) => {
    const said = await compileExpression(source)
      .evaluate({ a: 1 })
      .catch(() => 'failed');
    expect([undefined, null, 'failed']).toContainEqual(said);
  });
});
