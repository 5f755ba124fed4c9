import { z } from 'zod';
import { EraseEvent, ExternalGradeEvent, RecordEvent, RevokedEvent, SurveyEvent } from '../../core/connector/events.ts';

/** Waiting is not failing: it spends no attempt. `delayMs` is real time. */
export type JobResult = { do: 'done' } | { do: 'wait'; delayMs: number };

export const done: JobResult = { do: 'done' };
/** Something else has to end first: a rename of its source, or finding out whether the service has a request. */
export const retryLater: JobResult = { do: 'wait', delayMs: 2_000 };

/** When it came to us. */
const received = { receivedAt: z.coerce.date() };

const RecordJob = RecordEvent.extend({
  ...received,
  certain: z.boolean().default(false),
  /** Who found it: what a poll finds first, a webhook has missed. */
  via: z.enum(['webhook', 'poll', 'backfill']).default('webhook'),
  /** Of a backfill: one of them in so many milliseconds, also where they wait together because nobody was at work. */
  everyMs: z.number().positive().optional(),
  /** A poll sees old records that were touched: what closed before this was there before closeloop, and never asks. */
  notBefore: z.coerce.date().optional(),
  notAfter: z.coerce.date().optional(),
});
export type RecordJob = z.output<typeof RecordJob>;
const ExternalGradeJob = ExternalGradeEvent.extend({
  ...received,
  /** Nothing new: what this journey holds is to be passed on. */
  journeyId: z.string().optional(),
});
export type ExternalGradeJob = z.output<typeof ExternalGradeJob>;
/** One that closeloop found itself; what is left out is as in a webhook's. */
export type OwnEvent =
  | ExternalGradeJob
  | (Omit<RecordJob, 'certain' | 'via'> & Partial<Pick<RecordJob, 'certain' | 'via'>>);

const SurveyJob = SurveyEvent.extend(received);
export type SurveyJob = z.output<typeof SurveyJob>;

/** Who is to be forgotten, as it was asked for. */
const AskedToErase = EraseEvent.extend({
  ...received,
  personIds: EraseEvent.shape.personIds.unwrap().default([]),
  recordIds: EraseEvent.shape.recordIds.unwrap().default([]),
  contacts: EraseEvent.shape.contacts.unwrap().default([]),
  everybody: z.boolean().default(false),
});
export type AskedToErase = z.output<typeof AskedToErase>;

/** `go-on`: the next attempt at an erasure that was begun. */
export const EraseJob = z.discriminatedUnion('kind', [
  AskedToErase,
  z.object({ kind: z.literal('go-on'), erasure: z.string() }),
]);
export type EraseJob = z.output<typeof EraseJob>;

/** One event: what intake stores. Personal data only where it tells of a record, or where a person has answered elsewhere, until that is done. */
export const PlanJob = z.discriminatedUnion('kind', [
  RecordJob,
  ExternalGradeJob,
  SurveyJob,
  RevokedEvent.extend(received),
]);
export type PlanJob = z.output<typeof PlanJob>;

export const AskJob = z.object({ journeyId: z.string() });
export type AskJob = z.output<typeof AskJob>;

/** `noAnswer`: the journey is about to expire, and that is to be written. */
export const WriteBackJob = z.object({ journeyId: z.string(), noAnswer: z.boolean().optional() });
export type WriteBackJob = z.output<typeof WriteBackJob>;

export const CollectJob = z.object({ campaign: z.number().int() });
export type CollectJob = z.output<typeof CollectJob>;
