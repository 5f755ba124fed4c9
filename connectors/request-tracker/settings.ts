import { z } from 'zod';
import { isSafeAddress } from '../../core/address.ts';
import { deskWriteBack } from '../../core/connector/desk/settings.ts';
import { secret, webhookSecrets } from '../../core/connector/settings.ts';

const name = z.string().trim().min(1, 'is empty').max(200);

/** A Request Tracker source in the configuration: one installation. */
export const settings = z
  .strictObject({
    address: z
      .string()
      .refine((text) => isSafeAddress(text, 'path'), 'the https address, like https://rt.example.com/rt')
      .transform((text) => text.replace(/\/+$/, ''))
      .describe('As browsers show it, with the path where Request Tracker sits in one'),
    token: secret
      .regex(/^\d+-\d+-\w+$/, 'a token as Request Tracker shows it once, like "1-27-…"')
      .describe("Of closeloop's own privileged user (Logged in as > Settings > Auth Tokens)"),
    webhookSecrets: webhookSecrets(secret, 'needs the key of the scrip')
      .optional()
      .describe('The key with which the scrip signs; two while it is being replaced'),
    pollOnly: z.boolean().default(false).describe('There is no scrip, as on hosts that forbid code in them'),
    closedStatuses: z
      .array(name.toLowerCase().refine((text) => text !== 'deleted', 'a deleted ticket never asks'))
      .min(1)
      .default(['resolved'])
      .describe('A ticket with one of these statuses counts as closed. Lifecycles have names of their own'),
    // Request Tracker reads a name of digits as an id.
    writeBack: deskWriteBack(name.regex(/\D/, 'the name of a custom field, not its id'), {
      takes: 'the name of a custom field of tickets',
      note: 'Adds a comment, which only staff see: one more call per answer. It can never be taken off again',
      commentLength: { most: 100_000, initial: 10_000 },
    }),
  })
  .refine(({ webhookSecrets, pollOnly }) => pollOnly !== (webhookSecrets !== undefined), {
    path: ['webhookSecrets'],
    error: 'needs the key of the scrip, or pollOnly: true in its place',
  });

export type RequestTrackerSettings = z.output<typeof settings>;
