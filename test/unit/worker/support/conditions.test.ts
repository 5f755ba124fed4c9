import { expect, test } from 'vitest';
import { Rule } from '../../../../worker/config/rule.ts';
import { loadRule } from '../../../../worker/pipeline/rules.ts';
import { conditionsOf } from '../../../../worker/support/conditions.ts';

const closing = (group: string | null, more: object = {}) => ({
  ticket: { group: group === null ? null : { name: group }, tags: ['a'], ...more },
  requester: { name: 'Ann Smith', email: 'ann@b.ee' },
});
const rule = (when?: string) =>
  loadRule(Rule.parse({ name: 'x', campaign: 1, contact: 'requester.email', ...(when && { when }) }));

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
