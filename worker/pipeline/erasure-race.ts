import { contactKey } from '../../core/contact.ts';
import { keysOf, type Subject } from '../journey/erasures.ts';
import type { Journey } from '../journey/journey.ts';
import { erased } from '../journey/transitions.ts';
import { nameInEarnest } from '../redis/keys.ts';
import type { Journeys, Named, Policy, Queues, Timing } from './context.ts';
import { contactsIn, partIn, personIn, withoutMentions } from './people-in-snapshot.ts';
import { linksOf } from './policy/known-as.ts';

/** The keys by which erased people are remembered, and searched for in journeys and snapshots. */
export const identityKeys = {
  everybody: 'everybody',
  record: (id: string) => `record:${id}`,
  person: (id: string) => `person:${id}`,
  contact: (key: string) => `contact:${key}`,
  /** A contact as `Journey.alsoKnownAs` holds it. */
  address: (address: string) => `address:${address}`,
  /** Of somebody whose erasure was requested. Noted apart: what leads to more of the person must stay until the erasure has found it. */
  requested: (key: string) => `requested ${key}`,
};

/** The identity keys of subjects in this source. A contact is the same person in every source. */
export function identityKeysOf(
  subjects: readonly Subject[],
  { storedAs: source, contacts }: Pick<Named, 'storedAs'> & Pick<Journeys, 'contacts'>,
): string[] {
  return subjects.flatMap((subject) => {
    if (subject.kind === 'contact') {
      const keys = keysOf(subject);
      return [...keys.map(identityKeys.contact), ...keys.map((key) => identityKeys.address(contacts.addressOf(key)))];
    }
    const isHere = subject.source === source && (subject.kind === 'person' || subject.kind === 'record');
    return isHere ? [identityKeys[subject.kind](subject.id)] : [];
  });
}

/**
 * The same people and records in other sources of the vendor's account, as the vendor may send the erasure to one source only, and
 * where a source ran dry.
 */
export function elsewhere(subjects: readonly Subject[], sources: readonly Named[]): Subject[] {
  return subjects.flatMap((subject) => {
    if (subject.kind !== 'person' && subject.kind !== 'record') return [];
    const account = sources.find(({ storedAs }) => storedAs === subject.source)?.account;
    const isAlike = (of: Named) => account !== undefined && of.account === account;
    const isTwin = (of: Named) => nameInEarnest(of.storedAs) === nameInEarnest(subject.source);
    return sources.filter((of) => isAlike(of) || isTwin(of)).map(({ storedAs }) => ({ ...subject, source: storedAs }));
  });
}

function identityKeysIn({ recordId, personId, contact, alsoKnownAs = [] }: Journey): string[] {
  // As in the search of an erasure: an address may be known of several people, and means one of whom nothing else is known.
  const isKnownByAddress = contact === undefined && personId === undefined;
  return [
    ...(isKnownByAddress ? alsoKnownAs.map(identityKeys.address) : []),
    identityKeys.everybody,
    identityKeys.record(recordId),
    ...(personId === undefined ? [] : [identityKeys.person(personId)]),
    ...(contact ? [identityKeys.contact(contactKey(contact))] : []),
  ];
}

type RaceContext = Named & Pick<Journeys, 'erasures' | 'store' | 'contacts'> & Pick<Timing, 'clock'>;

/**
 * What became of the journey's person since the record was closed: an erasure of theirs has `begun`, and may have ended, or is only
 * `requested`. The closing counts, not its event: what is dated before the erasure and told of after it is about somebody who is forgotten.
 */
export async function erasureSince(
  journey: Journey,
  { erasures }: Pick<Journeys, 'erasures'>,
): Promise<'begun' | 'requested' | undefined> {
  return await erasureNoted(journey, earlierOf(journey.closedAt, journey.receivedAt), erasures);
}

async function erasureNoted(
  journey: Journey,
  since: Date,
  erasures: Journeys['erasures'],
): Promise<'begun' | 'requested' | undefined> {
  if (!(await erasures.forgotten.anybodySince(since))) return undefined;
  const keys = identityKeysIn(journey);
  const noted = await erasures.forgotten.since(since, [...keys, ...keys.map(identityKeys.requested)]);
  if (noted.length === 0) return undefined;
  return noted.some((key) => keys.includes(key)) ? 'begun' : 'requested';
}

function earlierOf(one: Date, other: Date): Date {
  return one < other ? one : other;
}

/** Erases a journey that was saved while its person was being erased, or after that: `eraseLate`. Undefined where the person was not. */
export async function erasedMeanwhile(journey: Journey, context: RaceContext): Promise<Journey | undefined> {
  return (await erasureSince(journey, context)) === 'begun' ? await eraseLate(journey, context) : undefined;
}

/**
 * Erases a journey whose person's erasure has begun: it finds only what is saved already. Returns the erased journey; undefined where it
 * can't be erased now, or has asked: it was saved before that, so the erasure finds it, and cancels its request.
 */
export async function eraseLate(journey: Journey, context: RaceContext): Promise<Journey | undefined> {
  // Linked since by this journey.
  for (const address of linksOf(journey, context)) await context.contacts.unlink(address);
  const isToldLate = (await erasureNoted(journey, journey.receivedAt, context.erasures)) !== 'begun';
  const [to, line] = isToldLate
    ? (['skipped', 'skipped: its person was forgotten after the record was closed'] as const)
    : (['cancelled', 'erased: its person was forgotten meanwhile'] as const);
  const after = await context.store.update(journey, (now) =>
    now.erasedAt || now.state === 'creating' || now.requestId !== undefined
      ? undefined
      : { journey: erased(now, context.clock.now(), to), trace: [line] },
  );
  return after?.erasedAt && after;
}

/** What storing a snapshot takes of a source. */
export type SnapshotContext = Pick<Journeys, 'erasures' | 'snapshots'> &
  Pick<Policy, 'customerContacts' | 'defaultCountry'>;

/**
 * Stores an event's snapshot of the record, unless the customer was erased since it happened, and without contacts of other erased people. Checks once more afterwards, as an erasure finds only what is stored already.
 */
export async function saveSnapshot(
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
  const since = earlierOf(at, receivedAt);
  const kept = await unforgotten(snapshot, recordId, since, context);
  if (kept === null) return;
  await context.snapshots.save(recordId, at, kept, options);
  const left = await unforgotten(kept, recordId, since, context);
  if (left === kept) return;
  const text = JSON.stringify(kept);
  await context.snapshots.change(recordId, (now) => (JSON.stringify(now) === text ? left : undefined));
}

/** The part of a snapshot that may be stored: the same object where that is all of it, null where it is nothing. */
async function unforgotten(
  snapshot: object,
  recordId: string,
  since: Date,
  context: SnapshotContext,
): Promise<object | null> {
  if (!(await context.erasures.forgotten.anybodySince(since))) return snapshot;
  const isForgotten = await forgottenIn(snapshot, recordId, since, context);
  if ([identityKeys.everybody, identityKeys.record(recordId)].some(isForgotten)) return null;
  const isPerson = (id: string) => isForgotten(identityKeys.person(id));
  const isContact = (key: string) => isForgotten(identityKeys.contact(key));
  const part = await partIn(snapshot, { isPerson, isContact }, context);
  if (part === 'none') return snapshot;
  return part === 'theirs' ? null : await withoutMentions(snapshot, isContact, context);
}

/** The identity keys in a snapshot that were erased since then. */
async function forgottenIn(
  snapshot: object,
  recordId: string,
  since: Date,
  context: SnapshotContext,
): Promise<(key: string) => boolean> {
  const personId = personIn(snapshot);
  const keys = [
    identityKeys.everybody,
    identityKeys.record(recordId),
    ...(personId === undefined ? [] : [identityKeys.person(personId)]),
    ...(await contactsIn(snapshot, context)).map(identityKeys.contact),
  ];
  const forgotten = new Set(await context.erasures.forgotten.since(since, keys));
  return (key) => forgotten.has(key);
}

/** Queues an erasure of its own for an answer that was being written on the record while the journey's person was erased. */
export async function removeLateAnswer(
  journey: Journey,
  context: Named & Timing & Pick<Journeys, 'erasures'> & Pick<Queues, 'queueErasure'>,
): Promise<void> {
  const recordId = journey.currentId ?? journey.recordId;
  const key = `late ${journey.id} ${recordId}`;
  const what = 'an answer was being written while its person was forgotten';
  const asked = { key, what, receivedAt: context.ports.now(), everybody: false };
  const id = await context.erasures.begin(asked, [{ kind: 'written-answer', source: context.storedAs, id: recordId }]);
  await context.queueErasure(id, 0);
}
