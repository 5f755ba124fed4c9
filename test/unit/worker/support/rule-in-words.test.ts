import { expect, test } from 'vitest';
import { Rule } from '../../../../worker/config/rule.ts';
import { ruleInWords } from '../../../../worker/support/rule-in-words.ts';

const names = new Map([[12, 'After support']]);

test.each<[what: string, rule: object, expected: string]>([
  [
    'with everything left out',
    {},
    "The closings that no earlier rule took are asked about in campaign 12 “After support”, through email, after the campaign's own delay, once in the life of a record.",
  ],
  [
    'with all that can be said',
    {
      when: 'ticket.group.name = "Phone"',
      campaign: { en: 12, et: 13, default: 14 },
      contact: ['requester.phone', 'requester.email'],
      delay: '2h',
      window: { from: '09:00', until: '20:00', days: ['mon', 'tue'], zone: 'recipient' },
      holidays: 'ask',
      throttle: { period: '30d', otherwise: 'defer' },
      cap: { hour: 20, day: 100 },
      maxAge: '7d',
      sample: '12.5%',
      again: 'each closing',
      test: { email: 'me@example.com' },
    },
    '12.5 % of the closings where “ticket.group.name = "Phone"” are asked about in campaign 12 “After support” for en and in campaign 13 for et and in campaign 14 for other languages, through requester.phone, or else requester.email, 2h after the closing, on mon, tue from 09:00 until 20:00 on the recipient\'s clock, on public holidays, too, and who was asked within 30d waits until that is over, at most 20 an hour and 100 a day, never about closings older than 7d, at each closing of a record, as a test: to the test contact, and to no customer.',
  ],
  [
    'that asks at once, and nobody twice in a month',
    { delay: '0s', window: { until: '18:00' }, throttle: '30d', maxAge: false },
    "The closings that no earlier rule took are asked about in campaign 12 “After support”, through email, at once, until 18:00 on the account's clock, and who was asked within 30d is not asked, once in the life of a record.",
  ],
])('a rule %s is a sentence', (_, rule, expected) => {
  expect(ruleInWords(Rule.parse({ name: 'r', campaign: 12, contact: 'email', ...rule }), names)).toBe(expected);
});
