import { z } from 'zod';
import { ReceiverName, SigningSecret } from './receivers.ts';

/** Personal data of an event, which a webhook gets only where it says so. */
export const personalParts = ['contact', 'comment', 'fields'] as const;

/** What a webhook may be told of: `EventType` of the journey's room, in words. */
const Event = z.enum(['answer.received', 'answer.changed', 'request.created', 'closing.skipped', 'follow-up.overdue']);

/** Without a name and a password, which would be sent to whoever answers there, and without a fragment. */
function isPlainUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && ['https:', 'http:'].includes(url.protocol) && url.username + url.password + url.hash === '';
}

const Webhook = z
  .strictObject({
    name: ReceiverName.describe('What answer rules, logs and commands call it'),
    url: z
      .string()
      .refine(isPlainUrl, 'must be like https://host/path, without a name, a password or a #')
      .describe('The receiver'),
    secret: SigningSecret.optional().describe('Signs what is sent (Standard Webhooks): `whsec_…`'),
    secrets: z
      .array(SigningSecret)
      .min(1)
      .max(2)
      .optional()
      .describe('In place of `secret`: two while one replaces the other; each event is signed with both'),
    events: z.array(Event).default([]).describe('What it is told of. Left out: only what answer rules `send`'),
    include: z.array(z.enum(personalParts)).default([]).describe('Personal data: left out, none is sent'),
    allowPrivate: z
      .boolean()
      .default(false)
      .describe('Allows private addresses (10.…, 192.168.…, this machine, cloud metadata), and http'),
  })
  .refine(({ secret, secrets }) => (secret === undefined) !== (secrets === undefined), {
    path: ['secret'],
    message: 'is missing: secret, or secrets while one replaces the other',
  })
  .refine(({ url, allowPrivate }) => allowPrivate || !url.startsWith('http:'), {
    path: ['url'],
    message: 'must be https; http needs allowPrivate',
  })
  .transform(({ secret, secrets = secret === undefined ? [] : [secret], ...webhook }) => ({ ...webhook, secrets }));
export type Webhook = z.output<typeof Webhook>;

export const Webhooks = z.array(Webhook).superRefine((webhooks, context) => {
  const seen = new Set<string>();
  for (const [i, { name }] of webhooks.entries()) {
    if (seen.has(name)) context.addIssue({ code: 'custom', path: [i, 'name'], message: 'is used by another webhook' });
    seen.add(name);
  }
});
