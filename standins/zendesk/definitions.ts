import { z } from 'zod';
import type { Stored } from '../kit/control.ts';
import type { VendorOptions } from '../kit/vendor-standin.ts';

export const statuses = ['new', 'open', 'pending', 'hold', 'solved', 'closed'] as const;
export type Status = (typeof statuses)[number];

/** Each category's default custom status. A closed ticket keeps the custom status with which it was solved. */
export const customStatusIds: Readonly<Record<Status, number>> = {
  new: 5001,
  open: 5002,
  pending: 5003,
  hold: 5004,
  solved: 5005,
  closed: 5005,
};

export const fieldTypes = [
  'text',
  'textarea',
  'checkbox',
  'date',
  'integer',
  'decimal',
  'regexp',
  'partialcreditcard',
  'multiselect',
  'tagger',
  'lookup',
] as const;
export type FieldType = (typeof fieldTypes)[number];

export const keyedFieldTypes = [
  'text',
  'textarea',
  'checkbox',
  'date',
  'integer',
  'decimal',
  'regexp',
  'dropdown',
  'lookup',
  'multiselect',
] as const;

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

export const ruleValue = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.null(),
  z.array(z.union([z.string(), z.number()])),
]);
export const ruleCondition = z.strictObject({
  field: z.string(),
  operator: z.string(),
  value: ruleValue.default(null),
});
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

const adminSettings = z.strictObject({
  /** Legacy satisfaction ratings. */
  customerSatisfaction: z.boolean().exactOptional(),
  /** Whether webhooks may subscribe to ticket events; the vendor's documents disagree. */
  ticketEvents: z.boolean().exactOptional(),
  /** At most 10 webhooks. */
  trial: z.boolean().exactOptional(),
  /** How many custom objects the plan has room for. */
  customObjects: z.number().int().min(0).exactOptional(),
  /** The scopes that the OAuth client may ask for at most; left out: all. */
  clientScopes: z.array(z.string()).exactOptional(),
});

export const settingsChange = z.strictObject({
  /** "Modify closed ticket" in the Admin Center. */
  modifyClosedTickets: z.boolean().exactOptional(),
  perMinute: z.number().int().positive().exactOptional(),
  ticketUpdatesPerMinute: z.number().int().positive().exactOptional(),
  /** How long each of the next jobs is queued, for jobs that run late: used in place of the setting with which the stand-in was started. */
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
  admin: adminSettings.exactOptional(),
});

interface Dated {
  /** Instants are epoch milliseconds. */
  createdAt: number;
  updatedAt: number;
}
interface Options {
  options: { id: number; name: string; value: string }[];
}

export type User = Stored<typeof userDefinition> & Dated;
export type Group = Stored<typeof groupDefinition>;
export type Organization = Stored<typeof organizationDefinition>;
/** A custom ticket field. System fields exist only in the list of all fields. */
export type TicketField = Omit<Stored<typeof fieldDefinition>, 'options'> & Options;
export type FieldValue = z.output<typeof fieldValue>;

export interface AuditEvent {
  id: number;
  type: 'Create' | 'Change' | 'Comment';
  [key: string]: unknown;
}

export interface Audit {
  id: number;
  ticketId: number;
  createdAt: number;
  authorId: number;
  metadata: Record<string, unknown>;
  channel: string;
  events: AuditEvent[];
}

export interface Ticket extends Omit<Stored<typeof ticketDefinition>, 'customFields' | 'priority' | 'type'>, Dated {
  priority: string | null;
  type: string | null;
  customStatusId: number;
  submitterId: number;
  /** The tickets that follow up on it. */
  followUpIds: number[];
  fields: Map<number, FieldValue>;
  /** Last change of any kind, the system's own included. */
  generatedAt: number;
  gone: 'no' | 'deleted' | 'spam';
  audits: Audit[];
  metrics: { id: number; reopens: number; replies: number; solvedAt: number | null; statusUpdatedAt: number };
}

/** `conditional_ticket_events` alone among its subscriptions makes it trigger-connected. */
export interface Webhook extends Omit<Stored<typeof webhookTarget, string>, 'style' | 'template' | 'statuses'> {
  turn: number;
  requestFormat: string;
  invocations: Invocation[];
}

/** One delivery, all its attempts together. */
export interface Invocation {
  id: string;
  status: 'success' | 'failed' | 'timeout' | 'client error' | 'server error';
  at: number;
}

export interface Token {
  userId: number;
  /** Empty: issued for a malformed scope, Forbidden everywhere. */
  scopes: string[];
  expiresAt: number;
}

export interface Job {
  id: string;
  status: 'queued' | 'working' | 'completed';
  total: number;
  progress: number;
  results: object[] | null;
}

/** A record of a custom object. */
export interface ObjectRecord extends Dated {
  id: string;
  object: string;
  externalId: string;
  name: string;
  fields: Record<string, unknown>;
}

/** A domain event without its prefix (`status_changed`) and what is peculiar to it. */
export interface Happening {
  type: string;
  event: Record<string, unknown>;
}

/** A custom field of users or of the records of a custom object: known by its key. */
export type KeyedField = Omit<Stored<typeof keyedField>, 'options'> & Options;
export type CustomObject = Omit<z.output<typeof customObject>, 'fields'> & { fields: KeyedField[] };
/** A trigger or an automation. */
export type Rule = Stored<typeof rule>;

type AdminSettings = Omit<Required<z.output<typeof adminSettings>>, 'clientScopes'> & { clientScopes?: string[] };

/** What admins set up in the Admin Center. */
export class Admin {
  readonly settings: AdminSettings = {
    customerSatisfaction: false,
    ticketEvents: true,
    trial: false,
    customObjects: 30,
  };
  readonly userFields = new Map<number, KeyedField>();
  readonly customObjects = new Map<string, CustomObject>();
  /** Texts by the names of their placeholders: `{{dc.excellent}}` in an option's name is shown as what `excellent` says here. */
  readonly dynamicContent = new Map<string, string>();
  triggers: Rule[] = [];
  /** Every account has this one; it can be changed, not removed. */
  automations: Rule[] = [
    {
      id: 25,
      title: 'Close ticket 4 days after status is set to solved',
      active: true,
      conditions: {
        all: [
          { field: 'status', operator: 'is', value: 'solved' },
          { field: 'SOLVED', operator: 'greater_than', value: '96' },
        ],
        any: [],
      },
      actions: [{ field: 'status', value: 'closed' }],
    },
  ];
}

export interface Credentials {
  clientId: string;
  clientSecret: string;
  /** For Basic `email/token:TOKEN`. */
  apiToken: string;
}

export interface ZendeskStandinOptions extends VendorOptions {
  /** For the signatures' timestamps. Left out: the system's. */
  wallClock?: () => Date;
  /** Calls of the account per minute (default 700, plan Enterprise) and PUTs on tickets (default 100). */
  rateLimit?: { perMinute?: number; ticketUpdatesPerMinute?: number };
  /** Default client `closeloop`, secret `zendesk-client-secret`, token `zendesk-api-token` of integration@example.com. */
  credentials?: Partial<Credentials>;
  accountId?: number;
  jobs?: { queuedMs?: number; workingMs?: number };
}

type Changeable = Required<Omit<z.output<typeof settingsChange>, 'apiRole' | 'admin'>>;
export type Settings = Changeable & { jobQueuedMs: number; jobWorkingMs: number };

export function openSettings({ rateLimit, jobs }: ZendeskStandinOptions): Settings {
  return {
    modifyClosedTickets: false,
    perMinute: rateLimit?.perMinute ?? 700,
    ticketUpdatesPerMinute: rateLimit?.ticketUpdatesPerMinute ?? 100,
    jobQueuedMs: jobs?.queuedMs ?? 50,
    jobWorkingMs: jobs?.workingMs ?? 50,
    nextJobsQueuedMs: [],
    exportsPerMinute: 10,
    exportLagMs: 60_000,
    metricSets: 'beside',
    nameSideloads: true,
  };
}
