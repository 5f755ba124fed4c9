import { z } from 'zod';
import { keepingUnknown } from './journey.ts';

const asked = {
  at: z.coerce.date(),
  journey: z.string(),
  /** Undefined: not known, as of a request that only the service knows. */
  campaign: z.number().int().optional(),
  /** When the service sends the request, where the service adds the campaign's delay: the contact's `last_appeal` then. */
  scheduled: z.coerce.date().optional(),
};

export const LastAsked = keepingUnknown({
  ...asked,
  /** The request was cancelled before it was sent: the service's counters include it, the throttle does not. */
  withdrawn: z.boolean().optional(),
  /** Earlier requests that throttles count, newest first: also for a throttle that is set later, or when this request comes to nothing. */
  earlier: z.array(keepingUnknown(asked)).optional(),
});

export type LastAsked = z.output<typeof LastAsked>;

/** A request that throttles count. */
type AskedOnce = z.output<z.ZodObject<typeof asked>>;

/** The most earlier requests of a note, whatever their campaigns; of each campaign this many are kept beyond that: the last may be withdrawn yet. */
const mostEarlier = 10;
const mostOfCampaign = 2;
/** Stands in for a journey where only the service knows the request. */
export const elsewhere = 'elsewhere';

/** The note of the request before this one. */
export function beforeThat({ earlier = [] }: LastAsked): LastAsked | undefined {
  const [next, ...rest] = earlier;
  return next && { ...next, earlier: rest };
}

/** The note as an entry of a newer note's `earlier`. */
export function asEarlier({ earlier = [], ...one }: LastAsked): Pick<LastAsked, 'earlier'> {
  return { earlier: bounded([one, ...earlier]) };
}

/** The requests of a note that throttles count, newest first. */
function requestsIn({ earlier = [], withdrawn, ...last }: LastAsked): AskedOnce[] {
  return withdrawn ? earlier : [last, ...earlier];
}

/** The requests, newest first, that a note keeps. */
function bounded(requests: readonly AskedOnce[]): AskedOnce[] {
  const counts = new Map<number | undefined, number>();
  const oldest = Math.max(...requests.map(({ at }) => at.getTime())) - memoryMs;
  return requests.filter(({ at, campaign }, i) => {
    const count = (counts.get(campaign) ?? 0) + 1;
    counts.set(campaign, count);
    return at.getTime() > oldest && (i < mostEarlier || count <= mostOfCampaign);
  });
}

/** The note, with requests added that only the other note has: another journey has asked since the note was begun. */
export function withRequestsOf(note: LastAsked, other: LastAsked): LastAsked {
  const { journey, earlier = [] } = note;
  const known = new Set([journey, ...earlier.map((one) => one.journey)]);
  const missing = requestsIn(other).filter((one) => !known.has(one.journey));
  return { ...note, earlier: bounded([...missing, ...earlier]) };
}

/** The note without an earlier request; the same object where it has no such request. */
function withoutEarlier(note: LastAsked, isGone: (one: AskedOnce) => boolean): LastAsked {
  const earlier = note.earlier?.filter((one) => !isGone(one));
  return earlier?.length === note.earlier?.length ? note : { ...note, earlier };
}

/** The note without the requests of a journey; the same object where it has none. */
export function withoutJourney(note: LastAsked, journey: string): LastAsked | undefined {
  return note.journey === journey ? beforeThat(note) : withoutEarlier(note, (one) => one.journey === journey);
}

export type OwnNote = Pick<LastAsked, 'journey' | 'at' | 'earlier'>;

/** The last note without that of a journey which asked nobody: the note before it holds again, and what others have noted since stays. */
export function takenBack(last: LastAsked, own: OwnNote, before: LastAsked | undefined): LastAsked | undefined {
  const isOwn = ({ journey, at }: AskedOnce) => journey === own.journey && at.getTime() === own.at.getTime();
  if (!isOwn(last)) return withoutEarlier(last, isOwn);
  const wasKnown = ({ journey }: AskedOnce) => own.earlier?.some((one) => one.journey === journey) === true;
  const [newest, ...others] = (last.earlier ?? []).filter((one) => !wasKnown(one));
  const earlier = [...others, ...(before ? requestsIn(before) : [])];
  return newest ? { ...newest, earlier } : before;
}

/** How long requests are remembered: longer than any sensible throttle. */
export const memoryMs = 400 * 86_400_000;
