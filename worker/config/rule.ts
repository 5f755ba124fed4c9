import { z } from 'zod';
import { alternativesIn } from '../../core/mapping/expression-advice.ts';
import { ExpressionSource } from '../../core/mapping/expression-compile.ts';
import { days } from '../../core/schedule/days.ts';
import { Duration } from '../../core/schedule/duration-setting.ts';
import { CampaignChoice } from './campaign-choice.ts';
import { Cap } from './cap.ts';
import { MaxAge } from './max-age.ts';
import { TestContact } from './test-contact.ts';
import { Throttle } from './throttle.ts';
import { hoursMistake, TimeOfDay } from './time-of-day.ts';

const Expression = ExpressionSource.meta({ description: 'JSONata over the record as the connector presents it' });

const Contact = Expression.superRefine((source, context) => {
  const others = alternativesIn(source);
  if (others === undefined) return;
  const message = `gives true or false, not a contact: write a list, of which the first usable contact counts: [${others.join(', ')}]`;
  context.addIssue({ code: 'custom', message });
});

const Window = z.strictObject(
  {
    from: TimeOfDay.optional().describe('From this time of day on'),
    until: TimeOfDay.optional().describe('Until this time of day; earlier than from: over midnight'),
    days: z
      .array(z.enum(days), { error: 'must be a list like [mon, tue, wed, thu, fri]' })
      .min(1, 'needs at least one day, or nobody is ever asked')
      .optional()
      .describe('On these days; left out: on all'),
    zone: z
      .enum(['account', 'recipient'])
      .default('account')
      .describe("Whose clock: the Feedback account's, or the recipient's (where it isn't known, the account's)"),
  },
  { error: ({ input }) => hoursMistake(input) },
);

const notAShare = 'must be a share like 50%, or a number from 0 to 1';

/** "50%" or 0.5 → 0.5. */
const Share = z.union(
  [
    z.number().min(0, notAShare).max(1, notAShare),
    z
      .string()
      .regex(/^(100(\.0+)?|\d{1,2}(\.\d+)?)\s*%$/)
      .transform((text) => Number.parseFloat(text) / 100),
  ],
  { error: notAShare },
);

/** Which closings ask for feedback, in which campaign, whom, with which custom field values, when. */
export const Rule = z.strictObject({
  name: z.string().min(1).describe('What logs, traces and reports call the rule'),
  when: Expression.optional().describe('Left out: every closing that no earlier rule took'),
  campaign: CampaignChoice.describe(
    "The number of the campaign in which is asked; or one for each of the customers' languages: { en: 12, et: 13, default: 12 }",
  ),
  contact: z
    .union([Contact, z.array(Contact).min(1)])
    .describe('One expression, or several: the first that gives a contact usable in the campaign'),
  fields: z.record(z.string().min(1), Expression).default({}).describe('Custom field name → expression'),
  delay: Duration.optional().describe("From closing to asking. Left out: the campaign's own delay"),
  maxAge: MaxAge.optional(),
  window: Window.optional().describe("Hours in which may be asked, within the campaign's own"),
  holidays: z
    .enum(['skip', 'ask'])
    .optional()
    .describe('Where `policy.holidays` is set: `ask` asks on public holidays, too. Left out: `skip`'),
  throttle: Throttle.optional().describe('No request to a person who was asked this recently, by any source'),
  cap: Cap.optional().describe('At most so many requests by this rule'),
  sample: Share.optional().describe('Asks about this share of the closings, chosen by chance: 50% or 0.5'),
  again: z
    .enum(['never', 'each closing'])
    .default('never')
    .describe('A record that is closed again: `never` asks once in its life'),
  test: TestContact.optional().describe('Test mode for this rule: every request of it goes to this contact'),
});
export type Rule = z.output<typeof Rule>;

const Listed = z.array(Rule).superRefine((rules, context) => {
  const seen = new Set<string>();
  for (const [i, { name }] of rules.entries()) {
    if (seen.has(name)) context.addIssue({ code: 'custom', path: [i, 'name'], message: 'is used by another rule' });
    seen.add(name);
  }
});

/** The rules of one source, first to last. */
export const Rules = Listed.min(1, 'needs at least one rule');
/** The rules of a source that asks nobody. */
export const RulesIfAny = Listed.default([]);
