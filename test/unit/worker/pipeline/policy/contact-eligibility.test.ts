import { expect, test } from 'vitest';
import type { ContactRecord } from '../../../../../core/feedback/schemas.ts';
import { Rule } from '../../../../../worker/config/rule.ts';
import type { LastAsked } from '../../../../../worker/journey/last-asked.ts';
import { onList } from '../../../../../worker/pipeline/policy/recipient.ts';
import { hitsOfLast, lastCounted, scopesOf } from '../../../../../worker/pipeline/policy/throttle.ts';
import { throttled } from '../../../../../worker/pipeline/policy/throttled.ts';
import { loadRule } from '../../../../../worker/pipeline/rules.ts';
import { neverAsked } from '../../../../support/core/feedback/samples.ts';

const now = new Date('2026-11-21T12:00:00Z');
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000);
const ruleOf = (more: object) => ({
  ...loadRule(Rule.parse({ name: 'all', campaign: 12, contact: 'customer.email', ...more })),
  campaign: 12,
});
const monthly = ruleOf({ throttle: '30d' });
const always = ruleOf({});

const known = (more: Partial<ContactRecord>): ContactRecord => ({ ...neverAsked, num_appeals: 1, ...more });
const atService = (days: number) => known({ last_appeal: daysAgo(days) });
const here = (days: number, more: Partial<LastAsked> = {}): LastAsked => ({
  at: daysAgo(days),
  journey: 'shop/1.1',
  ...more,
});
const graylist = (id: number) => ({
  entry: 'erika@example.com',
  campaigns: [{ id, name: 'Phone', date_added: daysAgo(1) }],
});
const blacklist = { entry: 'erika@example.com', date_added: daysAgo(1) };

const rows: [
  what: string,
  known: ContactRecord | undefined,
  here: LastAsked | undefined,
  rule: typeof always,
  why: RegExp | undefined,
][] = [
  ['nobody has asked them', undefined, undefined, monthly, undefined],
  ['they are on the blacklist', known({ blacklist }), undefined, always, /blacklist/],
  ["they are on the campaign's graylist", known({ graylist: graylist(12) }), undefined, always, /graylist/],
  ["they are on another campaign's graylist", known({ graylist: graylist(13) }), undefined, always, undefined],
  ['the service has asked them, past closeloop', atService(29), undefined, monthly, /at 2026-10-23T/],
  ['the service has asked them, past closeloop and long ago', atService(31), undefined, monthly, undefined],
  ['closeloop has asked them, which the service does not show', known({}), here(29), monthly, /at 2026-10-23T/],
  ['closeloop has asked them, which the service does not know', undefined, here(29), monthly, /at 2026-10-23T/],
  ['closeloop has asked them long ago', undefined, here(31), monthly, undefined],
  ['the later of the two is long ago', atService(31), here(40), monthly, undefined],
  ['the later of the two is the service', atService(5), here(40), monthly, /at 2026-11-16T/],
  ['they were asked lately, by a rule without a throttle', atService(1), here(1), always, undefined],
  ['the request was withdrawn before it was sent', atService(1), here(1, { withdrawn: true }), monthly, undefined],
  [
    'the service has asked since one was withdrawn',
    atService(1),
    here(2, { withdrawn: true }),
    monthly,
    /at 2026-11-20T/,
  ],
];
test.each(rows)('a person is asked, or not: %s', (_, contact, lastHere, rule, why) => {
  const holds = hitsOfLast(lastCounted(contact, lastHere), scopesOf(rule, {}), now);
  const said = onList(contact, rule) ?? throttled(holds, now);
  if (why) {
    const reason = /list/.test(`${why}`) ? 'listed' : 'throttled';
    expect(said).toMatchObject({ reason, why: expect.stringMatching(why) });
  } else expect(said).toBeUndefined();
});
