import { z } from 'zod';
import { keyedFieldTypes } from './admin.ts';
import { fieldTypes, statuses } from './model.ts';

/** What the control surface takes: the stand-in's own words, not the vendor's. */
const id = z.number().int().positive();
const fieldValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.null()]);

export const userDefinition = z.strictObject({
  id: id.optional(),
  name: z.string().default('Customer'),
  email: z.string().nullable().default(null),
  phone: z.string().nullable().default(null),
  sharedPhoneNumber: z.boolean().default(false),
  role: z.enum(['end-user', 'agent', 'admin']).default('end-user'),
  active: z.boolean().default(true),
  suspended: z.boolean().default(false),
  verified: z.boolean().default(true),
  locale: z.string().default('en-US'),
  ianaTimeZone: z.string().default('Europe/Tallinn'),
  organizationId: id.nullable().default(null),
  tags: z.array(z.string()).default([]),
  userFields: z.record(z.string(), z.unknown()).default({}),
});

export const userName = z.strictObject({ id });
export const userChange = z.strictObject({ ...userDefinition.partial().shape, id });

/** `id` is merged away, into `into`. */
export const userMerge = z.strictObject({ id, into: id });

/** The customer rates the solved ticket; again, to change their mind. */
export const ratingAction = z.strictObject({
  id,
  score: z.enum(['good', 'bad']),
  comment: z.string().nullable().default(null),
});

export const groupDefinition = z.strictObject({ id: id.optional(), name: z.string() });
export const organizationDefinition = z.strictObject({
  id: id.optional(),
  name: z.string(),
  tags: z.array(z.string()).default([]),
});

export const fieldDefinition = z.strictObject({
  id: id.optional(),
  title: z.string(),
  type: z.enum(fieldTypes),
  active: z.boolean().default(true),
  /** Required to solve. */
  required: z.boolean().default(false),
  regexp: z.string().nullable().default(null),
  /** A checkbox's tag. */
  tag: z.string().nullable().default(null),
  agentCanEdit: z.boolean().default(true),
  /** Options of a dropdown (`tagger`) or multiselect; `value` is the tag. */
  options: z.array(z.strictObject({ name: z.string(), value: z.string() })).default([]),
});

export const ticketDefinition = z.strictObject({
  id: id.optional(),
  subject: z.string().default('Printer'),
  description: z.string().default('It does not print.'),
  status: z.enum(statuses).default('open'),
  priority: z.enum(['low', 'normal', 'high', 'urgent']).nullable().default(null),
  type: z.enum(['question', 'incident', 'problem', 'task']).nullable().default(null),
  requesterId: id,
  submitterId: id.optional(),
  assigneeId: id.nullable().default(null),
  groupId: id.nullable().default(null),
  organizationId: id.nullable().default(null),
  brandId: id.default(3001),
  formId: id.default(4001),
  externalId: z.string().nullable().default(null),
  channel: z.string().default('email'),
  /** `follow_up` for a reply to a closed ticket. */
  rel: z.string().nullable().default(null),
  isPublic: z.boolean().default(true),
  tags: z.array(z.string()).default([]),
  /** By field id. */
  customFields: z.record(z.string(), fieldValue).default({}),
});

export const ticketName = z.strictObject({ id });
/** `actorId`: who does it; default the assignee, else the system. */
export const ticketAction = z.strictObject({ id, actorId: id.optional() });
export const statusAction = z.strictObject({ ...ticketAction.shape, status: z.enum(statuses) });
export const commentAction = z.strictObject({ id, authorId: id, body: z.string(), public: z.boolean().default(true) });
/** Within its category the status stays as it is. */
export const customStatusAction = z.strictObject({ ...ticketAction.shape, customStatusId: id });
export const tagAction = z.strictObject({ ...ticketAction.shape, tags: z.array(z.string()) });
export const fieldAction = z.strictObject({ ...ticketAction.shape, fieldId: id, value: fieldValue });
/** What an agent changes of a ticket beside its status, tags and custom fields. */
export const ticketEdit = z.strictObject({
  ...ticketAction.shape,
  subject: z.string().exactOptional(),
  requesterId: id.exactOptional(),
  groupId: id.exactOptional(),
});
/** `id` is merged away, into `into`. */
export const mergeAction = z.strictObject({ ...ticketAction.shape, into: id });

export const webhookTarget = z.strictObject({
  name: z.string().default('closeloop'),
  url: z.string(),
  active: z.boolean().default(true),
  httpMethod: z.string().default('POST'),
  /** One as a rule; with more, deliveries take turns. Default ["zendesk-webhook-secret"]. */
  secrets: z.array(z.string().min(1)).min(1).default(['zendesk-webhook-secret']),
  style: z.enum(['event', 'trigger']).default('event'),
  /** Event style: event names with or without the prefix `zen:event-type:`. */
  subscriptions: z
    .array(z.string())
    .default(['ticket.status_changed', 'ticket.merged', 'ticket.soft_deleted', 'ticket.marked_as_spam']),
  /** Trigger style, its trigger: the body, with {{ticket.id}} and {{ticket.status}}. */
  template: z.string().default('{"v":1,"source":"zendesk-trigger","ticket_id":"{{ticket.id}}"}'),
  /** Trigger style: fires when a ticket reaches one of these. */
  statuses: z.array(z.enum(statuses)).default(['solved']),
});

const ruleValue = z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.union([z.string(), z.number()]))]);
const ruleCondition = z.strictObject({ field: z.string(), operator: z.string(), value: ruleValue.default(null) });
/** A trigger or an automation, in the vendor's words. */
export const rule = z.strictObject({
  title: z.string(),
  active: z.boolean().default(true),
  conditions: z
    .strictObject({ all: z.array(ruleCondition).default([]), any: z.array(ruleCondition).default([]) })
    .prefault({}),
  actions: z.array(z.strictObject({ field: z.string(), value: ruleValue })).default([]),
});

/** A field of users, or of a custom object's records. */
export const keyedField = z.strictObject({
  key: z.string(),
  title: z.string().default('A field'),
  type: z.enum(keyedFieldTypes).default('text'),
  active: z.boolean().default(true),
  regexp: z.string().nullable().default(null),
  options: z.array(z.strictObject({ name: z.string(), value: z.string() })).default([]),
});
/** Brand, form or custom status (of a category). */
export const named = z.strictObject({ id: id.optional(), name: z.string() });
export const customStatus = z.strictObject({
  ...named.shape,
  category: z.enum(['new', 'open', 'pending', 'hold', 'solved']),
});
export const objectName = z.strictObject({ key: z.string() });
export const customObject = z.strictObject({
  key: z.string(),
  title: z.string().default('Feedback'),
  fields: z.array(keyedField).default([]),
});

export const delivery = z.strictObject({
  /** "ticket.status_changed" … */
  type: z.string().default('ticket.status_changed'),
  id,
  /** The event's own keys; default {"current": the status, "previous": "OPEN"}. */
  event: z.record(z.string(), z.unknown()).optional(),
  /** Same id in two deliveries = the same event twice. */
  eventId: z.string().optional(),
  actorId: id.optional(),
});

export const settingsChange = z.strictObject({
  /** "Modify closed ticket" in the Admin Center. */
  modifyClosedTickets: z.boolean().exactOptional(),
  /** Whether API tokens still work. */
  legacyTokens: z.boolean().exactOptional(),
  perMinute: z.number().int().positive().exactOptional(),
  ticketUpdatesPerMinute: z.number().int().positive().exactOptional(),
  /** How long a job is queued, and then at work. */
  jobQueuedMs: z.number().min(0).exactOptional(),
  jobWorkingMs: z.number().min(0).exactOptional(),
  /** How long each of the next jobs is queued, in place of `jobQueuedMs`: jobs that run late. */
  nextJobsQueuedMs: z.array(z.number().min(0)).exactOptional(),
  exportsPerMinute: z.number().int().positive().exactOptional(),
  /** How long a change stays out of incremental exports. */
  exportLagMs: z.number().min(0).exactOptional(),
  /** Where the metric set sideload goes: beside the tickets, or into each. */
  metricSets: z.enum(['beside', 'inside']).exactOptional(),
  /** Whether brands, forms and custom statuses are sent along with tickets. */
  nameSideloads: z.boolean().exactOptional(),
  /** Role of the user behind the API client. */
  apiRole: z.enum(['agent', 'admin']).exactOptional(),
  admin: z
    .strictObject({
      customerSatisfaction: z.boolean().exactOptional(),
      ticketEvents: z.boolean().exactOptional(),
      trial: z.boolean().exactOptional(),
      clientScopes: z.array(z.string()).exactOptional(),
    })
    .exactOptional(),
});
