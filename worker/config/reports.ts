import { z } from 'zod';
import { isTimeZone } from '../../core/address.ts';
import { mailPeriods } from './mail-periods.ts';
import { MailServer } from './receivers.ts';
import { TimeOfDay } from './values.ts';

const ReportMail = z.strictObject({
  name: z
    .string()
    .regex(/^[^\p{Cc}]{1,60}$/u, 'must be a name of one line, of 60 characters at most')
    .describe('What the mail is called: in its subject, and for "closeloop mail preview"'),
  to: z.array(z.email()).min(1).describe('Who gets it: a mail each'),
  every: z
    .array(z.enum(mailPeriods))
    .min(1)
    .default(['week'])
    .describe('week: after each Sunday, about the week; month: on the first of each month, about the month before'),
  at: TimeOfDay.default('08:00').describe('From this hour on; one that is late goes out up to 20:00, or the next day'),
  zone: z
    .string()
    .refine(isTimeZone, { error: 'is not a time zone name; give an IANA name such as Europe/Tallinn' })
    .optional()
    .describe('Of the receivers; left out: feedback.timeZone'),
  campaigns: z.array(z.int()).min(1).optional().describe('Only these campaigns; left out: all'),
  field: z
    .record(z.string(), z.string())
    .refine(
      (field) => Object.keys(field).length === 1,
      'must be one custom field with its value, like { Store: Tallinn }',
    )
    .optional()
    .describe('Only what has this value in this custom field, like { Store: Tallinn } or { Agent: Ann }'),
  comments: z
    .int()
    .min(0)
    .max(20)
    .default(3)
    .describe('So many of the best and of the worst comments, which are personal data; 0: none'),
});
export type ReportMail = z.output<typeof ReportMail>;

export const Reports = z.strictObject({
  server: MailServer,
  from: z.email().describe('The sender'),
  mails: z
    .array(ReportMail)
    .min(1)
    .refine((mails) => new Set(mails.map(({ name }) => name)).size === mails.length, 'must have a name of its own each')
    .describe('Who is told what, and when'),
  optOut: z.array(z.email()).default([]).describe('Who gets none of them, whichever names them'),
});
export type Reports = z.output<typeof Reports>;
