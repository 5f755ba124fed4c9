import { z } from 'zod';
import { contactFor } from '../../core/contact.ts';

/** The contact that is asked in place of every customer, one value for each kind of contact that a campaign may need. */
export const TestContact = z
  .strictObject({
    email: z
      .string()
      .refine((text) => contactFor([text], 'email').ok, 'must be an e-mail address')
      .optional()
      .describe('For campaigns that send e-mail'),
    phone: z
      .string()
      .refine((text) => contactFor([text], 'sms').ok, 'must be a mobile number with + and country code, in quotes')
      .optional()
      .describe('For campaigns that send text messages'),
    identifier: z.string().trim().min(1).optional().describe('For external campaigns; left out: the e-mail or phone'),
    field: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Custom field that says TEST on each test request, of type Text or Yes/No. Left out: "Test", where a campaign has it',
      ),
  })
  .refine(({ email, phone, identifier }) => [email, phone, identifier].some((one) => one !== undefined), {
    message: 'must name whom: email, phone or identifier',
  });
export type TestContact = z.output<typeof TestContact>;
