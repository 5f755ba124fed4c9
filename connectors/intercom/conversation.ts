import { z } from 'zod';
import { listOf, orElse } from '../../core/entries.ts';

/* Conversations, tickets and contacts in responses. Ids are strings or numbers, with 0 for nobody; instants are seconds or ISO strings. */

export const id = z.union([z.string().regex(/^\d{1,20}$/), z.int().positive()]).transform(String);
const somebody = z
  .union([z.string(), z.number()])
  .transform((value) => (['', '0'].includes(String(value)) ? undefined : String(value)))
  .optional()
  .catch(undefined);
/** Whole seconds since 1970, before the year 5139; undefined for anything else. */
export const time = z
  .union([z.number(), z.string().transform((text) => Date.parse(text) / 1_000)])
  .transform((seconds) => (seconds >= 0 && seconds < 1e11 ? Math.floor(seconds) : undefined))
  .optional()
  .catch(undefined);
const text = orElse(z.string(), '');
const flag = orElse(z.boolean(), false);
const values = orElse(z.record(z.string(), z.unknown()), {});
/** An object whose members may each be absent or invalid; so may the whole object. */
const lenient = <Shape extends z.ZodRawShape>(shape: Shape) => {
  const object = z.object(shape);
  return orElse(object, object.parse({}));
};
const named = z.object({ name: z.string() }).transform(({ name }) => name);
const identified = z.object({ id: z.string() }).transform(({ id }) => id);

export const Part = z.object({
  id: z.union([z.string(), z.number()]).transform(String).catch(''),
  part_type: text,
  body: text,
  created_at: time,
  author: lenient({ id: somebody, type: text }),
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

export const Conversation = z.object({
  id,
  state: text,
  created_at: time,
  updated_at: time,
  title: text,
  priority: text,
  source: lenient({ type: text, delivered_as: text, subject: text }),
  contacts: lenient({ contacts: orElse(listOf(identified), []) }).transform(({ contacts }) => contacts),
  admin_assignee_id: somebody,
  team_assignee_id: somebody,
  tags: lenient({ tags: orElse(listOf(named), []) }).transform(({ tags }) => tags),
  /** Null for imported conversations. */
  statistics: z
    .object({ last_close_at: time, last_closed_by_id: somebody, last_contact_reply_at: time })
    .nullable()
    .catch(null),
  conversation_rating: Rating.nullable().catch(null),
  custom_attributes: values,
  ai_agent_participated: flag,
  ai_agent: z.object({ resolution_state: text }).nullable().catch(null),
  ticket: z.object({ state: text }).nullable().catch(null),
  /** The parts, which searches leave out. */
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
  ticket_state: lenient({ category: text }),
  ticket_type: lenient({ name: text }),
  ticket_attributes: values,
  ticket_parts: lenient({ ticket_parts: orElse(listOf(Part), []) }).transform(({ ticket_parts }) => ticket_parts),
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
  location: lenient({ country: text, region: text, city: text }),
  custom_attributes: values,
  unsubscribed_from_emails: flag,
  has_hard_bounced: flag,
  marked_email_as_spam: flag,
  unsubscribed_from_sms: flag,
  sms_consent: flag,
});
export type Contact = z.output<typeof Contact>;
