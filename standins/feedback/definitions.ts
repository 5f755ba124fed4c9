import { z } from 'zod';
import type { Stored } from '../kit/control.ts';
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

/** What the control surface takes. Own words in camelCase: none of this is the service's API. */

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/, 'must be HH:MM:SS');
const instant = z.union([z.date(), z.string()]).pipe(z.coerce.date());

export const accountDefinition = z.strictObject({
  name: z.string().min(1),
  /** IANA name; left out: the stand-in's. */
  timeZone: z.string().refine(isTimeZone, 'is not an IANA time zone').optional(),
  /** What campaigns without times of their own use. Equal: always open. */
  sendFrom: timeOfDay.default('00:00:00'),
  sendUntil: timeOfDay.default('00:00:00'),
});

export const keyDefinition = z.strictObject({
  account: z.string(),
  key: z.string().min(1),
  active: z.boolean().default(true),
  expiresAt: instant.nullable().default(null),
});

/** Changes of a key; null clears the expiry. */
export const keyChange = z.strictObject({
  key: z.string(),
  active: z.boolean().optional(),
  expiresAt: instant.nullable().optional(),
});

export const keyName = z.strictObject({ key: z.string() });

const customFieldDefinition = z.strictObject({
  /** Left out: the next free one. */
  id: z.number().int().optional(),
  name: z.string().min(1),
  fieldType: z.enum(fieldTypes).default('Text'),
  required: z.boolean().default(false),
  choices: z.array(z.string()).default([]),
  showInReport: z.boolean().default(true),
  /** Masked together with the contact. */
  personal: z.boolean().default(false),
});

export const campaignDefinition = z.strictObject({
  account: z.string(),
  /** Left out: the next free one. */
  id: z.number().int().positive().optional(),
  name: z.string().default('Campaign'),
  type: z.enum(campaignTypes).default('mixed'),
  metric: z.enum(metrics).default('csat'),
  state: z.enum(['draft', 'active', 'inactive']).default('active'),
  /** Ascending. Left out: 0–10 for nps, none for survey, 1–5 otherwise. */
  gradeList: z.array(z.number()).optional(),
  /** What contact records call the scale; left out: "1-5". */
  scale: z.string().optional(),
  sendFrom: timeOfDay.nullable().default(null),
  sendUntil: timeOfDay.nullable().default(null),
  /** Minutes. */
  sendDelay: z.number().int().min(0).nullable().default(null),
  customFields: z.array(customFieldDefinition).default([]),
});

export const campaignChange = z.strictObject({
  id: z.number().int(),
  name: z.string().optional(),
  state: z.enum(['draft', 'active', 'inactive']).optional(),
  sendFrom: timeOfDay.nullable().optional(),
  sendUntil: timeOfDay.nullable().optional(),
  sendDelay: z.number().int().min(0).nullable().optional(),
});

/** What the API calls the next requests: integers of any length, as texts. */
export const longIds = z.strictObject({ ids: z.array(z.string().regex(/^[1-9]\d{0,39}$/)) });

/** A customer answers: a request by id, or the last one sent to a contact (in any account). */
export const customerAnswer = z
  .strictObject({
    request: z.number().int().optional(),
    contact: z.string().optional(),
    grade: z.number().optional(),
    comment: z.string().min(1).optional(),
    /** Did they complete the survey? */
    survey: z.boolean().default(false),
    /** The address they answered from. */
    ip: z.string().optional(),
  })
  .refine(({ request, contact }) => (request === undefined) !== (contact === undefined), {
    message: 'needs either request or contact',
  });

export const clockChange = z.union([z.strictObject({ advanceMs: z.number() }), z.strictObject({ now: instant })]);

export const blacklistEntry = z.strictObject({ account: z.string(), contact: z.string() });
export const graylistEntry = z.strictObject({ contact: z.string(), campaign: z.number().int() });

export const accessEntry = z.strictObject({
  account: z.string(),
  contact: z.string(),
  user: z.string(),
  action: z.string().default('app-contact-detail'),
  /** Left out: now. */
  at: instant.optional(),
});

/** A question's `config` is taken as it is: the specification doesn't show all of its keys. */
const questionDefinition = z.strictObject({
  id: z.number().int().optional(),
  question: z.string(),
  answerType: z.enum(['text', 'number', 'date', 'time', 'bool', 'choice', 'range', 'metric']),
  instructions: z.string().default(''),
  required: z.boolean().default(false),
  isActive: z.boolean().default(true),
  config: z.record(z.string(), z.unknown()).default({}),
});

export const surveyDefinition = z.strictObject({
  account: z.string(),
  id: z.number().int().optional(),
  name: z.string(),
  isActive: z.boolean().default(true),
  questions: z.array(questionDefinition).default([]),
});

export const requestFilter = z.strictObject({
  campaign: z.coerce.number().int().optional(),
  contact: z.string().optional(),
  limit: z.coerce.number().int().min(1).optional(),
});

/** A request from before now, past the API: asked, and perhaps answered. Values by the names of custom fields. */
export const pastRequest = z.strictObject({
  campaign: z.number().int(),
  email: z.string(),
  askedAt: instant,
  values: z.record(z.string(), z.string()).default({}),
  answer: z.strictObject({ at: instant, grade: z.number(), comment: z.string().optional() }).optional(),
});

/** Many requests at once, for benches: contacts fill000001@example.com …, every value of a Choice in turn. */
export const fillOrder = z.strictObject({
  campaign: z.number().int(),
  count: z.number().int().min(1),
  /** Share of requests with a grade, 0 to 1; every third of these has a comment. */
  graded: z.number().min(0).max(1).default(0.3),
  /** Days before today over which scheduled dates are spread. */
  days: z.number().int().min(0).default(0),
});

function isTimeZone(id: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: id });
    return true;
  } catch {
    return false;
  }
}

export type CampaignType = (typeof campaignTypes)[number];
export type Metric = (typeof metrics)[number];
export type FieldType = (typeof fieldTypes)[number];

/** A custom field's value as stored and shown: dates and times in their one spelling. */
export type FieldValue = string | number | boolean;

export type CustomField = Stored<typeof customFieldDefinition>;

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

/** `gradeList` is in order, lowest first; without times of its own it has the account's. */
export interface Campaign extends Omit<Stored<typeof campaignDefinition>, 'account' | 'customFields'> {
  account: Account;
  gradeList: number[];
  scale: string;
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
  accessLog: Map<string, { user: string; action: string; at: number }[]>;
  surveys: Survey[];
}

export interface ApiKey {
  account: Account;
  active: boolean;
  expiresAt: number | null;
}
