import { expect, test } from 'vitest';
import { compileExpression } from '../../../../../core/mapping/expression-compile.ts';
import { Rule } from '../../../../../worker/config/rule.ts';
import { deadRules } from '../../../../../worker/pipeline/plan/check-rules.ts';
import { loadRule } from '../../../../../worker/pipeline/rules.ts';

const vip = '"vip" in ticket.tags';

test.each<[string, (string | undefined)[], string[], string[]]>([
  ['none among conditions that differ', [vip, 'ticket.price > 3', undefined], [], []],
  ['none in a catch-all that stands last', [vip, 'true'], [], []],
  ['what stands below a rule without a condition', [undefined, vip], [], ['r1: rule "r0" above takes every closing']],
  ['what stands below a literal true', ['1 = 1', vip], [], ['r1: rule "r0" above takes every closing']],
  ['the same condition twice', [vip, ` ${vip} `], [], ['r1: rule "r0" above has the same condition']],
  [
    'a condition that is false of every closing',
    ['"a" = "b"', '0'],
    [],
    ['r0: its condition is false for every closing', 'r1: its condition is false for every closing'],
  ],
  ['the condition of never', [vip, undefined], [vip], ['r0: never has the same condition']],
  [
    'all, where never takes every closing',
    [vip, undefined],
    ['true'],
    ['r0: `true` in never is true of every closing', 'r1: `true` in never is true of every closing'],
  ],
  ['none for a condition that fails whatever the record is', ['-"a" = 1', vip], [], []],
])('deadRules finds %s', (_, whens, never, expected) => {
  const rules = whens.map((when, i) =>
    loadRule(Rule.parse({ name: `r${i}`, campaign: 1, contact: 'a', ...(when && { when }) })),
  );
  const found = deadRules(
    rules,
    never.map((when) => ({ when: compileExpression(when) })),
  );
  expect(
    found.map(({ index, problem }) => problem.replace(`rule "r${index}" asks about nothing`, `r${index}`)),
  ).toEqual(expected);
});
