import { z } from 'zod';

/*
 * The events that connectors report: one schema of each event, which the queue and the quarantine share. The interfaces repeat the schemas,
 * because types inferred from the schemas would reach the authors of connectors without these comments.
 */

interface Happened {
  /** When it happened at the vendor; the time of receipt where the vendor doesn't say. */
  at: Date;
  /** The same for every repetition of this event, another for every other event of the source. */
  key: string;
  /** In words, for the trace: "status SOLVED, was OPEN". No personal data. */
  what: string;
}
const Happened = z.object({ at: z.coerce.date(), key: z.string(), what: z.string() });

/**
 * The record as an event carries it (`RecordSnapshots`): JSON values. Erasures read `shape` and `personId` as in
 * `PresentedRecord`, and `contacts` (all addresses and numbers of the person), where the snapshot has them.
 */
type Snapshot = Record<string, unknown>;
const Snapshot = z.record(z.string(), z.unknown()).optional();

export type AnswerValue = string | number | boolean | readonly string[];
export const AnswerValue: z.ZodType<AnswerValue> = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.array(z.string()).readonly(),
]);

/**
 * What happened to a record. A hint, not the truth: the worker always reads the record before it acts.
 * - `closed`: it may have gone from open to closed. Starts a journey unless one exists for this closing.
 * - `changed`: something that may end a running journey (reopened, merged, deleted, marked as spam …). Starts nothing.
 */
export interface RecordEvent extends Happened {
  kind: 'closed' | 'changed';
  /** The record, unique within the source: no spaces, no ':', at most 100 characters. */
  recordId: string;
  /** The vendor says that the record closed, not only that it may have: a record that is read as open gets a journey that says so. */
  certain?: boolean | undefined;
  /** The closing, where the event names it (`RecordState`): a closing that has a journey isn't read again. */
  closing?: string | undefined;
  /** With `changed`: the record that this one was merged into. Answers about this record are written there from now on. */
  mergedInto?: string | undefined;
  /** Personal data only with `closed`. */
  snapshot?: Snapshot | undefined;
}
export const RecordEvent = Happened.extend({
  kind: z.enum(['closed', 'changed']),
  recordId: z.string(),
  certain: z.boolean().optional(),
  closing: z.string().optional(),
  mergedInto: z.string().optional(),
  snapshot: Snapshot,
});

/** A person is to be forgotten: masked at the Feedback service, removed from their journeys. Any of the three lists finds the person. */
export interface EraseEvent extends Happened {
  kind: 'erase';
  /** The same id as `PresentedRecord.personId`. */
  personIds?: readonly string[] | undefined;
  recordIds?: readonly string[] | undefined;
  /** Phone numbers and e-mail addresses as the vendor writes them. */
  contacts?: readonly string[] | undefined;
  /** Everybody of this source (the shop was closed). */
  everybody?: true | undefined;
}
export const EraseEvent = Happened.extend({
  kind: z.literal('erase'),
  personIds: z.array(z.string()).readonly().optional(),
  recordIds: z.array(z.string()).readonly().optional(),
  contacts: z.array(z.string()).readonly().optional(),
  everybody: z.literal(true).optional(),
});

/** A grade that was given elsewhere, for the external campaign of the record's rule. The newest (`at`) wins. */
export interface ExternalGradeEvent extends Happened {
  kind: 'external-grade';
  recordId: string;
  grade: number | null;
  comment: string | null;
  /** Counts only where the record has no snapshot yet. */
  snapshot?: Snapshot | undefined;
}
export const ExternalGradeEvent = Happened.extend({
  kind: z.literal('external-grade'),
  recordId: z.string(),
  grade: z.number().nullable(),
  comment: z.string().nullable(),
  snapshot: Snapshot,
});

/** Answers to the questions of a survey, for the journey of a feedback request. The newest (`at`) wins. */
export interface SurveyEvent extends Happened {
  kind: 'survey';
  requestId: string;
  /** The answers, by question id. */
  answers: Record<string, AnswerValue>;
}
export const SurveyEvent = Happened.extend({
  kind: z.literal('survey'),
  requestId: z.string(),
  answers: z.record(z.string(), AnswerValue),
});

/** The vendor revoked closeloop's access: the source stops until a person restores it. `what` says who must do what. */
export interface RevokedEvent extends Happened {
  kind: 'revoked';
}
export const RevokedEvent = Happened.extend({ kind: z.literal('revoked') });

export type SourceEvent = RecordEvent | EraseEvent | ExternalGradeEvent | SurveyEvent | RevokedEvent;
export const SourceEvent = z.discriminatedUnion('kind', [
  RecordEvent,
  EraseEvent,
  ExternalGradeEvent,
  SurveyEvent,
  RevokedEvent,
]);

/** A delivery with more events is refused: storing them would take longer than the vendor waits. No vendor sends more than 100. */
export const mostEvents = 500;
