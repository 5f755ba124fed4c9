import { z } from 'zod';
import type { Receiver as MessageReceiver } from '../outbox.ts';

const kinds = ['paused', 'given-up', 'missed', 'parked', 'to-do'] as const;

/** An alert to a person: a source stopped, work was given up, webhooks were missed, a journey needs a decision. */
export interface Alert {
  kind: (typeof kinds)[number];
  source: string;
  /** No personal data. Alerts whose reason and remedy differ only in ids and numbers are counted as one. */
  why: string;
  /** The action that a person should take. */
  remedy: string;
  /** The journeys that the alert is about, as `source/id`; empty where it is about all journeys, or none. */
  journeys?: readonly string[] | undefined;
}

/** Equal alerts that were raised since the last message about them. */
const AlertGroup = z.object({
  /** The key under which they are counted. */
  group: z.string(),
  kind: z.enum(kinds),
  source: z.string(),
  why: z.string(),
  remedy: z.string(),
  first: z.string(),
  count: z.number(),
  /** The latest of the journeys that the alerts are about. */
  journeys: z.array(z.string()),
});
export type AlertGroup = z.output<typeof AlertGroup>;

const SourceFigures = z.object({
  source: z.string(),
  asked: z.number(),
  answered: z.number(),
  /** The share of customers asked in the week who have answered by now, 0 to 1; null where nobody was asked. */
  rate: z.number().nullable(),
  /** Journeys that failed in these days and have not been replayed. */
  givenUp: z.number(),
  /** Journeys that wait for a person now. */
  parked: z.number(),
  /** Stages and campaigns that can't go on now. */
  stopped: z.array(z.string()),
});
/** One source's week. */
export type SourceFigures = z.output<typeof SourceFigures>;

/** A message to one receiver. Stored with its id before it is sent, so that the receiver can recognise a repetition. */
export const Message = z.discriminatedUnion('type', [
  z.object({ type: z.literal('alert'), id: z.string(), at: z.string(), alerts: z.array(AlertGroup) }),
  z.object({
    type: z.literal('digest'),
    id: z.string(),
    at: z.string(),
    from: z.string(),
    until: z.string(),
    timeZone: z.string(),
    sources: z.array(SourceFigures),
  }),
]);
export type Message = z.output<typeof Message>;
export type Digest = Extract<Message, { type: 'digest' }>;

/** A customer's answer, for a person: never stored, and made when it is sent. Personal data; its texts are the customer's and the vendor's. */
export interface AnswerMessage {
  type: 'answer';
  id: string;
  at: string;
  source: string;
  /** The journey, as `source/id`. */
  journey: string;
  /** The answer rule that says so. */
  rule: string;
  /** "2 of 5" */
  grade: string | undefined;
  comment: string | null;
  /** Whether the customer has changed the answer since the rule matched. */
  isChanged: boolean;
  customer: string | undefined;
  agent: string | undefined;
  /** The vendor's id of the record, and where people see it. */
  record: string;
  url: string | undefined;
  /** The person who has to follow up, and the due time; `agent` means the record's agent. */
  followUp: { to: string; dueAt: string } | undefined;
  /** The account's: people read times on its clock. */
  timeZone: string;
}

/** A receiver of alerts. */
export interface Receiver extends MessageReceiver<Message | AnswerMessage> {
  name: 'webhook' | 'slack' | 'teams' | 'email';
  /** How many groups one message holds; the others are sent in the next message. */
  mostAlerts: number;
}
