import { z } from 'zod';
import { EraseEvent, ExternalGradeEvent, RecordEvent, RevokedEvent, SurveyEvent } from '../../core/connector/events.ts';

/** A job that waits spends no attempt. `delayMs` is real time. */
export type JobResult = { do: 'done' } | { do: 'wait'; delayMs: number };

export const done: JobResult = { do: 'done' };
/** The job has to wait for something else, as the search for a request. */
export const retryLater: JobResult = { do: 'wait', delayMs: 2_000 };

/** When closeloop received the event. */
const received = { receivedAt: z.coerce.date() };

const RecordJob = RecordEvent.extend({
  ...received,
  certain: z.boolean().default(false),
  /** How the event came. A closing that a poll finds first was missed by the webhook. */
  via: z.enum(['webhook', 'poll', 'backfill']).default('webhook'),
  /** The pace of a backfill: one event in this many milliseconds, also after a time without workers. */
  everyMs: z.number().positive().optional(),
  /** Closings before this instant, which polls find on changed records, are from before closeloop and never ask. */
  notBefore: z.coerce.date().optional(),
  notAfter: z.coerce.date().optional(),
});
export type RecordJob = z.output<typeof RecordJob>;
const ExternalGradeJob = ExternalGradeEvent.extend({
  ...received,
  /** No new grade: the grade stored in this journey is to be sent. */
  journeyId: z.string().optional(),
});
export type ExternalGradeJob = z.output<typeof ExternalGradeJob>;
/** An event that closeloop found itself, with the defaults of a webhook's event. */
export type OwnEvent =
  | ExternalGradeJob
  | (Omit<RecordJob, 'certain' | 'via'> & Partial<Pick<RecordJob, 'certain' | 'via'>>);

const SurveyJob = SurveyEvent.extend(received);
export type SurveyJob = z.output<typeof SurveyJob>;

/** A requested erasure: who is to be erased. */
const AskedToErase = EraseEvent.extend({
  ...received,
  personIds: EraseEvent.shape.personIds.unwrap().default([]),
  recordIds: EraseEvent.shape.recordIds.unwrap().default([]),
  contacts: EraseEvent.shape.contacts.unwrap().default([]),
  everybody: z.boolean().default(false),
});
export type AskedToErase = z.output<typeof AskedToErase>;

/** `continue`: the next attempt at an erasure that was begun. */
export const EraseJob = z.discriminatedUnion('kind', [
  AskedToErase,
  z.object({ kind: z.literal('continue'), erasure: z.string() }),
]);
export type EraseJob = z.output<typeof EraseJob>;

/** An event, as intake stores it. Holds personal data only in a snapshot of the record or an answer given elsewhere. */
export const PlanJob = z.discriminatedUnion('kind', [
  RecordJob,
  ExternalGradeJob,
  SurveyJob,
  RevokedEvent.extend(received),
]);
export type PlanJob = z.output<typeof PlanJob>;

export const AskJob = z.object({ journeyId: z.string() });
export type AskJob = z.output<typeof AskJob>;

/**
 * `noAnswer`: the journey is about to expire, and the record is to say that no answer came. `lateWrite`: no write about the journey
 * that was given up can be carried out any more, and what the record shows is seen to.
 */
export const WriteBackJob = z.object({
  journeyId: z.string(),
  noAnswer: z.boolean().optional(),
  lateWrite: z.boolean().optional(),
});
export type WriteBackJob = z.output<typeof WriteBackJob>;

/** The journey's answer, or a rule about it, has settled. */
export const ActJob = z.object({ journeyId: z.string() });
export type ActJob = z.output<typeof ActJob>;

export const CollectJob = z.object({ campaign: z.number().int() });
export type CollectJob = z.output<typeof CollectJob>;
