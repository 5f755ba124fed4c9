import { expect, test } from 'vitest';
import { Rule } from '../../../../worker/config/rule.ts';
import { loadRule } from '../../../../worker/pipeline/rules.ts';
import { unmatched } from '../../../../worker/preflight/condition-counts.ts';
import { conditionsOf } from '../../../../worker/preflight/conditions.ts';

const closing = (group: string | null, more: object = {}) => ({
  ticket: { group: group === null ? null : { name: group }, tags: ['a'], ...more },
  requester: { name: 'Ann Smith', email: 'ann@b.ee' },
});
const rule = (when?: string) =>
  loadRule(Rule.parse({ name: 'x', campaign: 1, contact: 'requester.email', ...(when && { when }) }));
const closings = [...Array(31).fill(closing('Support')), ...Array(18).fill(closing('Sales')), closing(null)];
const problems = async (when: string | undefined, shapes: readonly object[] = closings) => {
  const one = rule(when);
  const context = { never: { expressions: [], ofRecord: [], ofPerson: [] }, rules: [one], customerPaths: [] };
  const all = await Promise.all(shapes.map((shape) => conditionsOf(shape, new Date(), context, {})));
  const isMatched = () => all.flat().some(({ is }) => is === 'true');
  return unmatched([one], shapes, isMatched).map(({ at, problem }) => `${at}: ${problem}`);
};

test('a condition that no closing fulfils is told, with what its names were', async () => {
  expect(await problems('ticket.group.name = "Suport"')).toEqual([
    'rules[0].when: 0 of 50 closings of the last days match rule "x": `ticket.group.name` was Support 31 times, Sales 18 times, nothing once',
  ]);
  expect(await problems('ticket.nothing.here')).toEqual([
    expect.stringMatching(/`ticket\.nothing\.here` was nothing 50 times$/),
  ]);
  expect(await problems('"b" in ticket.tags')).toEqual([expect.stringMatching(/`ticket\.tags` was a 50 times$/)]);
});

test('nothing is told of a condition that one fulfils, of a rule without one, and of few closings', async () => {
  expect(await problems('ticket.group.name = "Sales"')).toEqual([]);
  expect(await problems(undefined)).toEqual([]);
  expect(await problems('false', closings.slice(0, 9))).toEqual([]);
});

test('no value of the customer is shown, none that looks like a contact, and none that a single closing has', async () => {
  const personal = Array.from({ length: 20 }, (_, i) =>
    closing(`Only ${i}`, { cc: 'bob@b.ee', number: '5551 2345', long: 'x'.repeat(60) }),
  );
  const [told = ''] = await problems(
    'requester.name = "B" or ticket.group.name = "y" or ticket.cc = "z" or ticket.number = "1" or ticket.long = "q"',
    personal,
  );
  expect(told).toBe(
    `rules[0].when: 0 of 20 closings of the last days match rule "x": \`ticket.long\` was ${'x'.repeat(39)}… 20 times`,
  );
});

test('a condition shows what its names are in a record, and nothing that stands beside the contact of the customer', async () => {
  const one = rule('requester.name = "B" or ticket.group.name = "Support" or ticket.cc = "z"');
  const context = { never: { expressions: [], ofRecord: [], ofPerson: [] }, rules: [one], customerPaths: [] };
  const [condition] = await conditionsOf(closing('Support', { cc: 'bob@b.ee' }), new Date(), context, {});
  expect(condition?.saw).toEqual({
    'requester.name': '(personal)',
    'ticket.group.name': 'Support',
    'ticket.cc': '(personal)',
  });
});
