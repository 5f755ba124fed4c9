import type { EraseEvent, SourceEvent } from '../../core/connector/events.ts';
import { contactKey } from '../../core/contact.ts';
import type { Ports } from '../../core/ports.ts';
import { firstOf } from '../../core/spread.ts';
import type { CapSlots } from '../journey/cap-slots.ts';
import type { ContactMemory } from '../journey/contacts.ts';
import { type Erasures, keysOf, type Subject } from '../journey/erasures.ts';
import { erased } from '../journey/forget.ts';
import type { Journey } from '../journey/journey.ts';
import { markOf } from '../journey/refs.ts';
import type { SnapshotStore } from '../journey/snapshots.ts';
import type { JourneyStore } from '../journey/store.ts';
import { nameInEarnest } from '../redis/keys.ts';
import type { Clock } from './clock.ts';
import { done, type JobResult } from './jobs.ts';
import { contactsIn, partIn, personIn, subjectOf, withoutMentions } from './people-in-snapshot.ts';
import { linksOf, type StoredSource } from './policy/known-as.ts';
import type { Policy } from './policy/source-policy.ts';

/*
 * A request for an erasure is noted in every source before it is acknowledged, by keys of the people, and the erasure notes the people once
 * more before it searches for their data. So all code that stores or sends personal data looks for these notes:
 * - for a journey: when it is stored or resumed (`eraseIfForgotten`), and before a call about its person leaves (`erasureSince`);
 * - for a snapshot of a record: before and after it is stored (`saveSnapshot`);
 * - for an answer at the vendor: after it is written (`removeLateAnswer`).
 */

/** The keys by which erased people are remembered, and searched for in journeys and snapshots. */
export const identityKeys = {
  everybody: 'everybody',
  record: (id: string) => `record:${id}`,
  person: (id: string) => `person:${id}`,
  contact: (key: string) => `contact:${key}`,
  /** A contact in the form of `Journey.alsoKnownAs`. */
  address: (address: string) => `address:${address}`,
  /** The key of a person whose erasure was requested: a separate key, as links to more of the person's data must stay until the erasure begins. */
  requested: (key: string) => `requested ${key}`,
};

/** The identity keys of subjects in this source. A contact is the same person in every source. */
export function identityKeysOf(
  subjects: readonly Subject[],
  { storedAs: source, contacts }: StoredSource & Pick<GuardContext, 'contacts'>,
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
 * The same people and records in other sources of the vendor's account, as the vendor may send the erasure to one source only, and in
 * the data of the source's dry run.
 */
export function elsewhere(subjects: readonly Subject[], sources: readonly StoredSource[]): Subject[] {
  return subjects.flatMap((subject) => {
    if (subject.kind !== 'person' && subject.kind !== 'record') return [];
    const account = sources.find(({ storedAs }) => storedAs === subject.source)?.account;
    const isAlike = (of: StoredSource) => account !== undefined && of.account === account;
    const isTwin = (of: StoredSource) => nameInEarnest(of.storedAs) === nameInEarnest(subject.source);
    return sources.filter((of) => isAlike(of) || isTwin(of)).map(({ storedAs }) => ({ ...subject, source: storedAs }));
  });
}

type Reading = StoredSource & Pick<Policy, 'defaultCountry'>;

/** The most people that are noted before a delivery is answered. Further people are noted when their erasure begins. */
const mostNoted = 1_000;

/** The subjects that a request for an erasure names. */
export function* subjectsOf(
  { personIds = [], recordIds = [], contacts = [] }: Pick<EraseEvent, 'personIds' | 'recordIds' | 'contacts'>,
  { storedAs: source, ...reading }: Reading,
): Generator<Subject> {
  for (const id of personIds) yield { kind: 'person', source, id };
  for (const id of recordIds) yield { kind: 'record', source, id };
  for (const text of contacts) {
    const subject = subjectOf(text, reading);
    if (subject) yield subject;
  }
}

/**
 * Notes in every source the people whom these events request to be erased: from then on closeloop does not ask them about earlier closings, however
 * long the erasure has to wait. Called before the events are stored, so that every person is noted whose erasure was accepted.
 */
export async function noteRequested(
  events: readonly SourceEvent[],
  at: Date,
  context: Reading & { sources(): Promise<(GuardContext & Pick<Policy, 'keepMs'>)[]> },
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

function identityKeysIn({ recordId, personId, contact, alsoKnownAs = [] }: Journey): string[] {
  if (contact) return [...ownKeys(recordId, personId), identityKeys.contact(contactKey(contact))];
  // As in the search of an erasure, several people may have the same address: it identifies only a person of whom nothing else is known.
  return [...ownKeys(recordId, personId), ...(personId === undefined ? alsoKnownAs.map(identityKeys.address) : [])];
}

function ownKeys(recordId: string, personId: string | undefined): string[] {
  const person = personId === undefined ? [] : [identityKeys.person(personId)];
  return [identityKeys.everybody, identityKeys.record(recordId), ...person];
}

/** The parts of a source that guarding a journey needs. */
export interface GuardContext extends StoredSource {
  store: Pick<JourneyStore, 'update'>;
  erasures: Pick<Erasures, 'forgotten'>;
  contacts: ContactMemory;
  caps: Pick<CapSlots, 'giveBack'>;
  clock: Pick<Clock, 'now'>;
}

/**
 * Whether the journey's person was erased since the record was closed (`begun`, and perhaps done), or will be erased (`requested`). The time of
 * the closing counts, not of its event: a closing from before the erasure is about an erased person, however late its event comes.
 */
export async function erasureSince(
  journey: Journey,
  { erasures }: Pick<GuardContext, 'erasures'>,
): Promise<'begun' | 'requested' | undefined> {
  return await erasureNoted(journey, earlierOf(journey.closedAt, journey.receivedAt), erasures);
}

async function erasureNoted(
  journey: Journey,
  since: Date,
  { forgotten }: GuardContext['erasures'],
): Promise<'begun' | 'requested' | undefined> {
  if (!(await forgotten.anybodySince(since))) return undefined;
  const keys = identityKeysIn(journey);
  const noted = await forgotten.since(since, [...keys, ...keys.map(identityKeys.requested)]);
  if (noted.length === 0) return undefined;
  return noted.some((key) => keys.includes(key)) ? 'begun' : 'requested';
}

function earlierOf(one: Date, other: Date): Date {
  return one < other ? one : other;
}

/**
 * Erases a journey whose person's erasure has begun, as the erasure may have searched before the journey was stored. Returns the journey
 * as it is then. A journey that asks, or has asked, is left to the erasure: it was stored before its guard looked for notes and found none.
 */
export async function eraseIfForgotten(journey: Journey, context: GuardContext): Promise<Journey> {
  if (journey.erasedAt || (await erasureSince(journey, context)) !== 'begun') return journey;
  // This journey may have linked the person's addresses again.
  for (const address of linksOf(journey, context)) await context.contacts.unlink(address);
  const isToldLate = (await erasureNoted(journey, journey.receivedAt, context.erasures)) !== 'begun';
  const [to, line] = isToldLate
    ? (['skipped', 'skipped: its person was forgotten after the record was closed'] as const)
    : (['cancelled', 'erased: its person was forgotten meanwhile'] as const);
  const after = await context.store.update(journey, (now) =>
    now.state === 'creating' || now.requestId !== undefined
      ? undefined
      : { journey: erased(now, context.clock.now(), to), trace: [line] },
  );
  if (after?.erasedAt) await context.caps.giveBack(markOf(journey));
  return after ?? journey;
}

/** The parts of a source that storing a snapshot needs. */
export interface SnapshotContext
  extends Pick<GuardContext, 'erasures'>,
    Pick<Policy, 'customerContacts' | 'defaultCountry'> {
  snapshots: SnapshotStore;
}

/**
 * Stores an event's snapshot of the record, unless its customer was erased since the event, and without contacts of other erased
 * people. Looks for notes once more afterwards, as an erasure finds only data that is stored already.
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

/** The part of a snapshot that may be stored: the same object if all of it may be, null if nothing may be. */
async function unforgotten(
  snapshot: object,
  recordId: string,
  since: Date,
  context: SnapshotContext,
): Promise<object | null> {
  const { forgotten } = context.erasures;
  if (!(await forgotten.anybodySince(since))) return snapshot;
  const personId = personIn(snapshot);
  const contacts = await contactsIn(snapshot, context);
  const keys = [...ownKeys(recordId, personId), ...contacts.map(identityKeys.contact)];
  const found = new Set(await forgotten.since(since, keys));
  if ([identityKeys.everybody, identityKeys.record(recordId)].some((key) => found.has(key))) return null;
  const isPerson = (id: string) => found.has(identityKeys.person(id));
  const isContact = (key: string) => found.has(identityKeys.contact(key));
  const part = await partIn(snapshot, { isPerson, isContact }, context);
  if (part === 'none') return snapshot;
  return part === 'theirs' ? null : await withoutMentions(snapshot, isContact, context);
}

export interface LateAnswerContext {
  storedAs: string;
  ports: Pick<Ports, 'now'>;
  store: JourneyStore;
  erasures: Erasures;
  queueErasure(id: string, delayMs: number): Promise<void>;
}

/** Queues an erasure of its own for an answer that may have been written on the record after the journey's person was erased. */
export async function removeLateAnswer(
  { id, recordId }: Journey,
  { storedAs, ports, store, erasures, queueErasure }: LateAnswerContext,
): Promise<JobResult> {
  // The record may have been merged since, which an erased journey does not store.
  const remaining = await store.records.remainingOf(recordId, recordId);
  const key = `late ${id} ${remaining}`;
  const what = 'an answer was being written while its person was forgotten';
  const asked = { key, what, receivedAt: ports.now(), everybody: false };
  const erasure = await erasures.begin(asked, [{ kind: 'written-answer', source: storedAs, id: remaining }]);
  await queueErasure(erasure, 0);
  return done;
}
