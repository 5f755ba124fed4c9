import { z } from 'zod';
import { ExpressionSource } from '../../core/mapping/expression-source.ts';
import { days } from '../../core/schedule/days.ts';
import { Duration } from '../../core/schedule/duration.ts';

const Expression = ExpressionSource.meta({ description: 'JSONata over the record as the connector presents it' });

const TimeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day like "09:00", in quotes');

const Window = z.strictObject({
  from: TimeOfDay.optional(),
  until: TimeOfDay.optional(),
  days: z.array(z.enum(days)).min(1, 'needs at least one day, or nobody is ever asked').optional(),
  /** Whose clock: the Feedback account's, or the recipient's (where it isn't known, the account's). */
  zone: z.enum(['account', 'recipient']).default('account'),
});

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
  name: z.string().min(1),
  /** Left out: every closing that no earlier rule took. */
  when: Expression.optional(),
  campaign: z.int().positive(),
  /** One expression, or several: the first that gives a contact usable in the campaign. */
  contact: z.union([Expression, z.array(Expression).min(1)]),
  /** Custom field name → expression. */
  fields: z.record(z.string().min(1), Expression).default({}),
  /** From closing to asking. Left out: the campaign's own delay. */
  delay: Duration.optional(),
  window: Window.optional(),
  /** No request to a person who was asked this recently, by any source. */
  throttle: Duration.optional(),
  sample: Share.optional(),
  /** A record that is closed again: `never` asks once in its life. */
  again: z.enum(['never', 'each closing']).default('never'),
});
export type Rule = z.output<typeof Rule>;

/** The rules of one source, first to last. */
export const Rules = z
  .array(Rule)
  .min(1, 'needs at least one rule')
  .superRefine((rules, context) => {
    const seen = new Set<string>();
    for (const [i, { name }] of rules.entries()) {
      if (seen.has(name)) context.addIssue({ code: 'custom', path: [i, 'name'], message: 'is used by another rule' });
      seen.add(name);
    }
  });
