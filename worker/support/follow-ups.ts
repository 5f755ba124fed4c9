import { CloseloopError } from '../../core/errors.ts';
import { minutesInWords } from '../../core/schedule/duration.ts';
import { changed, type FollowUpChange, type FollowUpStep, isOverdue, personOf, placeOf } from '../journey/follow-up.ts';
import type { FollowUpEntry, FollowUpList, FollowUpLists } from '../journey/follow-up-lists.ts';
import type { FollowUp, Journey } from '../journey/journey.ts';
import { refOf } from '../journey/refs.ts';
import type { Searched } from './journey-filter.ts';
import { merged, type Place } from './journey-pages.ts';

/** A source, as follow-ups need it. */
export interface FollowUpSource extends Pick<Searched, 'name' | 'store'> {
  followUps: FollowUpLists;
}

export interface FollowUpFilter {
  /** Done ones, the last one first; left out: open and taken ones, the most overdue first. */
  done?: boolean;
  overdue?: boolean;
  /** Only follow-ups that this person has taken or done, and open follow-ups that are meant for this person. */
  mine?: string;
}

export interface FoundFollowUp<In> {
  followUp: FollowUp;
  journey: Journey;
  context: In;
}

/**
 * The first `limit` follow-ups that fit, over all these sources. An entry of a list whose journey has no such follow-up is removed from
 * the list.
 */
export async function followUpsIn<In extends FollowUpSource>(
  sources: readonly In[],
  filter: FollowUpFilter,
  { now, limit }: { now: Date; limit: number },
): Promise<FoundFollowUp<In>[]> {
  return (await followUpPage(sources, filter, { now, size: limit, most: Number.POSITIVE_INFINITY })).found;
}

interface FollowUpPage<In> {
  found: FoundFollowUp<In>[];
  /** Behind it there is more. */
  next?: Place;
  /** The search has read as many entries as it may: more that fit may follow. */
  isCut: boolean;
}

interface Reading {
  now: Date;
  size: number;
  /** Begins behind this place. */
  after?: Place | undefined;
}

/** A page of the follow-ups of `followUpsIn`. The page begins where the page before ended. At most `most` follow-ups are read for it. */
export async function followUpPage<In extends FollowUpSource>(
  sources: readonly In[],
  filter: FollowUpFilter,
  { most, ...reading }: Reading & { most: number },
): Promise<FollowUpPage<In>> {
  const { now, size } = reading;
  const found: FoundFollowUp<In>[] = [];
  let looked = 0;
  const lists = sources.map((context) => followUpsOf(context, filter, reading));
  for await (const one of merged(lists, (a, b) => isBehind(placeIn(b), placeIn(a), filter.done === true))) {
    const isFitting = fits(one.followUp, filter, now);
    const last = found.at(-1);
    if (isFitting && last && found.length === size) return { found, next: placeIn(last), isCut: false };
    if (isFitting) found.push(one);
    if (++looked === most) return { found, next: placeIn(one), isCut: true };
  }
  return { found, isCut: false };
}

/** The place of a follow-up in its list. */
function placeIn({ followUp, journey, context }: FoundFollowUp<Pick<Searched, 'name'>>): Place {
  const { state, dueAt, doneAt = dueAt } = followUp;
  return { at: (state === 'done' ? doneAt : dueAt).getTime(), ref: refOf(context.name, journey.id) };
}

function isBehind(one: Place, other: Place, isDone: boolean): boolean {
  if (one.at !== other.at) return isDone ? one.at < other.at : one.at > other.at;
  return isDone ? one.ref < other.ref : one.ref > other.ref;
}

async function* followUpsOf<In extends FollowUpSource>(
  context: In,
  { done: isDone = false, overdue, mine }: FollowUpFilter,
  { now, size, after }: Reading,
): AsyncGenerator<FoundFollowUp<In>, void> {
  const { name, store, followUps } = context;
  const list: FollowUpList = isDone ? 'done' : 'open';
  const from = after && new Date(after.at);
  // Only its journey tells whose follow-up it is: few of many may belong to this person.
  const atOnce = mine === undefined ? Math.min(500, size + 1) : 500;
  const pages = followUps.pages(list, { from, ...(overdue && !isDone && { until: now }), size: atOnce });
  for await (const all of pages) {
    const page = after
      ? all.filter(({ id, at }) => isBehind({ at: at.getTime(), ref: refOf(name, id) }, after, isDone))
      : all;
    // A follow-up that can't be read stays in the list.
    const unreadable = new Set<string>();
    const ids = page.map(({ id }) => id);
    const journeys = await store.those(ids, (id) => void unreadable.add(id));
    const byId = new Map(journeys.map((journey) => [journey.id, journey]));
    for (const entry of page) {
      if (unreadable.has(entry.id)) continue;
      const read = byId.get(entry.id);
      const isWrong = !isListedRight(read, list, entry);
      if (isWrong) await followUps.relist(entry.id, store);
      const journey = isWrong ? await store.get(entry.id) : read;
      const place = placeOf(journey);
      if (journey?.followUp && typeof place === 'object' && place.list === list)
        yield { followUp: journey.followUp, journey, context };
    }
  }
}

function isListedRight(journey: Journey | undefined, list: FollowUpList, { at }: FollowUpEntry): boolean {
  const place = placeOf(journey);
  if (place === 'awaited') return true;
  return place !== 'nowhere' && place.list === list && place.at.getTime() === at.getTime();
}

function fits(followUp: FollowUp, { mine, overdue }: FollowUpFilter, now: Date): boolean {
  const { state, takenBy, doneBy } = followUp;
  const owner = state === 'done' ? doneBy : state === 'taken' ? takenBy : personOf(followUp);
  return (mine === undefined || owner === mine) && (!overdue || isOverdue(followUp, now));
}

/** Counts follow-ups over all these sources by their lists. For a moment a list may hold a follow-up that its journey does not have yet. */
export async function countFollowUps(
  sources: readonly Pick<FollowUpSource, 'followUps'>[],
  now: Date,
): Promise<{ open: number; overdue: number }> {
  const sum = async (until?: Date) => {
    const counts = await Promise.all(sources.map(({ followUps }) => followUps.count('open', until)));
    return counts.reduce((total, one) => total + one, 0);
  };
  const [open, overdue] = await Promise.all([sum(), sum(now)]);
  return { open, overdue };
}

/**
 * Takes a follow-up, ends it or opens it again. Two people at once: the second one is refused, and told of the first.
 * @throws CloseloopError where it may not be
 */
export async function changeFollowUp(
  journey: Journey,
  step: FollowUpStep,
  { name, store, followUps }: FollowUpSource,
): Promise<FollowUp> {
  const { id } = journey;
  const decided: FollowUpChange[] = [];
  const after = await store.update(id, (now) => {
    const change = changed(now.followUp, step);
    decided.push(change);
    if (!change.ok || change.trace.length === 0) return undefined;
    return { journey: { ...now, followUp: change.followUp }, trace: change.trace };
  });
  // The last decision is the one that holds; an erased journey, and one that is gone, is not decided about, whatever was decided before.
  const isThere = after !== undefined && after.erasedAt === undefined;
  const change = (isThere ? decided.at(-1) : undefined) ?? changed(undefined, step);
  if (!change.ok) throw new CloseloopError(`${refOf(name, id)}: ${change.why}.`, { kind: 'permanent' });
  await followUps.relist(id, store);
  return after?.followUp ?? change.followUp;
}

const minuteMs = 60_000;

/** "Maria", "the agent of the ticket". @param noun the word for the source's records; left out: 'record' */
export function personInWords(followUp: FollowUp, noun = 'record'): string {
  const person = personOf(followUp);
  return person === 'agent' ? `the agent of the ${noun}` : person;
}

/** "due in 3 hours", "2 hours overdue": in the largest unit that fits twice, rounded down. */
export function dueInWords({ dueAt }: Pick<FollowUp, 'dueAt'>, now: Date): string {
  const ms = dueAt.getTime() - now.getTime();
  const minutes = Math.floor(Math.abs(ms) / minuteMs);
  if (minutes === 0) return 'due now';
  const time = minutesInWords(minutes);
  return ms > 0 ? `due in ${time}` : `${time} overdue`;
}

/** "open, due in 3 hours", "taken by Maria 2026-…, 2 hours overdue", "done by Maria 2026-…". */
export function stateInWords(followUp: FollowUp, now: Date): string {
  const { state, takenBy, takenAt, doneBy, doneAt } = followUp;
  if (state === 'done') return `done by ${doneBy ?? '–'} ${doneAt?.toISOString() ?? ''}`;
  const due = dueInWords(followUp, now);
  return state === 'open' ? `open, ${due}` : `taken by ${takenBy ?? '–'} ${takenAt?.toISOString() ?? ''}, ${due}`;
}
