import jsonata from 'jsonata';
import { describe, expect, test, vi } from 'vitest';
import { plainEvaluation } from '../../../../core/mapping/expression-plain.ts';
import { checkAgainstJsonata } from '../../../support/core/jsonata-oracle.ts';

describe('what is evaluated without JSONata', () => {
  // Many more: test/system/fuzz, in `npm run test:long`.
  test('is exactly what JSONata gives, faults and their places included (audit 26)', async () => {
    expect(await checkAgainstJsonata(1_000)).toBeGreaterThan(800);
  });

  const rows = [
    'ticket.group.name',
    'ticket.group.name = "Phone" and $not("no_survey" in ticket.tags)',
    'ticket.status in ["solved", "closed"]',
    'requester.phone ? requester.phone : requester.email',
    'ticket.id & "-" & requester.name',
    '$exists(ticket.fields.store)',
  ];
  test.each(rows)('is %s (audit 26)', (source) => expect(plainEvaluation(jsonata(source).ast())).toBeDefined());

  const others = [
    '/a+/',
    '$match(a, /a/)',
    '$uppercase(a)',
    'a[0]',
    'a[b = 1]',
    'a.*',
    '**',
    'a^(b)',
    'a{b: c}',
    '{"a": b}',
    '[1..5]',
    'a[]',
    '($x := 1; $x)',
    'a.(b)',
    '$now()',
    'function($x) { $x }',
    '$not',
    '$not(a, b)',
    '$$$',
  ];
  test.each(others)('is not %s (audit 26)', (source) => {
    expect(plainEvaluation(jsonata(source, { recover: true }).ast())).toBeUndefined();
  });
});

test('entries of lists that lie in lists are copied as often as the path has steps, however deep they lie (audit loop)', () => {
  let nested: unknown = Array.from({ length: 1_000 }, (_, i) => ({ id: i }));
  for (let level = 0; level < 100; level++) nested = [nested];
  const run = plainEvaluation(jsonata('order.id').ast()) ?? expect.fail('it is plain');
  const push = vi.spyOn(Array.prototype, 'push');
  const found = run({ order: nested });
  const pushes = push.mock.calls.length;
  push.mockRestore();
  expect(found).toEqual({ ok: true, value: Array.from({ length: 1_000 }, (_, i) => i) });
  expect(pushes).toBeLessThan(3_000);
});
