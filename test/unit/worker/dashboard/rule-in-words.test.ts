import { expect, test } from 'vitest';
import { Rule } from '../../../../worker/config/rule.ts';
import { ruleInWords } from '../../../../worker/dashboard/rule-in-words.ts';

const names = new Map([[12, 'After support']]);

test.each<[what: string, rule: object, expected: string]>([
  [
    'with everything left out',
    {},
    "When a record closes that no earlier rule took, its customer is asked in “After support” (campaign 12). They are asked by email, after the campaign's own delay. A record is asked about once.",
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
    'When a record closes and “ticket.group.name = "Phone"” holds, 12.5 % of the customers are asked in “After support” (campaign 12) in the language en, in campaign 13 in the language et and in campaign 14 in any other language. They are asked by requester.phone, or else requester.email, 2 hours after the closing, on Monday and Tuesday from 09:00 until 20:00 on the recipient\'s clock, on public holidays, too. Who was asked within the last 30 days waits until that is over. At most 20 an hour and 100 a day are asked. Nobody is asked about a closing of more than 7 days ago. A record that closes again is asked about again. It is a test: all requests go to the test contact, and none to a customer.',
  ],
  [
    'that asks at once, and nobody twice in a month',
    { delay: '0s', window: { until: '18:00' }, throttle: '30d', maxAge: false },
    "When a record closes that no earlier rule took, its customer is asked in “After support” (campaign 12). They are asked by email, at once, until 18:00 on the account's clock. Who was asked within the last 30 days is not asked. A record is asked about once.",
  ],
])('a rule %s is a sentence', (_, rule, expected) => {
  expect(ruleInWords(Rule.parse({ name: 'r', campaign: 12, contact: 'email', ...rule }), names)).toBe(expected);
});
