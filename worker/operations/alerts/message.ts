import { z } from 'zod';

const kinds = ['paused', 'given-up', 'missed', 'parked', 'to-do'] as const;

/** What a person has to know of: a source stopped, work was given up, webhooks were missed, a journey needs a decision. */
export interface Alert {
  kind: (typeof kinds)[number];
  source: string;
  /** No personal data. Alerts with the same reason and remedy are one, whatever ids and numbers are in it. */
  why: string;
  /** What to do about it. */
  remedy: string;
  /** The journeys that it is about, as `source/id`; none where it is about all, or none. */
  journeys?: readonly string[] | undefined;
}

/** Equal alerts since the receiver was told of them last. */
const AlertGroup = z.object({
  /** Under which they are counted. */
  group: z.string(),
  kind: z.enum(kinds),
  source: z.string(),
  why: z.string(),
  remedy: z.string(),
  first: z.string(),
  count: z.number(),
  /** The latest of the journeys that they are about. */
  journeys: z.array(z.string()),
});
export type AlertGroup = z.output<typeof AlertGroup>;

const SourceFigures = z.object({
  source: z.string(),
  asked: z.number(),
  answered: z.number(),
  /** Of those that were asked in these days: how many have answered by now, 0 to 1; null where nobody was asked. */
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

/** Frozen under an id of its own before it is sent, so that a receiver who got it twice can tell. */
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

/** Somebody who is told. */
export interface Receiver {
  name: 'webhook' | 'slack' | 'teams' | 'email';
  /** The setting that names it, for messages. */
  setting: string;
  /** As many groups as one of its messages holds; the others come with the next. */
  mostAlerts: number;
  /** One attempt. @throws CloseloopError that says what was wrong, without quoting the message */
  deliver(message: Message): Promise<void>;
}
