import { z } from 'zod';

/* What connectors say has happened: one schema, which the contract, the queue and the quarantine share. */

const Happened = z.object({
  /** When it happened at the vendor; the time of receipt where the vendor doesn't say. */
  at: z.coerce.date(),
  /** The same for every repetition of this event, another for every other event of the source. */
  key: z.string(),
  /** In words, for the trace: "status SOLVED, was OPEN". No personal data. */
  what: z.string(),
});

/**
 * The record as an event carries it (`RecordSnapshots`): JSON values. Erasures read `shape` and `personId` as in
 * `PresentedRecord`, and `contacts` (all addresses and numbers of the person), where the snapshot has them.
 */
const Snapshot = z.record(z.string(), z.unknown()).optional();

export type AnswerValue = z.output<typeof AnswerValue>;
export const AnswerValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.string()).readonly()]);

/**
 * What happened to a record. A hint, not the truth: the worker always reads the record before it acts.
 * - `closed`: it may have gone from open to closed. Starts a journey unless one exists for this closing.
 * - `changed`: something that may end a running journey (reopened, merged, deleted, marked as spam …). Starts nothing.
 */
export type RecordEvent = z.output<typeof RecordEvent>;
export const RecordEvent = Happened.extend({
  kind: z.enum(['closed', 'changed']),
  /** The record, unique within the source: no spaces, no ':', at most 100 characters. */
  recordId: z.string(),
  /** The vendor says that the record closed, not only that it may have: a record that is read as open gets a journey that says so. */
  certain: z.boolean().optional(),
  /** The closing, where the event names it (`RecordState`): a closing that has a journey isn't read again. */
  closing: z.string().optional(),
  /** With `changed`: the record that this one was merged into. Answers about this record are written there from now on. */
  mergedInto: z.string().optional(),
  /** Personal data only with `closed`. */
  snapshot: Snapshot,
});

/** A person is to be forgotten: masked at the Feedback service, removed from their journeys. Any of the three lists finds the person. */
export type EraseEvent = z.output<typeof EraseEvent>;
export const EraseEvent = Happened.extend({
  kind: z.literal('erase'),
  /** As in `PresentedRecord.personId`. */
  personIds: z.array(z.string()).readonly().optional(),
  recordIds: z.array(z.string()).readonly().optional(),
  /** Phone numbers and e-mail addresses as the vendor writes them. */
  contacts: z.array(z.string()).readonly().optional(),
  /** Everybody of this source (the shop was closed). */
  everybody: z.literal(true).optional(),
});

/** A grade that was given elsewhere, for the external campaign of the record's rule. The newest (`at`) wins. */
export type ExternalGradeEvent = z.output<typeof ExternalGradeEvent>;
export const ExternalGradeEvent = Happened.extend({
  kind: z.literal('external-grade'),
  recordId: z.string(),
  grade: z.number().nullable(),
  comment: z.string().nullable(),
  /** Counts only where the record has no snapshot yet. */
  snapshot: Snapshot,
});

/** Answers to the questions of a survey, for the journey of a feedback request. The newest (`at`) wins. */
export type SurveyEvent = z.output<typeof SurveyEvent>;
export const SurveyEvent = Happened.extend({
  kind: z.literal('survey'),
  requestId: z.string(),
  /** By question id. */
  answers: z.record(z.string(), AnswerValue),
});

/** The vendor revoked closeloop's access: the source stops until a person restores it. `what` says who must do what. */
export type RevokedEvent = z.output<typeof RevokedEvent>;
export const RevokedEvent = Happened.extend({ kind: z.literal('revoked') });

export type SourceEvent = z.output<typeof SourceEvent>;
export const SourceEvent = z.discriminatedUnion('kind', [
  RecordEvent,
  EraseEvent,
  ExternalGradeEvent,
  SurveyEvent,
  RevokedEvent,
]);

/** A delivery of more events is refused: storing them would take longer than the vendor waits. No vendor sends more than 100. */
export const mostEvents = 500;
