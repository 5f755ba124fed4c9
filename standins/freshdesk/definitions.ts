import { z } from 'zod';

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
export const merge = z.strictObject({ primary: id, secondary: id });
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
  limits: z.strictObject({ total: id, list: id, update: id }).exactOptional(),
  ...{ bare429: flag, suspended: flag, surveys: flag, keepsStats: flag, suffixes: flag, hidesHeaders: flag },
  modifiedOn: z.enum(['iso', 'empty', 'local']).exactOptional(),
  statuses: z.record(z.string().regex(/^\d{1,4}$/), z.string()).exactOptional(),
});

/** Instants are epoch ms; the API shows whole seconds. */
export interface Ticket {
  id: number;
  subject: string | null;
  status: number;
  priority: number;
  type: string | null;
  source: number;
  tags: string[];
  requesterId: number;
  responderId: number | null;
  groupId: number | null;
  /** 1 parent, 2 child, 3 tracker, 4 related. */
  associationType: number | null;
  is: 'live' | 'deleted' | 'spam' | 'archived';
  /** Custom fields by name; a field that nobody filled in is absent. */
  values: Record<string, unknown>;
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

export interface Person {
  id: number;
  name: string;
  email: string | null;
  phone: string | null;
  mobile: string | null;
}

export interface Agent extends Person {
  key: string;
  isAdmin: boolean;
  /** 1 sees all tickets, 2 those of its groups, 3 its own. */
  scope: 1 | 2 | 3;
  groupIds: number[];
}

export interface Field {
  id: number;
  name: string;
  label: string;
  type: string;
  isRequired: boolean;
  isRequiredForClosure: boolean;
  isReadOnly: boolean;
  choices: string[];
}

export interface Rating {
  id: number;
  ticketId: number;
  value: number;
  feedback: string | null;
  at: number;
}

export interface Settings {
  /** Credits a minute: in all, and for the two kinds of calls that no header reports. */
  limits: { total: number; list: number; update: number };
  /** A 429 without Retry-After and without a body. */
  bare429: boolean;
  suspended: boolean;
  /** The plan has surveys. */
  surveys: boolean;
  /** A reopened ticket keeps its first resolution for ever. */
  keepsStats: boolean;
  /** What `{{ticket.modified_on}}` becomes. */
  modifiedOn: 'iso' | 'empty' | 'local';
  /** Fields that are created get a number behind their names. */
  suffixes: boolean;
  /** A rule's headers are read as asterisks. */
  hidesHeaders: boolean;
  statuses: Record<string, string>;
}

export const openSettings = (): Settings => ({
  limits: { total: 400, list: 100, update: 160 },
  ...{ bare429: false, suspended: false, surveys: true, keepsStats: false },
  ...{ modifiedOn: 'iso', suffixes: false, hidesHeaders: false },
  statuses: {
    2: 'Open',
    3: 'Pending',
    4: 'Resolved',
    5: 'Closed',
    6: 'Waiting on Customer',
    7: 'Waiting on Third Party',
  },
});
