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

export type Role = 'end-user' | 'agent' | 'admin';

export interface User {
  id: number;
  name: string;
  email: string | null;
  phone: string | null;
  sharedPhoneNumber: boolean;
  role: Role;
  active: boolean;
  suspended: boolean;
  verified: boolean;
  locale: string;
  ianaTimeZone: string;
  organizationId: number | null;
  tags: string[];
  userFields: Record<string, unknown>;
  createdAt: number;
  updatedAt: number;
}

export interface Group {
  id: number;
  name: string;
}

export interface Organization {
  id: number;
  name: string;
  tags: string[];
}

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

/** A custom ticket field. System fields exist only in the list of all fields. */
export interface TicketField {
  id: number;
  title: string;
  type: FieldType;
  active: boolean;
  required: boolean;
  regexp: string | null;
  tag: string | null;
  agentCanEdit: boolean;
  options: { id: number; name: string; value: string }[];
}

export type FieldValue = string | number | boolean | string[] | null;

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

/** Instants are epoch milliseconds. */
export interface Ticket {
  id: number;
  subject: string;
  description: string;
  status: Status;
  customStatusId: number;
  priority: string | null;
  type: string | null;
  requesterId: number;
  submitterId: number;
  assigneeId: number | null;
  groupId: number | null;
  organizationId: number | null;
  brandId: number;
  formId: number;
  externalId: string | null;
  channel: string;
  /** `follow_up` for a reply to a closed ticket. */
  rel: string | null;
  /** The tickets that follow up on it. */
  followUpIds: number[];
  isPublic: boolean;
  tags: string[];
  fields: Map<number, FieldValue>;
  createdAt: number;
  updatedAt: number;
  /** Last change of any kind, the system's own included. */
  generatedAt: number;
  gone: 'no' | 'deleted' | 'spam';
  audits: Audit[];
  metrics: { id: number; reopens: number; replies: number; solvedAt: number | null; statusUpdatedAt: number };
}

export interface Webhook {
  id: string;
  name: string;
  url: string;
  /** Deliveries take turns; more than one only to test a receiver in the middle of a rotation. */
  secrets: string[];
  turn: number;
  active: boolean;
  /** `conditional_ticket_events` alone makes it trigger-connected. */
  subscriptions: string[];
  httpMethod: string;
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
export interface ObjectRecord {
  id: string;
  object: string;
  externalId: string;
  name: string;
  fields: Record<string, unknown>;
  createdAt: number;
  updatedAt: number;
}

/** A domain event without its prefix (`status_changed`) and what is peculiar to it. */
export interface Happening {
  type: string;
  event: Record<string, unknown>;
}
