import { z } from 'zod';
import { deskWriteBack } from '../../core/connector/desk/settings.ts';
import { secret, standinOrigin, webhookSecrets } from '../../core/connector/settings.ts';

const fieldName = z
  .string()
  .regex(/^cf_[a-z0-9_]{1,120}$/, 'the name of a ticket field as the API gives it, like "cf_feedback_grade"');

const writeBack = deskWriteBack(fieldName, {
  takes: 'the name of a ticket field (`setup` tells the names of those that it creates)',
  note: 'Adds a private note with the answer: one more call per answer',
  commentLength: { most: 20_000, initial: 5_000 },
});
const tags =
  'Adds the tags `fb_answered` and `fb_grade_<n>`. Freshdesk takes all tags at once: what an agent changes in the same second is lost';

/** A Freshdesk source in the configuration: one account. */
export const settings = z.strictObject({
  subdomain: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'only the first part of the address, like "acme" of acme.freshdesk.com')
    .describe('`acme` of acme.freshdesk.com, also where customers see another address'),
  apiKey: secret.describe('Of an agent for closeloop alone, who sees every ticket (global scope)'),
  setupKey: secret.optional().describe("An administrator's API key, for `setup` and `check`: the rules need it"),
  webhookSecrets: webhookSecrets(secret, 'needs a secret of your own, of 32 characters or more').describe(
    'Freshdesk signs nothing: the rules send this secret in a header. Two while one replaces the other',
  ),
  closedStatuses: z
    .array(z.int().min(2).max(9_999))
    .min(1)
    .default([4, 5])
    .describe('The numbers of the statuses that count as closed: 4 is Resolved, 5 is Closed, your own begin at 6'),
  closingBy: z
    .enum(['resolved', 'status'])
    .default('resolved')
    .describe(
      'What tells closings apart: when it was resolved or, where that keeps the first time, when its status changed',
    ),
  askChildren: z.boolean().default(false).describe('Whether child tickets lead to questions of their own'),
  ratings: z
    .record(z.string().regex(/^-?\d{1,3}$/, "a number of Freshdesk's scale, like 103 or -103"), z.number())
    .optional()
    .describe(
      "Freshdesk's own ratings become grades of an external campaign, by this table: `{103: 5, 100: 3, -103: 1}`",
    ),
  callsPerMinute: z
    .strictObject({
      list: z.int().min(2).default(20).describe('Lists of tickets'),
      update: z.int().min(2).default(80).describe('Updates of tickets'),
    })
    .prefault({})
    .describe(
      "Your plan's, for lists and for updates of tickets, which no header reports; half is used. Default: Growth's",
    ),
  baseUrl: standinOrigin,
  writeBack: writeBack
    .unwrap()
    .safeExtend({ tags: z.boolean().default(false).describe(tags) })
    .prefault({})
    .describe('Where the answer goes; each is optional'),
});
export type FreshdeskSettings = z.output<typeof settings>;
