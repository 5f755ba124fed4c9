import { expect, test } from 'vitest';
import { compileExpression } from '../../../../core/mapping/expression-compile.ts';
import { bombed } from '../../../support/core/expression-bombs.ts';

const endless: [what: string, source: string][] = [
  ['two functions that call each other', '($f := function() { $g() }; $g := function() { $f() }; $f())'],
  ['a list without end', '($f := function($x) { $f($append($x, 1)) }; $f([]))'],
];
test.each(endless)('%s: the expression is stopped, and set aside (audit 26)', async (_, source) => {
  await expect(compileExpression(source).evaluate({})).rejects.toMatchObject({
    name: 'ExpressionSetAside',
    message: expect.stringMatching(
      /was stopped, as it (ran for too long|used up the memory that expressions have)\. Look for/,
    ),
    advice: { kind: 'config' },
  });
});

test('no expression ends the process, or takes much of its memory, however much it was started with (audit 26)', async () => {
  expect(await bombed(['--max-old-space-size=2000', '--max-semi-space-size=64'])).toEqual([0, '[10,true]']);
});
