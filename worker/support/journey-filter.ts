import type { Source } from '../../core/connector/contract.ts';
import { recordNamed } from '../../core/connector/record-name.ts';
import type { Contact } from '../../core/contact.ts';
import { CloseloopError } from '../../core/errors.ts';
import { type Journey, type JourneyState, journeyStates } from '../journey/journey.ts';
import { listedAt } from '../journey/journey-keys.ts';
import type { JourneyStore } from '../journey/store.ts';
import type { Policy } from '../pipeline/policy/source-policy.ts';
import { nameInEarnest } from '../redis/keys.ts';
import { peopleNamed } from './named-contacts.ts';

/** The journeys that a command is about. */
export interface JourneyFilter {
  source?: string;
  state?: JourneyState;
  /** Phone number, e-mail address or identifier. */
  contact?: string;
  /** The kind of the contact; left out: any kind that the text may be. */
  as?: Contact['kind'];
  record?: string;
  /** Changed at or after this. */
  since?: string;
  /** Changed (waiting: due) before this. */
  until?: string;
  /** Part of the reason, without regard to case. */
  error?: string;
}

/** The parts of a source that a search needs. */
export interface Searched extends Pick<Policy, 'timeZone' | 'defaultCountry'> {
  name: string;
  storedAs: string;
  store: JourneyStore;
  /** Left out: a record has the name that events give it. */
  source?: Pick<Source, 'recordNames' | 'mayNamePerson'>;
}

export interface FoundJourney<In> {
  journey: Journey;
  context: In;
}

type Named = Pick<Searched, 'name' | 'storedAs' | 'source'>;

/**
 * The rest of a text that begins with a name of the source and a slash: `14` of `support/14`. Undefined for any other text. Markers have the
 * name that the source's data is stored under; a dry run's source is found by its names in earnest as well.
 */
export function withinSource({ name, storedAs }: Omit<Named, 'source'>, text: string): string | undefined {
  const names = [name, storedAs].flatMap((one) => [one, nameInEarnest(one)]);
  const own = names.find((one) => text.startsWith(`${one}/`));
  return own === undefined ? undefined : text.slice(own.length + 1);
}

/**
 * The record that a person names: as the vendor prints its id or as events have it, with or without the source's name before it. Undefined
 * for a text that can't be a record of this source.
 */
export function knownRecordIn(of: Named, text: string): string | undefined {
  return recordNamed(of.source ?? {}, withinSource(of, text) ?? text);
}

/** Does the same as `knownRecordIn`, and returns a text that can't be a record as it was written. */
export function recordIn(of: Named, text: string): string {
  return knownRecordIn(of, text) ?? withinSource(of, text) ?? text;
}

/** Journeys that fit, source by source, last changed first (waiting: last due first). */
export async function* select<In extends Searched>(
  sources: readonly In[],
  filter: JourneyFilter,
): AsyncGenerator<FoundJourney<In>> {
  for (const context of sources) {
    const fits = fitting(filter, context, await instantsOf(filter, context));
    for await (const journey of candidates(context, filter)) if (fits(journey)) yield { journey, context };
  }
}

/** Journeys that may fit, by the narrowest index there is. */
async function* candidates(context: Searched, { contact, as, record, state }: JourneyFilter): AsyncGenerator<Journey> {
  const { store, defaultCountry } = context;
  if (record === undefined && contact === undefined) {
    return yield* store.queries.newest(state === undefined ? journeyStates : [state]);
  }
  const found =
    record === undefined
      ? await journeysOf(peopleNamed(contact ?? '', { as, defaultCountry }), store)
      : await store.records.journeysOf(recordIn(context, record));
  yield* found.sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime());
}

/** The journeys of all these contacts, each once. */
async function journeysOf(contacts: readonly Contact[], { queries }: Searched['store']): Promise<Journey[]> {
  const found = await Promise.all(contacts.map((contact) => queries.knownBy({ contact })));
  return [...new Map(found.flat().map((journey) => [journey.id, journey])).values()];
}

/** @param context of any source, if the filter names no contact */
export function fitting(
  filter: JourneyFilter,
  context: Searched,
  { since, until }: { since?: Date | undefined; until?: Date | undefined },
): (journey: Journey) => boolean {
  const { state, error, contact, as } = filter;
  const { defaultCountry, store } = context;
  const who = contact === undefined ? undefined : peopleNamed(contact, { as, defaultCountry });
  const text = error?.toLowerCase();
  return (journey) =>
    (state === undefined || journey.state === state) &&
    (who === undefined || who.some((one) => store.queries.isKnownBy(journey, one))) &&
    (since === undefined || journey.updatedAt >= since) &&
    (until === undefined || listedAt(journey) < until) &&
    (text === undefined || (journey.why ?? '').toLowerCase().includes(text));
}

/** The time in which the journeys changed, or closed. @throws CloseloopError config for one that ends before it begins */
export async function instantsOf(
  { since, until }: { since?: string | undefined; until?: string | undefined },
  { timeZone }: Pick<Searched, 'timeZone'>,
): Promise<{ since?: Date | undefined; until?: Date | undefined }> {
  if (since === undefined && until === undefined) return {};
  // Loaded with its calendar only where the filter has a time.
  const { instant, refuseReversed } = await import('./instant.ts');
  const at = (text: string | undefined, option: string) =>
    text === undefined ? undefined : instant(text, option, { timeZone, now: new Date() });
  const period = { since: at(since, '--since'), until: at(until, '--until') };
  refuseReversed(period.since, period.until);
  return period;
}

/**
 * The journey with this reference, `<source>/<id>`.
 * @param sourceOf the source by any name that it has had
 * @throws CloseloopError for a journey that isn't there
 */
export async function findJourney<In extends Pick<Searched, 'store'>>(
  ref: string,
  sourceOf: (name: string) => Promise<In | undefined>,
): Promise<FoundJourney<In>> {
  const slash = ref.indexOf('/');
  const [source, id] = [ref.slice(0, Math.max(0, slash)), ref.slice(slash + 1)];
  const context = await sourceOf(source);
  const journey = await context?.store.get(id);
  if (context && journey) return { journey, context };
  const message = `There is no journey "${ref}". It is written <source>/<record>.<number>; "journeys list" shows them.`;
  throw new CloseloopError(message, { kind: 'permanent' });
}
