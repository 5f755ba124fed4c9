import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Campaign } from '../../../../../core/feedback/schemas.ts';
import { compileExpression } from '../../../../../core/mapping/expression-compile.ts';
import { Policy } from '../../../../../worker/config/policy.ts';
import { Rule } from '../../../../../worker/config/rule.ts';
import { chooseRule, inSample, mapFields } from '../../../../../worker/pipeline/policy/decide.ts';
import { loadRule } from '../../../../../worker/pipeline/rules.ts';
import { campaign } from '../../../../support/core/feedback/samples.ts';

function rule(name: string, when?: string) {
  return loadRule(
    Rule.parse({ name, campaign: 12, contact: 'customer.email', ...(when === undefined ? {} : { when }) }),
  );
}

describe('chooseRule', () => {
  const shape = { ticket: { group: 'Phone', tags: ['vip'], price: 3, none: 0 } };
  const rows: [name: string, rules: [name: string, when?: string][], expected: string | RegExp][] = [
    ['takes the first that is true', [['a', 'ticket.group = "Mail"'], ['b', '"vip" in ticket.tags'], ['c']], 'b'],
    ['takes a rule without a condition', [['a']], 'a'],
    [
      'prefers the earlier of two that are true',
      [
        ['a', 'true'],
        ['b', 'true'],
      ],
      'a',
    ],
    ['takes a number but 0 for yes', [['a', 'ticket.price']], 'a'],
    ['takes 0 for no', [['a', 'ticket.none']], /no rule's condition is true \("a"\)/],
    ['takes a text for yes', [['a', 'ticket.group']], 'a'],
    ['takes an empty text for no', [['a', '""']], /no rule's condition/],
    ['takes an object with a key for yes', [['a', 'ticket']], 'a'],
    ['takes a list with something true in it for yes', [['a', 'ticket.tags']], 'a'],
    ['takes an empty list for no', [['a', '[]']], /no rule's condition/],
    ['takes null for no', [['a', 'null']], /no rule's condition/],
    ['takes a guarded text for yes', [['a', '$uppercase(ticket.group)']], 'a'],
    ['takes a guarded 0 for no', [['a', '$sum([])']], /no rule's condition is true \("a"\)/],
    ['takes a guarded list without anything true in it for no', [['a', '$map([0, ""], $string)[0] = "1"']], /no rule/],
    [
      'does not look at a later condition',
      [
        ['a', '$uppercase(ticket.group)'],
        ['b', '$error("never")'],
      ],
      'a',
    ],
    ['takes what is missing for no', [['a', 'ticket.nothing.here']], /\("a" finds nothing in the record\)$/],
    [
      'names all that it passed',
      [
        ['a', 'false'],
        ['b', 'false'],
      ],
      /\("a", "b"\)/,
    ],
    ['says so when there are none', [], /there are no rules/],
    [
      'stops at a condition that fails',
      [['a', '$number("x") > 1'], ['b']],
      /condition of rule "a" could not be evaluated/,
    ],
  ];
  test.each(rows)('it %s', async (_, rules, expected) => {
    const choice = await chooseRule(
      rules.map(([name, when]) => rule(name, when)),
      shape,
    );
    if (typeof expected === 'string') expect(choice.rule?.name).toBe(expected);
    else {
      const reason = /evaluated/.test(`${expected}`) ? 'condition-failed' : 'no-rule';
      expect(choice).toEqual({ rule: undefined, skip: { reason, why: expect.stringMatching(expected) } });
    }
  });

  test('it names every place of an expression that is stopped', async () => {
    const endless = '($f := function($x) { $f($x + 1) }; $f(1))';
    const never = [{ when: compileExpression(endless), why: 'x' }];
    const rules = [rule('a', endless), rule('b'), rule('c', endless)];
    await expect(chooseRule(rules, shape, never)).rejects.toThrow(/ of never, rule "a", rule "c" was stopped/);
    await expect(chooseRule(rules, shape, [])).rejects.toThrow(/ of rule "a", rule "c" was stopped/);
  });

  test('it does not quote the record when a condition fails', async () => {
    const choice = await chooseRule([rule('a', '$number(customer.email) > 1')], {
      customer: { email: 'private@example.com' },
    });
    expect(JSON.stringify(choice)).not.toContain('private');
  });
});

test('loadRule compiles one contact like a list of one, and every field', async () => {
  const one = loadRule(Rule.parse({ name: 'r', campaign: 1, contact: 'a', fields: { Store: 'b', Agent: 'c.d' } }));
  const list = loadRule(Rule.parse({ name: 'r', campaign: 1, contact: ['a', 'b'] }));
  expect(one.contact.map(({ source }) => source)).toEqual(['a']);
  expect(list.contact.map(({ source }) => source)).toEqual(['a', 'b']);
  expect([...one.mapping].map(([name, { source }]) => [name, source])).toEqual([
    ['Store', 'b'],
    ['Agent', 'c.d'],
  ]);
  expect([one.when, one.again]).toEqual([undefined, 'never']);
});

test('mapFields looks at a rule again for every definition of its campaign', () => {
  const rule = {
    ...loadRule(Rule.parse({ name: 'r', campaign: 12, contact: 'a', fields: { Store: 'b' } })),
    campaign: 12,
  };
  const findings = { of: () => ({ ok: true as const, value: 'North' }) };
  const context = {
    name: 'support',
    storedAs: 'support',
    marker: 'closeloop',
    timeZone: 'UTC',
    policy: Policy.parse({}),
  };
  const definitionOf = (...names: string[]) =>
    Campaign.parse({ ...campaign, custom_fields: names.map((name) => ({ ...campaign.custom_fields[0], name })) });
  const map = (definition: Campaign) => mapFields(rule, findings, definition, context);
  const [fits, lacks] = [definitionOf('Store'), definitionOf('Shop')];
  const mapped = { ok: true, values: { Store: 'North' }, sources: { Store: 'b' } };
  expect([map(fits), map(fits)]).toEqual([mapped, mapped]);
  for (const definition of [lacks, lacks, definitionOf('Shop')])
    expect(() => map(definition)).toThrow(/the campaign has no custom field "Store"/);
  expect(map(definitionOf('Store'))).toEqual(mapped);
  expect(() => mapFields({ ...rule, name: 'other', mapping: new Map() }, findings, fits, context)).toThrow(/requires/);
});

describe('inSample', () => {
  const refs = Array.from({ length: 4_000 }, (_, i) => `support/${i}.1`);
  test.each([
    [undefined, 1],
    [1, 1],
    [0, 0],
    [0.5, 0.5],
    [0.05, 0.05],
  ])('it takes a share of %s', (share, expected) => {
    const taken = refs.filter((ref) => inSample(share, ref)).length / refs.length;
    expect(Math.abs(taken - expected)).toBeLessThan(expected === 0 || expected === 1 ? 1e-9 : 0.03);
  });

  test('it always answers the same for a journey, and keeps it in every larger share', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.string(), share, share, (ref, one, other) => {
        expect(inSample(one, ref)).toBe(inSample(one, ref));
        return !inSample(Math.min(one, other), ref) || inSample(Math.max(one, other), ref);
      }),
    );
  });
});
