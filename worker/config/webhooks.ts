import { z } from 'zod';
import { ReceiverName, SigningSecret } from './receivers.ts';
import { distinctNames } from './values.ts';

/** The personal data of an event. A webhook gets it only where its `include` names it. */
export const personalParts = ['contact', 'comment', 'fields'] as const;

/** Descriptions of the events that a webhook may ask for (`EventType` in worker/journey). */
const Event = z.enum(['answer.received', 'answer.changed', 'request.created', 'closing.skipped', 'follow-up.overdue']);

/** The URL holds no user name and password, which would go to whoever answers at the address, and no fragment. */
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

export const Webhooks = z.array(Webhook).superRefine(distinctNames('webhook'));
