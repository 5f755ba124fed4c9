import { slices } from '../../core/spread.ts';
import { firstActionOf, isOverdue } from '../journey/follow-up.ts';
import type { FollowUpList, FollowUpLists } from '../journey/follow-up-lists.ts';
import type { FollowUp, Journey } from '../journey/journey.ts';
import type { JourneyStore } from '../journey/store.ts';
import { instantsOf, type Period, periodBefore } from './period.ts';

/** The follow-ups that were opened in a period, and what has become of them by now. */
export interface FollowUpFigures {
  opened: number;
  done: number;
  /** How many were done by the time they were due. */
  withinDue: number;
  /** How many are not done though their time is up. */
  overdue: number;
  /** How many nobody has taken or ended yet: they do not count in the median. */
  untaken: number;
  /** The median of the time from opening until somebody first took or ended one; null: nobody has. */
  firstActionMs: number | null;
  /** How many of the customers have graded a later closing since. */
  gradedAgain: number;
  /** How many of these later grades are better, and have opened no follow-up. */
  recovered: number;
}

/** A follow-up with its answer's grade, and the next grade that the same person gave. */
export interface FollowedAnswer extends Graded {
  followUp: FollowUp;
  next?: Graded & { hasFollowUp: boolean };
}

interface Graded {
  grade: number | null;
  /** The highest of its campaign. */
  maxGrade?: number | undefined;
}

/** Pure. */
export function followUpFigures(of: readonly FollowedAnswer[], now: Date): FollowUpFigures {
  const count = (fits: (one: FollowedAnswer) => boolean): number => of.filter(fits).length;
  const isDone = ({ state }: FollowUp): boolean => state === 'done';
  return {
    opened: of.length,
    done: count(({ followUp }) => isDone(followUp)),
    withinDue: count(({ followUp }) => isDone(followUp) && (followUp.doneAt ?? now) <= followUp.dueAt),
    overdue: count(({ followUp }) => isOverdue(followUp, now)),
    untaken: count(({ followUp }) => firstActionOf(followUp) === undefined),
    firstActionMs: medianOf(of.flatMap(({ followUp }) => firstActionMs(followUp) ?? [])),
    gradedAgain: count(({ next }) => next !== undefined),
    recovered: count(hasRecovered),
  };
}

function firstActionMs(followUp: FollowUp): number | undefined {
  const first = firstActionOf(followUp);
  return first && Math.max(0, first.getTime() - followUp.openedAt.getTime());
}

/** The median. For an even number of figures this is the mean of the two middle figures. */
function medianOf(figures: readonly number[]): number | null {
  const sorted = figures.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  return upper === undefined || lower === undefined ? null : (lower + upper) / 2;
}

function hasRecovered({ next, ...before }: FollowedAnswer): boolean {
  return next !== undefined && !next.hasFollowUp && isBetter(next, before);
}

/** Grades of different scales are compared by their shares of the highest. */
function isBetter(one: Graded, other: Graded): boolean {
  if (one.grade === null || other.grade === null) return one.grade !== null;
  if (one.maxGrade === undefined || other.maxGrade === undefined || one.maxGrade === other.maxGrade)
    return one.grade > other.grade;
  return one.grade / one.maxGrade > other.grade / other.maxGrade;
}

/** A source, as these figures need it. */
export interface FollowedSource {
  store: Pick<JourneyStore, 'queries' | 'those'>;
  followUps: Pick<FollowUpLists, 'pages'>;
}

/** How many open follow-ups of a source are read at most, and how many that are done. */
export const mostFollowUps = 10_000;
/** How many closings of a person are read to find the next grade. */
const mostClosings = 20;
const atOnce = 200;

interface Reading {
  /** The account's. */
  timeZone: string;
  now: Date;
  /** Only these. Left out: all. */
  fits?: ((journey: Journey) => boolean) | undefined;
  /** Default `mostFollowUps`. */
  most?: number | undefined;
}

/** The figures of a period, and of the period before it. `isCut`: there may be more, as no more than `mostFollowUps` are read. */
export async function followUpReport(
  sources: readonly FollowedSource[],
  period: Period,
  { timeZone, now, fits, most }: Reading,
): Promise<{ now: FollowUpFigures; before: FollowUpFigures; isCut: boolean }> {
  const { from, until } = instantsOf(period, timeZone);
  const before = instantsOf(periodBefore(period), timeZone);
  const { found, isCut } = await followUpsOpened(sources, { from: before.from, until }, { fits, most });
  const [earlier, later] = [found.filter(isBefore(from)), found.filter((one) => !isBefore(from)(one))];
  return { now: followUpFigures(later, now), before: followUpFigures(earlier, now), isCut };
}

const isBefore =
  (at: Date) =>
  ({ followUp }: FollowedAnswer): boolean =>
    followUp.openedAt < at;

interface Opened {
  found: FollowedAnswer[];
  isCut: boolean;
}

/** The follow-ups that were opened from one instant on, up to another; without those of tests. Changes nothing. */
async function followUpsOpened(
  sources: readonly FollowedSource[],
  time: { from: Date; until: Date },
  options: Pick<Reading, 'fits' | 'most'>,
): Promise<Opened> {
  const all = await Promise.all(sources.map((source) => openedIn(source, sources, time, options)));
  return { found: all.flatMap(({ found }) => found), isCut: all.some(({ isCut }) => isCut) };
}

async function openedIn(
  source: FollowedSource,
  sources: readonly FollowedSource[],
  { from, until }: { from: Date; until: Date },
  { fits = () => true, most = mostFollowUps }: Pick<Reading, 'fits' | 'most'>,
): Promise<Opened> {
  const found: FollowedAnswer[] = [];
  let isCut = false;
  // One that is done meanwhile is in both lists.
  const seen = new Set<string>();
  for (const list of ['open', 'done'] as const) {
    let read = 0;
    for await (const journeys of followUpJourneys(source, list, from)) {
      read += journeys.length;
      const wanted = journeys.filter(
        ({ id, test, followUp }) =>
          followUp && !test && !seen.has(id) && followUp.openedAt >= from && followUp.openedAt < until,
      );
      for (const { id } of wanted) seen.add(id);
      found.push(...(await withNext(wanted.filter(fits), source, sources)));
      if (read >= most) break;
    }
    isCut ||= read >= most;
  }
  return { found, isCut };
}

/**
 * The journeys of a list, some at a time. Follow-ups that are done are read only since an instant: whoever finished one earlier has also
 * opened and taken it earlier.
 */
export async function* followUpJourneys(
  { store, followUps }: { store: Pick<JourneyStore, 'those'>; followUps: FollowedSource['followUps'] },
  list: FollowUpList,
  from: Date,
): AsyncGenerator<Journey[]> {
  for await (const page of followUps.pages(list)) {
    const wanted = list === 'done' ? page.filter(({ at }) => at >= from) : page;
    yield await store.those(wanted.map(({ id }) => id));
    if (wanted.length < page.length) return;
  }
}

/** Adds the same person's next closing that was graded after the follow-up was opened, in whichever source. */
async function withNext(
  journeys: readonly Journey[],
  source: FollowedSource,
  sources: readonly FollowedSource[],
): Promise<FollowedAnswer[]> {
  const found: FollowedAnswer[] = [];
  for (const some of slices(journeys, atOnce)) {
    const later = await Promise.all(sources.map((one) => laterClosings(some, one, one === source)));
    for (const journey of some) {
      const { followUp, maxGrade, answer } = journey;
      if (followUp === undefined) continue;
      const next = firstGraded(
        later.flatMap((of) => of.get(journey) ?? []),
        followUp,
      );
      const one = { followUp, grade: answer?.grade ?? null, maxGrade };
      found.push(next ? { ...one, next: { ...gradeOf(next), hasFollowUp: next.followUp !== undefined } } : one);
    }
  }
  return found;
}

const gradeOf = ({ answer, maxGrade }: Journey): Graded => ({ grade: answer?.grade ?? null, maxGrade });

/**
 * The further closings of each journey's person in one source, from the journey's own on. A vendor's id of a person means nothing in
 * another source.
 */
async function laterClosings(
  journeys: readonly Journey[],
  { store }: FollowedSource,
  isOwn: boolean,
): Promise<Map<Journey, Journey[]>> {
  const asked = journeys.flatMap((journey) => {
    const { id, contact, personId, closedAt } = journey;
    const people = [...(contact ? [{ contact }] : []), ...(isOwn && personId !== undefined ? [{ personId }] : [])];
    return people.map((who) => ({ journey, who, closedAt, ...(isOwn && { but: id }) }));
  });
  const closings = await store.queries.knownBySince(asked, mostClosings);
  const found = new Map<Journey, Journey[]>();
  for (const [i, { journey }] of asked.entries())
    found.set(journey, [...(found.get(journey) ?? []), ...(closings[i] ?? [])]);
  return found;
}

function firstGraded(later: readonly Journey[], { openedAt }: FollowUp): Journey | undefined {
  const graded = later.filter(
    ({ test, answer }) => !test && answer !== undefined && answer.grade !== null && answer.seenAt > openedAt,
  );
  return graded.toSorted((a, b) => a.closedAt.getTime() - b.closedAt.getTime())[0];
}
