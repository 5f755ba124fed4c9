import { type Contact, contactKey } from '../../../core/contact.ts';
import { keysOf, type Subject } from '../../journey/erasures.ts';
import type { Journey } from '../../journey/journey.ts';
import { erased } from '../../journey/transitions.ts';
import type { SourceContext } from '../context.ts';
import { contactsIn, partIn, personIn, withoutMentions } from './people-in-snapshot.ts';

/** Whom an erasure names, and a journey or a snapshot is about. */
export const named = {
  everybody: 'everybody',
  record: (id: string) => `record:${id}`,
  person: (id: string) => `person:${id}`,
  contact: (contact: Contact) => `contact:${contactKey(contact)}`,
};

/** The names in this source of whom an erasure is about. Contacts name somebody in every source. */
export function namesOf(subjects: readonly Subject[], source: string): string[] {
  return subjects.flatMap((subject) => {
    if (subject.kind === 'contact') return keysOf(subject).map((key) => `contact:${key}`);
    const isHere = subject.source === source && (subject.kind === 'person' || subject.kind === 'record');
    return isHere ? [named[subject.kind](subject.id)] : [];
  });
}

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

/**
 * Keeps what an event tells of its record, unless its customer was forgotten since the event came in; without the contacts of
 * others who were. An erasure finds only what is kept: who was forgotten while it was being kept is looked for once more.
 */
export async function keepSnapshot(
  {
    recordId,
    at,
    receivedAt,
    snapshot,
  }: { recordId: string; at: Date; receivedAt: Date; snapshot?: object | undefined },
  context: SourceContext,
  options: { onlyFirst?: boolean } = {},
): Promise<void> {
  if (!snapshot) return;
  const kept = await unforgotten(snapshot, recordId, receivedAt, context);
  if (kept === null) return;
  await context.snapshots.save(recordId, at, kept, options);
  const left = await unforgotten(kept, recordId, receivedAt, context);
  if (left === kept) return;
  const text = JSON.stringify(kept);
  await context.snapshots.change(recordId, (now) => (JSON.stringify(now) === text ? left : undefined));
}

/** What may be kept of a telling, the same where that is all of it; null: nothing. */
async function unforgotten(
  snapshot: object,
  recordId: string,
  receivedAt: Date,
  context: SourceContext,
): Promise<object | null> {
  const isForgotten = await forgottenIn(snapshot, recordId, receivedAt, context);
  if ([named.everybody, named.record(recordId)].some(isForgotten)) return null;
  const isPerson = (id: string) => isForgotten(named.person(id));
  const isContact = (key: string) => isForgotten(`contact:${key}`);
  const part = await partIn(snapshot, { isPerson, isContact }, context);
  if (part === 'none') return snapshot;
  return part === 'theirs' ? null : await withoutMentions(snapshot, isContact, context);
}

/** Which names that an event tells were forgotten since it came in. */
async function forgottenIn(
  snapshot: object,
  recordId: string,
  receivedAt: Date,
  context: SourceContext,
): Promise<(name: string) => boolean> {
  const personId = personIn(snapshot);
  const names = [
    named.everybody,
    named.record(recordId),
    ...(personId === undefined ? [] : [named.person(personId)]),
    ...(await contactsIn(snapshot, context)).map((key) => `contact:${key}`),
  ];
  const forgotten = new Set(await context.erasures.forgottenSince(receivedAt, names));
  return (name) => forgotten.has(name);
}
