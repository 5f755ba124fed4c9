import { contactKey } from '../../../core/contact.ts';
import { keysOf, type Subject } from '../../journey/erasures.ts';
import type { Journey } from '../../journey/journey.ts';
import { erased } from '../../journey/transitions.ts';
import type { Journeys, Policy, Timing } from '../context.ts';
import { contactsIn, partIn, personIn, withoutMentions } from './people-in-snapshot.ts';

/** What people are remembered as forgotten by, and looked for in a journey or a snapshot. */
export const identityKeys = {
  everybody: 'everybody',
  record: (id: string) => `record:${id}`,
  person: (id: string) => `person:${id}`,
  contact: (key: string) => `contact:${key}`,
};

/** Of whom an erasure is about, in this source. Contacts are somebody's in every source. */
export function identityKeysOf(subjects: readonly Subject[], source: string): string[] {
  return subjects.flatMap((subject) => {
    if (subject.kind === 'contact') return keysOf(subject).map(identityKeys.contact);
    const isHere = subject.source === source && (subject.kind === 'person' || subject.kind === 'record');
    return isHere ? [identityKeys[subject.kind](subject.id)] : [];
  });
}

function identityKeysIn({ recordId, personId, contact }: Journey): string[] {
  return [
    identityKeys.everybody,
    identityKeys.record(recordId),
    ...(personId === undefined ? [] : [identityKeys.person(personId)]),
    ...(contact ? [identityKeys.contact(contactKey(contact))] : []),
  ];
}

/**
 * An erasure finds only what is saved: who was forgotten while their closing was being read is found here, once that is
 * saved. The journey, erased; undefined where nobody has been forgotten since it came in.
 */
export async function erasedMeanwhile(
  journey: Journey,
  context: Pick<Journeys, 'erasures' | 'store'> & Pick<Timing, 'clock'>,
): Promise<Journey | undefined> {
  const at = await context.erasures.lastOf(identityKeysIn(journey));
  if (at === undefined || journey.receivedAt > at) return undefined;
  const after = await context.store.update(journey.id, (now) =>
    now.erasedAt || now.state === 'creating'
      ? undefined
      : { journey: erased(now, context.clock.now()), trace: ['erased: its person was forgotten meanwhile'] },
  );
  return after?.erasedAt && after;
}

/** What keeping a snapshot takes of a source. */
export type SnapshotContext = Pick<Journeys, 'erasures' | 'snapshots'> &
  Pick<Policy, 'customerContacts' | 'defaultCountry'>;

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
  context: SnapshotContext,
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
  context: SnapshotContext,
): Promise<object | null> {
  const isForgotten = await forgottenIn(snapshot, recordId, receivedAt, context);
  if ([identityKeys.everybody, identityKeys.record(recordId)].some(isForgotten)) return null;
  const isPerson = (id: string) => isForgotten(identityKeys.person(id));
  const isContact = (key: string) => isForgotten(identityKeys.contact(key));
  const part = await partIn(snapshot, { isPerson, isContact }, context);
  if (part === 'none') return snapshot;
  return part === 'theirs' ? null : await withoutMentions(snapshot, isContact, context);
}

/** Which identity keys in a snapshot were forgotten since its event came in. */
async function forgottenIn(
  snapshot: object,
  recordId: string,
  receivedAt: Date,
  context: SnapshotContext,
): Promise<(key: string) => boolean> {
  const personId = personIn(snapshot);
  const keys = [
    identityKeys.everybody,
    identityKeys.record(recordId),
    ...(personId === undefined ? [] : [identityKeys.person(personId)]),
    ...(await contactsIn(snapshot, context)).map(identityKeys.contact),
  ];
  const forgotten = new Set(await context.erasures.forgottenSince(receivedAt, keys));
  return (key) => forgotten.has(key);
}
