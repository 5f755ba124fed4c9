import { CloseloopError } from '../../core/errors.ts';
import { minutesInWords } from '../../core/schedule/duration.ts';
import { changed, type FollowUpChange, type FollowUpStep, isOverdue, placeOf } from '../journey/follow-up.ts';
import type { FollowUpEntry, FollowUpList, FollowUpLists } from '../journey/follow-up-lists.ts';
import type { FollowUp, Journey } from '../journey/journey.ts';
import { refOf } from '../journey/refs.ts';
import type { Searched } from './journey-filter.ts';
import type { Place } from './journey-pages.ts';

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

/** The first `limit` follow-ups that fit, over all these sources. An entry of a list whose journey has no such follow-up is removed from the list. */
export async function followUpsIn<In extends FollowUpSource>(
  sources: readonly In[],
  filter: FollowUpFilter,
  { now, limit }: { now: Date; limit: number },
): Promise<FoundFollowUp<In>[]> {
  return (await lookedThrough(sources, filter, { now, limit })).found;
}

interface FollowUpPage<In> {
  found: FoundFollowUp<In>[];
  /** Behind it there is more. */
  next?: Place;
  /** The search has read as many entries as it may: more that fit may follow. */
  isCut: boolean;
}

/** A page of the follow-ups of `followUpsIn`. It begins where the page before ended, and reads at most `most` of each source. */
export async function followUpPage<In extends FollowUpSource>(
  sources: readonly In[],
  filter: FollowUpFilter,
  { size, ...reading }: { now: Date; size: number; most: number; after?: Place | undefined },
): Promise<FollowUpPage<In>> {
  const { found, frontier } = await lookedThrough(sources, filter, { ...reading, limit: size + 1 });
  const last = found[size - 1];
  if (found.length > size && last) return { found: found.slice(0, size), next: placeIn(last), isCut: false };
  return frontier ? { found, next: frontier, isCut: true } : { found, isCut: false };
}

interface Reading {
  now: Date;
  limit: number;
  /** Follow-ups of each source that are looked at. Left out: all. */
  most?: number;
  /** Begins behind this place. */
  after?: Place | undefined;
}

/** `frontier`: all follow-ups that fit are found up to this place. */
interface Looked<In> {
  found: FoundFollowUp<In>[];
  frontier: Place | undefined;
}

async function lookedThrough<In extends FollowUpSource>(
  sources: readonly In[],
  filter: FollowUpFilter,
  reading: Reading,
): Promise<Looked<In>> {
  const isDone = filter.done === true;
  const all = await Promise.all(sources.map((context) => lookedThroughOne(context, filter, reading)));
  const frontiers = all.flatMap(({ frontier }) => frontier ?? []);
  const frontier = frontiers.toSorted((a, b) => (isBehind(b, a, isDone) ? -1 : 1))[0];
  const found = all
    .flatMap((one) => one.found)
    .filter((one) => !frontier || !isBehind(placeIn(one), frontier, isDone))
    .toSorted((a, b) => (isBehind(placeIn(b), placeIn(a), isDone) ? -1 : 1));
  return { found: found.slice(0, reading.limit), frontier };
}

async function lookedThroughOne<In extends FollowUpSource>(
  context: In,
  filter: FollowUpFilter,
  reading: Reading,
): Promise<Looked<In>> {
  const { now, limit, most } = reading;
  const found: FoundFollowUp<In>[] = [];
  let looked = 0;
  for await (const { followUp, journey } of followUpsOf(context, filter, reading)) {
    const one = { followUp, journey, context };
    looked += 1;
    if (fits(followUp, filter, now)) found.push(one);
    // No later one of this source comes before these.
    if (found.length === limit) break;
    if (looked === most) return { found, frontier: placeIn(one) };
  }
  return { found, frontier: undefined };
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

async function* followUpsOf(
  { name, store, followUps }: FollowUpSource,
  { done: isDone = false, overdue, mine }: FollowUpFilter,
  { now, limit, after }: Reading,
): AsyncGenerator<{ followUp: FollowUp; journey: Journey }> {
  const list: FollowUpList = isDone ? 'done' : 'open';
  const from = after && new Date(after.at);
  // Only its journey tells whose follow-up it is: few of many may belong to this person.
  const size = mine === undefined ? Math.min(500, limit) : 500;
  const pages = followUps.pages(list, { from, ...(overdue && !isDone && { until: now }), size });
  for await (const all of pages) {
    const page = after
      ? all.filter(({ id, at }) => isBehind({ at: at.getTime(), ref: refOf(name, id) }, after, isDone))
      : all;
    // A follow-up that can't be read stays in the list.
    const unreadable = new Set<string>();
    const ids = page.map(({ id }) => id);
    const journeys = await store.queries.those(ids, (id) => void unreadable.add(id));
    const byId = new Map(journeys.map((journey) => [journey.id, journey]));
    for (const entry of page) {
      if (unreadable.has(entry.id)) continue;
      const read = byId.get(entry.id);
      const isWrong = !isListedRight(read, list, entry);
      if (isWrong) await followUps.relist(entry.id, store);
      const journey = isWrong ? await store.get(entry.id) : read;
      const place = placeOf(journey);
      if (journey?.followUp && typeof place === 'object' && place.list === list)
        yield { followUp: journey.followUp, journey };
    }
  }
}

function isListedRight(journey: Journey | undefined, list: FollowUpList, { at }: FollowUpEntry): boolean {
  const place = placeOf(journey);
  if (place === 'awaited') return true;
  return place !== 'nowhere' && place.list === list && place.at.getTime() === at.getTime();
}

function fits(followUp: FollowUp, { mine, overdue }: FollowUpFilter, now: Date): boolean {
  const { state, to, takenBy, doneBy } = followUp;
  const owner = state === 'done' ? doneBy : state === 'taken' ? takenBy : to;
  return (mine === undefined || owner === mine) && (!overdue || isOverdue(followUp, now));
}

/** Counts follow-ups over all these sources by their lists. For a moment a list may hold a follow-up that its journey does not have yet. */
export async function countFollowUps(
  sources: readonly Pick<FollowUpSource, 'followUps'>[],
  now: Date,
): Promise<{ open: number; overdue: number }> {
  const counts = await Promise.all(
    sources.flatMap(({ followUps }) => [followUps.count('open'), followUps.count('open', now)]),
  );
  const sum = (part: number) => counts.reduce((total, one, i) => (i % 2 === part ? total + one : total), 0);
  return { open: sum(0), overdue: sum(1) };
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

/** "in 3 hours", "2 hours overdue": in the largest unit that fits twice, rounded down. */
export function dueInWords({ dueAt }: Pick<FollowUp, 'dueAt'>, now: Date): string {
  const ms = dueAt.getTime() - now.getTime();
  const minutes = Math.floor(Math.abs(ms) / minuteMs);
  if (minutes === 0) return 'now';
  const time = minutesInWords(minutes);
  return ms > 0 ? `in ${time}` : `${time} overdue`;
}

/** "open, in 3 hours", "taken by Maria 2026-…, 2 hours overdue", "done by Maria 2026-…". */
export function stateInWords(followUp: FollowUp, now: Date): string {
  const { state, takenBy, takenAt, doneBy, doneAt } = followUp;
  if (state === 'done') return `done by ${doneBy ?? '–'} ${doneAt?.toISOString() ?? ''}`;
  const due = dueInWords(followUp, now);
  return state === 'open' ? `open, ${due}` : `taken by ${takenBy ?? '–'} ${takenAt?.toISOString() ?? ''}, ${due}`;
}
