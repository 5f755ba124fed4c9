import { z } from 'zod';
import { AnswerValue } from '../../core/connector/events.ts';
import { keepingUnknown } from './keeping-unknown.ts';
import { journeyStates } from './states.ts';

export { type JourneyState, journeyStates } from './states.ts';

const Contact = keepingUnknown({ kind: z.enum(['phone', 'email', 'identifier']), value: z.string() });

/**
 * What is noted before a feedback request is created, so that after a crash or a lost answer the request can be looked
 * for. `token` names the attempt: a second worker on the same job finds another token and doesn't create.
 */
const Intent = keepingUnknown({
  token: z.string(),
  at: z.coerce.date(),
  /** Where to look for it, whatever the configuration says by then. */
  campaign: z.number().int(),
  /** The custom field that holds the journey's reference, where the campaign had it. */
  marker: keepingUnknown({ field: z.string(), value: z.string() }).optional(),
  /** The contact's counters at the service before the attempt; 0 and null for a contact it didn't know. */
  numAppeals: z.number().int(),
  lastAppeal: z.coerce.date().nullable(),
  /** After an unknown outcome: do not look before this instant, the service may still be at work. */
  lookAfter: z.coerce.date(),
  /** Nothing was sent: the service asked this contact since the closing, and it may have been by this journey. */
  isSuspicion: z.boolean().optional(),
  /** Looks so far that could not tell. */
  looks: z.number().int().optional(),
});
export type Intent = z.output<typeof Intent>;

/**
 * The last look for a request that found none, with what the service showed of the contact at its end. A create may come to the
 * service after that, or a later one be forgotten by Redis: before asking again, what has moved since is looked at.
 */
const LookedFor = keepingUnknown({
  at: z.coerce.date(),
  intent: Intent,
  /** Key of the contact. */
  contact: z.string(),
  numAppeals: z.number().int(),
  lastAppeal: z.coerce.date().nullable(),
});
export type LookedFor = z.output<typeof LookedFor>;

const Answer = keepingUnknown({
  grade: z.number().nullable(),
  comment: z.string().nullable(),
  seenAt: z.coerce.date(),
  /** Counts the versions seen, from 1; the newest wins. */
  version: z.number().int(),
});
export type Answer = z.output<typeof Answer>;

const fields = {
  id: z.string(),
  /** What its source was called when it began (`markOf`). */
  source: z.string(),
  recordId: z.string(),
  state: z.enum(journeyStates),
  /** Why it is skipped, cancelled, failed or parked. A sentence; no personal data. */
  why: z.string().optional(),
  receivedAt: z.coerce.date(),
  updatedAt: z.coerce.date(),
  closing: z.string(),
  closedAt: z.coerce.date(),
  rule: z.string().optional(),
  campaign: z.number().int().optional(),
  campaignName: z.string().optional(),
  maxGrade: z.number().optional(),
  contact: Contact.optional(),
  /** The vendor's id of the person. */
  personId: z.string().optional(),
  /** The record lives on as this one since it was merged: answers are written there. */
  currentId: z.string().optional(),
  values: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  recipientZone: z.string().optional(),
  dueAt: z.coerce.date().optional(),
  intent: Intent.optional(),
  lookedFor: LookedFor.optional(),
  /** Attempts to create the request so far. */
  attempts: z.number().int().optional(),
  /** The values were mapped anew, once, after the service had rejected some. */
  remapped: z.boolean().optional(),
  requestId: z.string().optional(),
  /** Why its request is being cancelled at the service: noted before, so that whoever comes next finishes it. */
  withdrawing: z.string().optional(),
  /** Cancelled before it asked, because its record was out (deleted, say). Should that be back, it is taken up again. */
  wasOut: z.boolean().optional(),
  askedAt: z.coerce.date().optional(),
  answer: Answer.optional(),
  /** Answers to a survey's questions, by question id, as of `at`. */
  survey: keepingUnknown({ at: z.coerce.date(), answers: z.record(z.string(), AnswerValue) }).optional(),
  /** A grade that was given elsewhere, for an external campaign; `delivered`: the service has this version. */
  given: keepingUnknown({
    at: z.coerce.date(),
    grade: z.number().nullable(),
    comment: z.string().nullable(),
    delivered: z.boolean(),
  }).optional(),
  writtenVersion: z.number().int().optional(),
  /** That no answer came has been put on the record. */
  noAnswerWritten: z.boolean().optional(),
  /** The person was forgotten: nothing of theirs is stored here again. */
  erasedAt: z.coerce.date().optional(),
};

/** The life of one closing. Stored as JSON in Redis; parsed once, when read. */
export const Journey = keepingUnknown(fields);
export type Journey = z.output<typeof Journey>;

/** One line of the decision trace. */
export interface TraceLine {
  at: Date;
  text: string;
}

/** Without what another version has stored in it. */
export function onlyKnown(journey: Journey): Journey {
  return z.object(fields).parse(journey);
}
