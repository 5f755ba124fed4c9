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
