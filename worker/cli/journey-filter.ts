import { contactKey, parseContact } from '../../core/contact.ts';
import { type Journey, type JourneyState, journeyStates } from '../journey/journey.ts';
import type { SourceContext } from '../pipeline/context.ts';
import { instant } from './instant.ts';
import type { Sources } from './with-engine.ts';

/** Which journeys a command is about. */
export interface JourneyFilter {
  source?: string;
  state?: JourneyState;
  /** Phone number, e-mail address or identifier. */
  contact?: string;
  record?: string;
  /** Changed at or after this. */
  since?: string;
  /** Part of the reason, without regard to case. */
  error?: string;
}

export interface Found {
  journey: Journey;
  context: SourceContext;
}

/** Journeys that fit, source by source, last changed first (waiting: last due first). */
export async function* select(sources: Sources, filter: JourneyFilter): AsyncGenerator<Found> {
  for (const { context } of sources.pipelines(filter.source)) {
    const fits = fitting(filter, context);
    for await (const journey of candidates(context, filter)) if (fits(journey)) yield { journey, context };
  }
}

/** By the narrowest index there is. */
async function* candidates(context: SourceContext, { contact, record, state }: JourneyFilter): AsyncGenerator<Journey> {
  const { store, source, aliases, defaultCountry } = context;
  if (record === undefined && contact === undefined) {
    return yield* store.queries.newest(state === undefined ? journeyStates : [state]);
  }
  const found =
    record === undefined
      ? await store.queries.of({ contact: parseContact(contact ?? '', { defaultCountry }) })
      : await store.ofRecord(aliases.of(source.recordNames?.parse(record) ?? record));
  yield* found.sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime());
}

function fitting(
  { state, since, error, contact }: JourneyFilter,
  { defaultCountry, timeZone }: SourceContext,
): (journey: Journey) => boolean {
  const who = contact === undefined ? undefined : contactKey(parseContact(contact, { defaultCountry }));
  const from = since === undefined ? undefined : instant(since, '--since', timeZone);
  const text = error?.toLowerCase();
  return (journey) =>
    (state === undefined || journey.state === state) &&
    (who === undefined || (journey.contact !== undefined && contactKey(journey.contact) === who)) &&
    (from === undefined || journey.updatedAt >= from) &&
    (text === undefined || (journey.why ?? '').toLowerCase().includes(text));
}
