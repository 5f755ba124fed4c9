import { z } from 'zod';
import { EraseEvent, ExternalGradeEvent, RecordEvent, RevokedEvent, SurveyEvent } from '../../core/connector/events.ts';

/** How the run of a job ended. A job that waits spends no attempt. `delayMs` is real time. */
export type JobResult = { do: 'done' } | { do: 'wait'; delayMs: number };

export const done: JobResult = { do: 'done' };
/** The result of a job that has to wait for other work, such as a search for a request. */
export const retryLater: JobResult = { do: 'wait', delayMs: 2_000 };

/** When closeloop received the event. */
const received = { receivedAt: z.coerce.date() };

const RecordJob = RecordEvent.extend({
  ...received,
  certain: z.boolean().default(false),
  /** How the event came. If a poll finds a closing first, its webhook was missed. */
  via: z.enum(['webhook', 'poll', 'backfill']).default('webhook'),
  /** The pace of a backfill: the milliseconds between two events, also after a time without workers. */
  everyMs: z.number().positive().optional(),
  /** Polls also find closings from before closeloop, on records that have changed since: a closing before this instant never asks. */
  notBefore: z.coerce.date().optional(),
  notAfter: z.coerce.date().optional(),
});
export type RecordJob = z.output<typeof RecordJob>;
const ExternalGradeJob = ExternalGradeEvent.extend({
  ...received,
  /** Given for an event without a new grade: the job sends the grade that this journey holds. */
  journeyId: z.string().optional(),
});
export type ExternalGradeJob = z.output<typeof ExternalGradeJob>;
/** An event that closeloop found itself, with the defaults of a webhook's event. */
export type OwnEvent =
  | ExternalGradeJob
  | (Omit<RecordJob, 'certain' | 'via'> & Partial<Pick<RecordJob, 'certain' | 'via'>>);

const SurveyJob = SurveyEvent.extend(received);
export type SurveyJob = z.output<typeof SurveyJob>;

/** A requested erasure, with the people to erase. */
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
 * `noAnswer`: the journey is about to expire, so the job writes on the record that no answer came. `lateWrite`: the vendor can't carry out an earlier
 * write of unknown outcome any more, so the job has the record's answer written once more.
 */
export const WriteBackJob = z.object({
  journeyId: z.string(),
  noAnswer: z.boolean().optional(),
  lateWrite: z.boolean().optional(),
});
export type WriteBackJob = z.output<typeof WriteBackJob>;

/** The journey's answer has settled for a rule. `version`: the version of the answer for which the job was queued. */
export const ActJob = z.object({ journeyId: z.string(), version: z.number().int().default(0) });
export type ActJob = z.output<typeof ActJob>;

export const CollectJob = z.object({ campaign: z.number().int() });
export type CollectJob = z.output<typeof CollectJob>;

/** An outgoing event about this record is due to a target. `source`: the name that the source's data is stored under. */
export const SendJob = z.object({ source: z.string(), recordId: z.string() });
export type SendJob = z.output<typeof SendJob>;
