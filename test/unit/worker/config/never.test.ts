import { expect, test } from 'vitest';
import { ToyVendor } from '../../../support/toy-connector.ts';
import { toyConfig } from '../../../support/worker/configs.ts';

/** Its records tell tags and when they were opened. */
const connector = { ...new ToyVendor().connector, parts: { tags: ['ticket.tags'], openedAt: ['ticket.createdAt'] } };
const load = (never: string, policy = '[]') =>
  toyConfig({ general: `policy: { never: ${policy} }`, source: `never: ${never}`, vendor: { connector } });

test('conditions are expressions, with a reason of their own or without, and ready-made ones', () => {
  const { sources, policy } = load(
    '["ticket.vip", { when: ticket.small, reason: too small }, { tags: [no_survey, 17] }, { handledIn: { under: 2m } }]',
    '[{ ownDomains: [ACME.com, münchen.de] }, { contactsIn: list.txt }]',
  );
  expect(sources[0]?.policy.never).toEqual([
    { when: 'ticket.vip' },
    { when: 'ticket.small', reason: 'too small' },
    { tags: ['no_survey', '17'] },
    { handledIn: { under: 120_000 } },
  ]);
  expect(policy.never).toEqual([{ ownDomains: ['acme.com', 'xn--mnchen-3ya.de'] }, { contactsIn: 'list.txt' }]);
});

test.each([
  ['[{ tag: [a] }]', /never\[0\]\.tag: is not a setting; did you mean "tags"\?/],
  ['[{ tags: [] }]', /never\[0\]\.tags: needs at least 1 entry/],
  ['[{ tags: [a], ownDomains: [acme.com] }]', /never\[0\]: must be one condition: when, ownDomains, tags/],
  ['[{ reason: why }]', /never\[0\]: must be one condition/],
  ['["ticket."]', /never\[0\].*has a mistake/],
  ['[{ handledIn: {} }]', /never\[0\]\.handledIn: must say under or over/],
  ['[{ ownDomains: ["ann@acme.com"] }]', /must be a domain like acme\.com/],
])('a mistake in never is told where it stands: %s', (never, expected) => {
  expect(() => load(never)).toThrow(expected);
});

test('a condition that the connector can not answer is a mistake, which says what it answers', () => {
  const message =
    "records of toy don't tell it: they answer tags, handledIn; for anything else write an expression (when)";
  expect(() => load('[{ brands: [Acme] }]')).toThrow(`sources.desk.never[0].brands: ${message}`);
  expect(() => load('[]', '[{ tags: [a] }, { noReply: true }]')).toThrow(`policy.never[1].noReply: ${message}`);
});
