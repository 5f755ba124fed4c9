import { z } from 'zod';

/** Waiting is not failing: it spends no attempt. `delayMs` is real time. */
export type StageResult = { do: 'done' } | { do: 'wait'; delayMs: number };

export const done: StageResult = { do: 'done' };

export const Happened = z.object({
  at: z.coerce.date(),
  key: z.string(),
  what: z.string(),
  receivedAt: z.coerce.date(),
});

const Told = z.record(z.string(), z.unknown()).optional();

const RecordJob = Happened.extend({
  kind: z.enum(['closed', 'changed']),
  recordId: z.string(),
  certain: z.boolean().default(false),
  closing: z.string().optional(),
  mergedInto: z.string().optional(),
  told: Told,
  /** Who found it: what a poll finds first, a webhook has missed. */
  via: z.enum(['webhook', 'poll', 'backfill']).default('webhook'),
  /** Of a backfill: one of them in so many milliseconds, also where they wait together because nobody was at work. */
  everyMs: z.number().positive().optional(),
  /** A poll sees old records that were touched: what closed before this was there before closeloop, and never asks. */
  notBefore: z.coerce.date().optional(),
  notAfter: z.coerce.date().optional(),
});
export type RecordJob = z.output<typeof RecordJob>;
const GradedJob = Happened.extend({
  kind: z.literal('graded'),
  recordId: z.string(),
  grade: z.number().nullable(),
  comment: z.string().nullable(),
  told: Told,
  /** Nothing new: what this journey holds is to be passed on. */
  journeyId: z.string().optional(),
});
export type GradedJob = z.output<typeof GradedJob>;
/** One that closeloop found itself; what is left out is as in a webhook's. */
export type OwnEvent = GradedJob | (Omit<RecordJob, 'certain' | 'via'> & Partial<Pick<RecordJob, 'certain' | 'via'>>);

const SurveyJob = Happened.extend({
  kind: z.literal('survey'),
  requestId: z.string(),
  answers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])),
});
export type SurveyJob = z.output<typeof SurveyJob>;

/** One event: what intake stores. Personal data only where it tells of a record, or where a person has answered elsewhere, until that is done. */
export const PlanJob = z.discriminatedUnion('kind', [
  RecordJob,
  GradedJob,
  SurveyJob,
  Happened.extend({ kind: z.literal('revoked') }),
]);
export type PlanJob = z.output<typeof PlanJob>;

export const AskJob = z.object({ journeyId: z.string() });
export type AskJob = z.output<typeof AskJob>;

/** `noAnswer`: the journey is about to expire, and that is to be written. */
export const WriteBackJob = z.object({ journeyId: z.string(), noAnswer: z.boolean().optional() });
export type WriteBackJob = z.output<typeof WriteBackJob>;

export const CollectJob = z.object({ campaign: z.number().int() });
export type CollectJob = z.output<typeof CollectJob>;
