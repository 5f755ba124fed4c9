import { z } from 'zod';
import { listOf, orElse } from '../../core/entries.ts';

/* What Intercom says of a conversation, a ticket, a contact. Ids come as texts or numbers, 0 for nobody; instants as seconds or ISO texts. */

export const id = z.union([z.string().regex(/^\d{1,20}$/), z.int().positive()]).transform(String);
const somebody = z
  .union([z.string(), z.number()])
  .transform((value) => (['', '0'].includes(String(value)) ? undefined : String(value)))
  .optional()
  .catch(undefined);
/** Whole seconds, of a year that a date can have; anything else is no time. */
export const time = z
  .union([z.number(), z.string().transform((text) => Date.parse(text) / 1_000)])
  .transform((seconds) => (seconds >= 0 && seconds < 1e11 ? Math.floor(seconds) : undefined))
  .optional()
  .catch(undefined);
const text = z.string().catch('');
const values = z.record(z.string(), z.unknown()).catch({});
const flag = z.boolean().catch(false);

export const Part = z.object({
  id: z.union([z.string(), z.number()]).transform(String).catch(''),
  part_type: text,
  body: text,
  created_at: time,
  author: z.object({ id: somebody, type: text }).catch({ id: undefined, type: '' }),
  app_package_code: text,
  ticket_state: text,
  previous_ticket_state: text,
});
export type Part = z.output<typeof Part>;

export const Rating = z.object({
  rating: z.int().min(1).max(5),
  remark: z.string().nullish().catch(null),
  updated_at: time,
});

const contacts = orElse(z.object({ contacts: listOf(z.object({ id: z.string() })) }), { contacts: [] }).transform(
  (list) => list.contacts.map((one) => one.id),
);

export const Conversation = z.object({
  id,
  state: text,
  created_at: time,
  updated_at: time,
  title: text,
  priority: text,
  source: z
    .object({ type: text, delivered_as: text, subject: text })
    .catch({ type: '', delivered_as: '', subject: '' }),
  contacts,
  admin_assignee_id: somebody,
  team_assignee_id: somebody,
  tags: orElse(z.object({ tags: listOf(z.object({ name: z.string() })) }), { tags: [] }).transform(({ tags }) =>
    tags.map(({ name }) => name),
  ),
  /** Null for imported ones. */
  statistics: z
    .object({ last_close_at: time, last_closed_by_id: somebody, last_contact_reply_at: time })
    .nullable()
    .catch(null),
  conversation_rating: Rating.nullable().catch(null),
  custom_attributes: values,
  ai_agent_participated: flag,
  ai_agent: z.object({ resolution_state: text }).nullable().catch(null),
  ticket: z.object({ state: text }).nullable().catch(null),
  /** In a search there are none. */
  conversation_parts: z
    .object({ conversation_parts: listOf(Part) })
    .transform((list) => list.conversation_parts)
    .optional(),
});
export type Conversation = z.output<typeof Conversation>;

export const Ticket = z.object({
  id,
  category: text,
  open: z.boolean().catch(true),
  updated_at: time,
  ticket_state: z.object({ category: text }).catch({ category: '' }),
  ticket_type: z.object({ name: text }).catch({ name: '' }),
  ticket_attributes: values,
  ticket_parts: orElse(z.object({ ticket_parts: listOf(Part) }), { ticket_parts: [] }).transform(
    (list) => list.ticket_parts,
  ),
});
export type Ticket = z.output<typeof Ticket>;

export const Contact = z.object({
  id: z.string(),
  external_id: text,
  role: text,
  name: text,
  email: text,
  phone: text,
  language_override: text,
  browser_language: text,
  location: z.object({ country: text, region: text, city: text }).catch({ country: '', region: '', city: '' }),
  custom_attributes: values,
  unsubscribed_from_emails: flag,
  has_hard_bounced: flag,
  marked_email_as_spam: flag,
  unsubscribed_from_sms: flag,
  sms_consent: flag,
});
export type Contact = z.output<typeof Contact>;
