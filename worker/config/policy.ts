import { z } from 'zod';
import { AskAnyway } from './ask-anyway.ts';
import { Campaigns, Groups } from './campaign-policy.ts';
import { Cap } from './cap.ts';
import { Holidays } from './holidays.ts';
import { MaxAge } from './max-age.ts';
import { Never } from './never.ts';
import { SmsHours } from './sms-hours.ts';
import { TestContact } from './test-contact.ts';
import { Throttle } from './throttle.ts';

/** Who is asked, when and how often, over all sources: each member's schema is in a file of its own. */
export const Policy = z.strictObject({
  never: Never.optional(),
  askAnyway: AskAnyway.optional(),
  throttle: Throttle.optional().describe('No request to a person who was asked this recently, whatever the rule'),
  cap: Cap.optional().describe('At most so many requests, over all sources'),
  campaigns: Campaigns.optional().describe('Of single campaigns, by their number'),
  groups: Groups.optional().describe('Of several campaigns together, by a name of your own'),
  sms: SmsHours.prefault({}).describe(
    "When text messages go out, at the earliest and the latest, on the recipient's clock: no rule's window and no campaign's exceeds these hours",
  ),
  holidays: Holidays.optional().describe(
    "Nobody is asked on a public holiday of the recipient's country, and region. Left out: holidays are days like others",
  ),
  maxAge: MaxAge.optional(),
  answers: z
    .array(z.unknown())
    .optional()
    .describe('Answer rules of all sources, after their own: `sources.….answers` has the form'),
  actions: z
    .strictObject({
      perRecord: z.int().min(0).default(3).describe('On one record within a day; further ones are parked'),
    })
    .prefault({})
    .describe('How much answers may set going at the vendor'),
  test: TestContact.optional().describe(
    'Test mode for everything: every request goes to this contact instead of the customer, and no answer is written anywhere',
  ),
});
export type Policy = z.output<typeof Policy>;
