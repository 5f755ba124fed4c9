import { z } from 'zod';
import { campaignTypes } from '../contact.ts';
import { listOf, mapOf } from '../entries.ts';
import { mismatchesOf } from '../mismatches.ts';

/*
 * The data that the service sends, by section 2 of the specification. Keys are the service's own. Unknown keys are
 * dropped, so that the service may add keys; a known key of another kind is an error.
 */

/** An instant in ISO 8601 with an offset, with up to microseconds (cut to milliseconds). Without an offset the instant would be unknown. */
const Timestamp = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
const TimeOfDay = z.iso.time({ precision: 0 });
const Count = z.int().min(0);
/** The average of no grades is null. */
const Figure = z.number().nullable();

export const metrics = ['avg', 'csat', 'nps', 'survey'] as const;
export type Metric = (typeof metrics)[number];

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
export type FieldType = (typeof fieldTypes)[number];

export const CustomFieldDefinition = z.object({
  name: z.string(),
  field_type: z.enum(fieldTypes),
  required: z.boolean(),
  /** Possible values for `Choice`; empty for other types. */
  choices: listOf(z.string()),
});
export type CustomFieldDefinition = z.output<typeof CustomFieldDefinition>;

export const CampaignStats = z.object({
  /** Per cent; present only for campaigns with metric csat. */
  csat_index: Figure.optional(),
  /** −100 to 100; present only for campaigns with metric nps. */
  nps_index: Figure.optional(),
  appeals_total: Count,
  appeals_graded: Count,
  appeals_commented: Count,
  /** Null or absent when nothing was graded. */
  average_grade: Figure.optional(),
  /** Graded feedback requests per grade; the keys are the grades. */
  grade_counts: mapOf(Count),
});
export type CampaignStats = z.output<typeof CampaignStats>;

export const Campaign = z.object({
  id: z.int(),
  type: z.enum(campaignTypes),
  metric: z.enum(metrics),
  name: z.string(),
  /** The possible grades in order; empty for survey-only campaigns. */
  grade_list: listOf(z.number()),
  /** Wall-clock `HH:MM:SS` in the account's zone. */
  send_from: TimeOfDay,
  send_until: TimeOfDay,
  /** Minutes the service itself waits before sending a request without a scheduled date. */
  send_delay: Count.nullable(),
  custom_fields: listOf(CustomFieldDefinition),
  stats: CampaignStats,
});
export type Campaign = z.output<typeof Campaign>;

export const CustomFieldStatistic = z.object({
  id: z.int(),
  name: z.string(),
  /** One entry per value entered, highest average grade first. */
  values: listOf(
    z.object({
      value: z.union([z.string(), z.number(), z.boolean(), z.null()]),
      count: Count,
      average_grade: Figure.optional(),
    }),
  ),
});
export type CustomFieldStatistic = z.output<typeof CustomFieldStatistic>;

export const ContactRecord = z.object({
  contact: z.string(),
  num_appeals: Count,
  num_feedback: Count,
  /** One entry per grading scale the contact was graded on. */
  avg_grade: listOf(z.object({ scale: z.string(), avg: z.number() })),
  index_csat: z.number().nullable(),
  index_nps: z.number().nullable(),
  /** When the last feedback request was scheduled. */
  last_appeal: Timestamp.nullable(),
  last_grade: Timestamp.nullable(),
  last_comment: Timestamp.nullable(),
  last_survey: Timestamp.nullable(),
  /** Null when not on the blacklist. */
  blacklist: z.object({ entry: z.string(), date_added: Timestamp }).nullable(),
  /** Null when on no graylist; else one entry per campaign where the contact is on it. */
  graylist: z
    .object({
      entry: z.string(),
      campaigns: listOf(z.object({ id: z.int(), name: z.string(), date_added: Timestamp })),
    })
    .nullable(),
});
export type ContactRecord = z.output<typeof ContactRecord>;

export const MaskResult = z.object({
  contact: z.string(),
  /** `appeals`: feedback requests masked by this call; absent when every request was masked before. */
  masked: z.object({ appeals: Count.optional() }),
});
export type MaskResult = z.output<typeof MaskResult>;

export const AccessLogEntry = z.object({
  user: z.string(),
  action: z.string(),
  date_accessed: Timestamp,
});
export type AccessLogEntry = z.output<typeof AccessLogEntry>;

export const SurveyEntry = z.object({
  id: z.int(),
  name: z.string(),
  /** Draft and inactive surveys: false. */
  is_active: z.boolean(),
});
export type SurveyEntry = z.output<typeof SurveyEntry>;

/** Gives an optional setting a default, for where the service leaves the setting out. */
function orDefault<Schema extends z.ZodType>(schema: Schema, fallback: z.output<Schema>) {
  return schema.nullish().transform((value): z.output<Schema> => value ?? fallback);
}

const questionKeys = {
  id: z.int(),
  question: z.string(),
  /** Help text; empty when there is none. */
  instructions: orDefault(z.string(), ''),
  required: orDefault(z.boolean(), false),
  is_active: orDefault(z.boolean(), true),
};

/** The specification names these settings without their kinds, so anything goes and all keys are kept. */
const Bounds = z.looseObject({ min: z.unknown().optional(), max: z.unknown().optional() });

function question<Type extends string, Config extends z.ZodType>(type: Type, config: Config) {
  return z.object({ ...questionKeys, answer_type: z.literal(type), config });
}

/** One question; `config` depends on `answer_type`. Keys of `config` that the specification doesn't show are kept. */
export const Question = z.discriminatedUnion('answer_type', [
  question(
    'metric',
    z.looseObject({
      metric: z.string(),
      start: z.int(),
      end: z.int(),
      step: orDefault(z.int(), 1),
      label_start: orDefault(z.string(), ''),
      label_mid: orDefault(z.string(), ''),
      label_end: orDefault(z.string(), ''),
      // A scale other than nps has no promoters; the specification doesn't say whether it then sends the keys.
      nps_promoters: listOf(z.int()).nullish(),
      nps_detractors: listOf(z.int()).nullish(),
    }),
  ),
  question(
    'choice',
    z.looseObject({
      choices: orDefault(listOf(z.string()), []),
      limit: z.string().nullish(),
      limit_exact: z.int().nullish(),
      limit_min: z.int().nullish(),
      limit_max: z.int().nullish(),
      show_other: orDefault(z.boolean(), false),
    }),
  ),
  question('text', z.looseObject({ widget: z.string().nullish(), max_length: z.int().nullish() })),
  question('range', z.looseObject({ start: z.unknown().optional(), end: z.unknown().optional() })),
  question('number', Bounds),
  question('date', Bounds),
  question('time', Bounds),
  question('bool', z.looseObject({ true_label: z.unknown().optional(), false_label: z.unknown().optional() })),
]);
export type Question = z.output<typeof Question>;

const Identified = z.object({ id: z.int() });

/** A question in an unexpected shape, which hides no others. */
export interface UnreadableQuestion {
  /** Null where the id itself can't be read. */
  id: number | null;
  /** The places that are wrong, and what was expected there; never a value. */
  mismatches: string[];
}

/** `questions`: in the order the customer sees them. */
export const Survey = z.object({ ...SurveyEntry.shape, questions: z.array(z.unknown()) }).transform((survey) => {
  const questions: Question[] = [];
  const unreadable: UnreadableQuestion[] = [];
  for (const [index, sent] of survey.questions.entries()) {
    const parsed = Question.safeParse(sent);
    if (parsed.success) questions.push(parsed.data);
    else {
      const issues = parsed.error.issues.map((issue) => ({ ...issue, path: ['questions', index, ...issue.path] }));
      const mismatches = mismatchesOf(new z.ZodError(issues));
      unreadable.push({ id: Identified.safeParse(sent).data?.id ?? null, mismatches });
    }
  }
  return { ...survey, questions, unreadable };
});
export type Survey = z.output<typeof Survey>;

/** One page of a list; at most 1,000 records. */
export interface Page<Item> {
  /** Over all pages. */
  count: number;
  results: Item[];
}
