import type { EraseEvent, SourceEvent } from '../../core/connector/events.ts';
import { firstOf } from '../../core/spread.ts';
import type { Subject } from '../journey/erasures.ts';
import type { Journeys, Named, Policy } from './context.ts';
import { elsewhere, identityKeys, identityKeysOf } from './erasure-race.ts';
import { subjectOf } from './people-in-snapshot.ts';

type Context = Pick<Named, 'storedAs'> & Pick<Policy, 'defaultCountry'>;

/** As many as there is time for before a delivery is answered. Further people are noted when their erasure begins. */
const mostNoted = 1_000;

/** Whom a request for an erasure names. */
export function* subjectsOf(
  { personIds = [], recordIds = [], contacts = [] }: Pick<EraseEvent, 'personIds' | 'recordIds' | 'contacts'>,
  { storedAs: source, ...reading }: Context,
): Generator<Subject> {
  for (const id of personIds) yield { kind: 'person', source, id };
  for (const id of recordIds) yield { kind: 'record', source, id };
  for (const text of contacts) {
    const subject = subjectOf(text, reading);
    if (subject) yield subject;
  }
}

/**
 * Notes in every source whom these events request to be erased: from then on nobody asks them about what came in before, however long
 * the erasure has to wait. Called before the events are stored, so that everybody is noted whose erasure was accepted.
 */
export async function noteRequested(
  events: readonly SourceEvent[],
  at: Date,
  context: Context & Pick<Journeys, 'sources'>,
): Promise<void> {
  const erasures = events.filter((event) => event.kind === 'erase');
  if (erasures.length === 0) return;
  const subjects = erasures.flatMap((one) => firstOf(subjectsOf(one, context), mostNoted)).slice(0, mostNoted);
  const isOfEverybody = erasures.some(({ everybody }) => everybody);
  const sources = await context.sources();
  const everywhere = [...subjects, ...elsewhere(subjects, sources)];
  await Promise.all(
    sources.map(async (of) => {
      const keys = new Set(identityKeysOf(everywhere, of));
      if (isOfEverybody && of.storedAs === context.storedAs) keys.add(identityKeys.everybody);
      await of.erasures.forgotten.note([...keys].map(identityKeys.requested), at, of.keepMs);
    }),
  );
}
