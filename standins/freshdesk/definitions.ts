import { z } from 'zod';
import type { Stored } from '../kit/control.ts';

/** What the control surface takes: the stand-in's own words, not the vendor's. */
const id = z.number().int().positive();
const text = z.string().nullable();
const person = { id: id.exactOptional(), name: z.string(), email: text.default(null), phone: text.default(null) };

export const contactDefinition = z.strictObject({ ...person, mobile: text.default(null) });
export const contactChange = z.strictObject({ id, email: text.exactOptional(), phone: text.exactOptional() });
export const agentDefinition = z.strictObject({
  ...person,
  key: z.string().default(''),
  isAdmin: z.boolean().default(false),
  /** 1 sees all tickets, 2 those of its groups, 3 its own. */
  scope: z.literal([1, 2, 3]).default(1),
  groupIds: z.array(id).default([]),
});
export const agentChange = z.strictObject({
  id,
  scope: z.literal([1, 2, 3]).exactOptional(),
  isAdmin: z.boolean().exactOptional(),
});
export const groupDefinition = z.strictObject({ id: id.exactOptional(), name: z.string() });
export const ticketDefinition = z.strictObject({
  id: id.exactOptional(),
  subject: text.default('Where is my parcel?'),
  status: id.default(2),
  priority: z.number().int().min(1).max(4).default(1),
  type: text.default('Question'),
  source: id.default(1),
  tags: z.array(z.string()).default([]),
  requesterId: id,
  responderId: id.nullable().default(null),
  groupId: id.nullable().default(null),
  /** 1 parent, 2 child, 3 tracker, 4 related. */
  associationType: z.number().int().min(1).max(4).nullable().default(null),
  values: z.record(z.string(), z.unknown()).default({}),
  /** How long ago it was made. */
  ageMs: z.number().nonnegative().default(0),
});
export const ticketName = z.strictObject({ id });
/** `priority` changes first, where it changes in the same go. */
export const statusChange = z.strictObject({
  id,
  status: id,
  by: z.enum(['agent', 'requester', 'system']).default('agent'),
  priority: z.number().int().min(1).max(4).exactOptional(),
});
export const massChange = z.strictObject({ ids: z.array(id), status: id.default(4) });
export const ticketChange = z.strictObject({
  id,
  requesterId: id.exactOptional(),
  tags: z.array(z.string()).exactOptional(),
  values: z.record(z.string(), z.unknown()).default({}),
  is: z.enum(['live', 'deleted', 'spam', 'archived']).exactOptional(),
});
export const fieldDefinition = z.strictObject({
  name: z.string(),
  label: z.string().optional(),
  type: z.string().default('custom_text'),
  isRequired: z.boolean().default(false),
  isRequiredForClosure: z.boolean().default(false),
  isReadOnly: z.boolean().default(false),
  choices: z.array(z.string()).default([]),
});
export const fieldName = z.strictObject({ name: z.string() });
export const ratingDefinition = z.strictObject({ ticketId: id, value: z.number().int(), feedback: text.default(null) });
/** Both rules, as an administrator makes them by hand. */
export const webhookDefinition = z.strictObject({ url: z.string(), secret: z.string() });
export const ruleChange = z.strictObject({
  id,
  active: z.boolean().exactOptional(),
  outdated: z.boolean().exactOptional(),
  url: z.string().exactOptional(),
  secret: z.string().nullable().exactOptional(),
});
const flag = z.boolean().exactOptional();
export const settingsChange = z.strictObject({
  /** Credits a minute: in all, and for the two kinds of calls that no header reports. */
  limits: z.strictObject({ total: id, list: id, update: id }).exactOptional(),
  /** A 429 without Retry-After and without a body. */
  bare429: flag,
  suspended: flag,
  /** The plan has surveys. */
  surveys: flag,
  /** A reopened ticket keeps its first resolution for ever. */
  keepsStats: flag,
  /** Fields that are created get a number behind their names. */
  suffixes: flag,
  /** A rule's headers are read as asterisks. */
  hidesHeaders: flag,
  statuses: z.record(z.string().regex(/^\d{1,4}$/), z.string()).exactOptional(),
});

/** Instants are epoch ms; the API shows whole seconds. A custom field that nobody filled in is absent of `values`. */
export interface Ticket extends Omit<Stored<typeof ticketDefinition>, 'ageMs'> {
  is: 'live' | 'deleted' | 'spam' | 'archived';
  createdAt: number;
  updatedAt: number;
  resolvedAt: number | null;
  closedAt: number | null;
  statusUpdatedAt: number;
  conversations: Conversation[];
  /** How often the customer was mailed because of a public note. */
  mails: number;
}

export interface Conversation {
  id: number;
  body: string;
  isPrivate: boolean;
  userId: number;
  at: number;
}

export type Person = Stored<typeof contactDefinition>;
export type Agent = Stored<typeof agentDefinition> & Pick<Person, 'mobile'>;
export type Field = Stored<typeof fieldDefinition> & { label: string };
export type Rating = Stored<typeof ratingDefinition> & { at: number };
export type Settings = Required<z.output<typeof settingsChange>>;

export const openSettings = (): Settings => ({
  limits: { total: 400, list: 100, update: 160 },
  ...{ bare429: false, suspended: false, surveys: true, keepsStats: false },
  ...{ suffixes: false, hidesHeaders: false },
  statuses: {
    2: 'Open',
    3: 'Pending',
    4: 'Resolved',
    5: 'Closed',
    6: 'Waiting on Customer',
    7: 'Waiting on Third Party',
  },
});
