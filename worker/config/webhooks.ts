import { z } from 'zod';
import { httpsUnlessPrivate, receiver, signingSecret } from '../../core/connector/settings.ts';
import { ReceiverName } from './receivers.ts';
import { distinctNames } from './values.ts';

/** The personal data of an event. A webhook gets it only where its `include` names it. */
export const personalParts = ['contact', 'comment', 'fields'] as const;

/** Descriptions of the events that a webhook may ask for (`EventType` in worker/journey). */
const Event = z.enum(['answer.received', 'answer.changed', 'request.created', 'closing.skipped', 'follow-up.overdue']);

const Webhook = z
  .strictObject({
    name: ReceiverName.describe('What answer rules, logs and commands call it'),
    ...receiver,
    secret: signingSecret.optional().describe('Signs what is sent (Standard Webhooks): `whsec_…`'),
    secrets: z
      .array(signingSecret)
      .min(1)
      .max(2)
      .optional()
      .describe('In place of `secret`: two while one replaces the other; each event is signed with both'),
    events: z.array(Event).default([]).describe('What it is told of. Left out: only what answer rules `send`'),
    include: z.array(z.enum(personalParts)).default([]).describe('Personal data: left out, none is sent'),
  })
  .refine(({ secret, secrets }) => (secret === undefined) !== (secrets === undefined), {
    path: ['secret'],
    message: 'is missing: secret, or secrets while one replaces the other',
  })
  .refine(...httpsUnlessPrivate)
  .transform(({ secret, secrets = secret === undefined ? [] : [secret], ...webhook }) => ({ ...webhook, secrets }));
export type Webhook = z.output<typeof Webhook>;

export const Webhooks = z.array(Webhook).superRefine(distinctNames('webhook'));
