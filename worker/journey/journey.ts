import { z } from 'zod';
import { AnswerValue } from '../../core/connector/events.ts';
import { skipReasons } from './reasons.ts';
import { journeyStates } from './states.ts';

/**
 * A schema of data that several versions of closeloop read and write: an older version keeps a newer version's fields when it
 * saves what it has read. The inferred type has the known fields only.
 */
export function keepingUnknown<Shape extends z.core.$ZodShape>(
  shape: Shape,
): z.ZodType<z.output<z.ZodObject<Shape>>, z.input<z.ZodObject<Shape>>> {
  return z.looseObject(shape);
}

const PlaceHints = keepingUnknown({
  timeZone: z.string().optional(),
  country: z.string().optional(),
  region: z.string().optional(),
  phoneCountry: z.string().optional(),
});

export { type JourneyState, journeyStates } from './states.ts';

const Contact = keepingUnknown({ kind: z.enum(['phone', 'email', 'identifier']), value: z.string() });

/**
 * Stored before a feedback request is created, so that the request can be searched for after a crash or a lost answer.
 * `token` identifies the attempt: a second worker on the same job finds a different token and creates nothing.
 */
const Intent = keepingUnknown({
  token: z.string(),
  at: z.coerce.date(),
  /** The campaign to search in, whatever the configuration says by then. */
  campaign: z.number().int(),
  /** The custom field that holds the journey's reference, where the campaign had it. */
  marker: keepingUnknown({ field: z.string(), value: z.string() }).optional(),
  /** The contact's counters at the service before the attempt; 0 and null for a contact it didn't know. */
  numAppeals: z.number().int(),
  lastAppeal: z.coerce.date().nullable(),
  /** After an unknown outcome: do not search before this instant, as the service may still be processing the call. */
  searchAfter: z.coerce.date(),
  /** Nothing was sent by this attempt: the service knows of a request since the closing that may be this journey's. */
  isSuspicion: z.boolean().optional(),
  /** Searches so far without a clear result. */
  searches: z.number().int().optional(),
});
export type Intent = z.output<typeof Intent>;

/**
 * The last search that found no request, with the contact's counters at the service afterwards. The create may reach the service
 * later than the search, or Redis may lose a later create: before asking again the counters are compared.
 */
const Searched = keepingUnknown({
  at: z.coerce.date(),
  intent: Intent,
  /** Key of the contact. */
  contact: z.string(),
  numAppeals: z.number().int(),
  lastAppeal: z.coerce.date().nullable(),
});
export type Searched = z.output<typeof Searched>;

const Answer = keepingUnknown({
  grade: z.number().nullable(),
  comment: z.string().nullable(),
  seenAt: z.coerce.date(),
  /** Counts the versions seen, from 1; the newest wins. */
  version: z.number().int(),
});
export type Answer = z.output<typeof Answer>;

/** One action that an answer rule wants, for one version of the answer. */
const Act = keepingUnknown({
  /** Names the action at the vendor. */
  marker: z.string(),
  rule: z.string(),
  /** The position of the action in the rule's `do`. */
  step: z.number().int(),
  /** 'reopen', 'followUp' … */
  name: z.string(),
  version: z.number().int(),
  /** `begun`: the vendor may have done it. `withheld`: a test's, which does nothing anywhere. */
  state: z.enum(['wanted', 'begun', 'done', 'parked', 'withheld']),
  at: z.coerce.date(),
  /** The receivers, for `notify` and `send`. */
  to: z.array(z.string()).optional(),
  /** The record's closing when the action was begun; '' for an open record. */
  closing: z.string().optional(),
  /** Why it is parked. No personal data. */
  why: z.string().optional(),
});
export type Act = z.output<typeof Act>;

const Acting = keepingUnknown({
  /** For each answer rule: the version of the answer that the rule was last evaluated on, and whether it matched. */
  judged: z.record(z.string(), keepingUnknown({ version: z.number().int(), matched: z.boolean() })),
  acts: z.array(Act),
});
export type Acting = z.output<typeof Acting>;

/** A task for a person, because of the answer. The answer has the customer's words and the grade. */
const FollowUp = keepingUnknown({
  state: z.enum(['open', 'taken', 'done']),
  rule: z.string(),
  /** `agent`: of the record. */
  to: z.string(),
  /** For `agent`: the agent's name when the follow-up was opened, where it was known. */
  agent: z.string().optional(),
  /** The grade of the answer that opened it, where known: the customer may correct the answer since. */
  openingGrade: z.number().nullable().optional(),
  openedAt: z.coerce.date(),
  dueAt: z.coerce.date(),
  takenBy: z.string().optional(),
  takenAt: z.coerce.date().optional(),
  doneBy: z.string().optional(),
  doneAt: z.coerce.date().optional(),
  /** The result, in the words of the person who did the follow-up. */
  outcome: z.string().optional(),
  /** When somebody took or ended it for the first time: it stays when the follow-up is opened again. */
  firstActionAt: z.coerce.date().optional(),
  /** When a person last took, ended or opened it again. */
  changedAt: z.coerce.date().optional(),
  /** It is overdue, and people were told. */
  alertedAt: z.coerce.date().optional(),
});
export type FollowUp = z.output<typeof FollowUp>;

const fields = {
  id: z.string(),
  /** The name that its source's data is stored under (`markOf`). */
  source: z.string(),
  recordId: z.string(),
  state: z.enum(journeyStates),
  /** Why the journey is skipped, cancelled, failed or parked. A sentence; no personal data. */
  why: z.string().optional(),
  /** The code for `why`, if the journey is skipped. */
  reason: z.enum(skipReasons).optional(),
  receivedAt: z.coerce.date(),
  updatedAt: z.coerce.date(),
  closing: z.string(),
  closedAt: z.coerce.date(),
  /** A person wants the customer asked however old the closing is: `closeloop backfill`. */
  backfilled: z.boolean().optional(),
  rule: z.string().optional(),
  campaign: z.number().int().optional(),
  campaignName: z.string().optional(),
  maxGrade: z.number().optional(),
  contact: Contact.optional(),
  personId: z.string().optional(),
  /** Digests (address-digest.ts) of every further address of the record's customer, also where nobody was chosen. */
  alsoKnownAs: z.array(z.string()).optional(),
  /** The record that this record was merged into: answers are written there. */
  currentId: z.string().optional(),
  values: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  /** The known parts of the recipient's address and zone. */
  place: PlaceHints.optional(),
  /** The customer's language, which may choose the campaign: BCP 47 in small letters. */
  locale: z.string().optional(),
  dueAt: z.coerce.date().optional(),
  /** A person wants the customer asked as soon as possible: without the delay and the rule's window. */
  hurried: z.boolean().optional(),
  intent: Intent.optional(),
  searched: Searched.optional(),
  /** Who got the request in place of `contact`: test mode was on when the journey asked, or was about to ask. */
  test: keepingUnknown({ contact: Contact }).optional(),
  /** Attempts to create the request so far. */
  attempts: z.number().int().optional(),
  /** The decision was made again, once, after the service had refused some of the values. */
  remapped: z.boolean().optional(),
  requestId: z.string().optional(),
  /** Why the request is being cancelled at the service: stored before the call, so that the next worker finishes it. */
  withdrawing: z.string().optional(),
  /** Cancelled before asking because the record was gone (deleted, say). The journey is resumed when the record is back. */
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
  acting: Acting.optional(),
  followUp: FollowUp.optional(),
  /** The record says that no answer came. */
  noAnswerWritten: z.boolean().optional(),
  /** The trace context of the delivery that began the journey, as the process' tracing writes it. */
  traceContext: z.string().optional(),
  /** The person was erased: none of their data is stored in this journey again. */
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

/** The journey without fields that another version of closeloop has stored. */
export function onlyKnown(journey: Journey): Journey {
  return z.object(fields).parse(journey);
}
