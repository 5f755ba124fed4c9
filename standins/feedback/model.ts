import type { Zone } from './zone.ts';

export const campaignTypes = ['sms', 'email', 'mixed', 'widget', 'external'] as const;
export const metrics = ['avg', 'csat', 'nps', 'survey'] as const;
export const fieldTypes = [
  'Text',
  'Integer',
  'Date',
  'Time',
  'Date and time',
  'Yes/No',
  'Choice',
  'URL address',
] as const;

export type CampaignType = (typeof campaignTypes)[number];
export type Metric = (typeof metrics)[number];
export type FieldType = (typeof fieldTypes)[number];

/** A custom field's value as stored and shown: dates and times in their one spelling. */
export type FieldValue = string | number | boolean;

export interface CustomField {
  id: number;
  name: string;
  fieldType: FieldType;
  required: boolean;
  choices: string[];
  showInReport: boolean;
  /** Masked together with the contact. */
  personal: boolean;
}

/** Counts over some requests of one campaign; `grades` by position in the campaign's grade list. */
export interface Tally {
  total: number;
  graded: number;
  commented: number;
  grades: number[];
}

/** Counts over the requests with one value of one custom field. */
export interface ValueTally {
  value: FieldValue;
  requests: number;
  graded: number;
  sum: number;
}

export interface Campaign {
  id: number;
  account: Account;
  type: CampaignType;
  metric: Metric;
  name: string;
  state: 'draft' | 'active' | 'inactive';
  /** In order, lowest first. */
  gradeList: number[];
  /** What contact records call the scale. */
  scale: string;
  /** HH:MM:SS; null: the account's. */
  sendFrom: string | null;
  sendUntil: string | null;
  /** Minutes. */
  sendDelay: number | null;
  fields: CustomField[];
  /** In order of creation. */
  requests: FeedbackRequest[];
  /** Over all requests, and per day (in the account's zone) on which they are scheduled. */
  total: Tally;
  days: Map<number, Tally>;
  /** Per report field (by position), per value. Fields not shown in reports have none. */
  values: (Map<FieldValue, ValueTally> | undefined)[];
}

/** Everything a customer did. Absent until they do something: most requests are never answered. */
export interface Answer {
  grade: number | null;
  gradeAt: number | null;
  /** When the grade last became another one: what `changed_since` looks at. */
  gradeChangedAt: number | null;
  comment: string | null;
  commentAt: number | null;
  surveyAt: number | null;
}

export type Status = 'Scheduled' | 'Sent' | 'Cancelled' | 'Not sent';

/** One feedback request. Instants are epoch milliseconds. Kept small: a bench holds a million. */
export interface FeedbackRequest {
  id: number;
  /** What the API calls it instead, if the next ids were given: of any length. */
  longId: bigint | null;
  campaign: Campaign;
  phone: string | null;
  email: string | null;
  identifier: string | null;
  ip: string | null;
  scheduledAt: number;
  /** `scheduledAt`, moved into the send window. */
  dueAt: number;
  /** The day of `scheduledAt` in the account's zone. */
  day: number;
  /** Set when it can never go out any more. */
  ended: 'Cancelled' | 'Not sent' | null;
  masked: boolean;
  answer: Answer | null;
  /** By position of the campaign's fields; null where there is none. */
  values: (FieldValue | null)[] | null;
}

export interface AccessLogEntry {
  user: string;
  action: string;
  at: number;
}

export interface Survey {
  id: number;
  name: string;
  isActive: boolean;
  questions: object[];
}

export interface Account {
  name: string;
  zone: Zone;
  sendFrom: string;
  sendUntil: string;
  campaigns: Campaign[];
  requests: FeedbackRequest[];
  /** By index key; a single request isn't wrapped, because nearly every contact has one. */
  contacts: Map<string, FeedbackRequest | FeedbackRequest[]>;
  /** Digests of the index keys of masked requests. */
  maskedContacts: Set<string>;
  blacklist: Map<string, { entry: string; at: number }>;
  graylist: Map<string, { entry: string; campaigns: Map<Campaign, number> }>;
  accessLog: Map<string, AccessLogEntry[]>;
  surveys: Survey[];
}

export interface ApiKey {
  account: Account;
  active: boolean;
  expiresAt: number | null;
}
