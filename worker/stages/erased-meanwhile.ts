import { contactKey } from '../../core/contact.ts';
import type { SourceContext } from '../context.ts';
import type { Journey } from '../journey/journey.ts';
import { erased } from '../journey/transitions.ts';

/** Whom an erasure names, and a journey is about. */
export const named = {
  everybody: 'everybody',
  record: (id: string) => `record:${id}`,
  person: (id: string) => `person:${id}`,
  contact: (contact: Parameters<typeof contactKey>[0]) => `contact:${contactKey(contact)}`,
};

function whoIn({ recordId, personId, contact }: Journey): string[] {
  return [
    named.everybody,
    named.record(recordId),
    ...(personId === undefined ? [] : [named.person(personId)]),
    ...(contact ? [named.contact(contact)] : []),
  ];
}

/**
 * An erasure finds only what is saved: who was forgotten while their closing was being read is found here, once that is
 * saved. The journey, erased; undefined where nobody has been forgotten since it came in.
 */
export async function erasedMeanwhile(journey: Journey, context: SourceContext): Promise<Journey | undefined> {
  const at = await context.erasures.lastOf(whoIn(journey));
  if (at === undefined || journey.receivedAt > at) return undefined;
  const after = await context.store.update(journey.id, (now) =>
    now.erasedAt || now.state === 'creating'
      ? undefined
      : { journey: erased(now, context.clock.now()), trace: ['erased: its person was forgotten meanwhile'] },
  );
  return after?.erasedAt && after;
}
