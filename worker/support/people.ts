import { type Contact, contactKey } from '../../core/contact.ts';
import type { FeedbackClient } from '../../core/feedback/client.ts';
import type { AccessLogEntry, ContactRecord } from '../../core/feedback/schemas.ts';
import type { Ask } from '../journey/contacts.ts';
import type { Proof } from '../journey/erasures.ts';
import { begin } from '../pipeline/erase/erase.ts';
import type { EraseContext } from '../pipeline/erase/find.ts';
import { identityKeys, noteRequested } from '../pipeline/erasure-guard.ts';
import type { Policy } from '../pipeline/policy/source-policy.ts';
import { lastCounted } from '../pipeline/policy/throttle.ts';
import { throttled } from '../pipeline/policy/throttled.ts';
import { inEachCampaign } from '../pipeline/rules.ts';
import type { Journeys } from '../pipeline/source-store.ts';
import type { FoundJourney } from './journey-filter.ts';
import { hitsNow } from './limits.ts';

/** Entries of the access log that are shown, at most. */
export const mostAccesses = 100;

/** The Feedback service's data about a person. */
export interface PersonThere {
  /** Undefined: no feedback request of this contact, or it was masked. */
  record: ContactRecord | undefined;
  /** Who of its users looked at their data, newest first. */
  accesses: AccessLogEntry[];
  isCut: boolean;
}

export async function personThere(feedback: FeedbackClient, contact: Contact): Promise<PersonThere> {
  const record = await feedback.contact(contact);
  const accesses: AccessLogEntry[] = [];
  if (record === undefined) return { record, accesses, isCut: false };
  for await (const entry of feedback.accessLog(contact)) {
    if (accesses.length === mostAccesses) return { record, accesses, isCut: true };
    accesses.push(entry);
  }
  return { record, accesses, isCut: false };
}

/** A source that may hold data about a person. */
interface PersonSource extends Pick<Policy, 'rules' | 'policy'>, Pick<Journeys, 'store' | 'contacts' | 'erasures'> {
  name: string;
}

/** closeloop's stored data about a person. */
export interface PersonHere {
  /** Newest closing first. */
  journeys: FoundJourney<{ name: string }>[];
  /** Other addresses that these journeys asked. */
  askedBy: Contact[];
  /** Values of custom fields that were sent about them, by field. */
  values: Map<string, Set<string>>;
  /** How many addresses count as this person for throttles, the given address included. */
  addresses: number;
  /** The person's requests that throttles count, newest first. */
  asks: Ask[];
  /** The reasons why rules would not ask the person now, because of earlier requests. */
  throttles: { source: string; rule: string; why: string }[];
  /** They were erased, and are remembered by a digest: data from before that is not stored again. */
  isErased: boolean;
}

/** @param known the service's data of the person, as throttles also count the last request that the service knows */
export async function personHere(
  contact: Contact,
  sources: readonly PersonSource[],
  { known, now }: { known: ContactRecord | undefined; now: Date },
): Promise<PersonHere> {
  const lists = await Promise.all(
    sources.map(async (context) => {
      const journeys = await context.store.queries.knownBy({ contact });
      return journeys.map((journey) => ({ journey, context }));
    }),
  );
  const journeys = lists.flat().sort((a, b) => b.journey.closedAt.getTime() - a.journey.closedAt.getTime());
  const key = contactKey(contact);
  const contacts = new Map(
    journeys.flatMap(({ journey }) => (journey.contact ? [[contactKey(journey.contact), journey.contact]] : [])),
  );
  contacts.delete(key);
  const memory = await sources[0]?.contacts.recordOf(key);
  const throttles = await Promise.all(sources.map((context) => throttlesOf(key, context, { known, now })));
  return {
    journeys,
    askedBy: [...contacts.values()],
    values: valuesOf(journeys),
    addresses: memory?.addresses ?? 1,
    asks: memory?.asks ?? [],
    throttles: throttles.flat(),
    isErased: await isErased(contact, sources),
  };
}

/** Whether one of the sources remembers that the person with this contact was erased. */
export async function isErased(contact: Contact, sources: readonly Pick<PersonSource, 'erasures'>[]): Promise<boolean> {
  const keys = [identityKeys.contact(contactKey(contact))];
  const erased = await Promise.all(sources.map(({ erasures }) => erasures.forgotten.since(new Date(0), keys)));
  return erased.flat().length > 0;
}

function valuesOf(journeys: readonly FoundJourney<unknown>[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { journey } of journeys) {
    for (const [field, value] of Object.entries(journey.values ?? {}))
      found.set(field, (found.get(field) ?? new Set()).add(String(value)));
  }
  return found;
}

async function throttlesOf(
  key: string,
  { name, rules, contacts, policy }: PersonSource,
  { known, now }: { known: ContactRecord | undefined; now: Date },
): Promise<PersonHere['throttles']> {
  const last = lastCounted(known, await contacts.lastAsked(key));
  const found = await Promise.all(
    rules.flatMap(inEachCampaign).map(async ({ rule }) => {
      // Without a journey, as a throttle does not count the requests of the journey that asks.
      const note = { at: now, journey: '' };
      const no = throttled(await hitsNow(key, rule, { last, note }, { contacts, policy }), now);
      return no ? [{ source: name, rule: rule.name, why: no.why }] : [];
    }),
  );
  // A rule with several campaigns is held by the same throttle in each.
  return [...new Map(found.flat().map((one) => [`${one.rule} ${one.why}`, one])).values()];
}

/** Whether closeloop stores nothing of the person, or only that the person was erased. */
export function isNothing({ journeys, asks, throttles, addresses }: PersonHere): boolean {
  return journeys.length + asks.length + throttles.length === 0 && addresses === 1;
}

/** Any source can take an erasure, as an erasure searches all sources. */
export function takingErasures<Context>(pipelines: Iterable<{ context: Context }>): Context {
  for (const { context } of pipelines) return context;
  throw new Error('every configuration has a source');
}

/**
 * Stores an operator's request to erase a contact: it is masked at the service, and forgotten here.
 * @param what who asked, in words without personal data
 * @returns its id; `attempt` or the source's queue does it
 */
export async function beginMasking(contact: string, what: string, context: EraseContext): Promise<string> {
  const at = new Date();
  const event = { kind: 'erase' as const, at, key: `${what}:${at.toISOString()}`, what, contacts: [contact] };
  const id = await begin({ ...event, receivedAt: at, personIds: [], recordIds: [], everybody: false }, context);
  await noteRequested([event], at, context);
  return id;
}

/** The reason why an erasure erased nothing: the contact may be written in another way, or may be masked already. */
export type NothingErased = 'nobody known' | 'masked before';

/** The reason why no data was erased; undefined if data was erased. */
export function nothingErased({
  journeys,
  requestsMasked,
  maskedBefore = 0,
}: Pick<Proof, 'journeys' | 'requestsMasked' | 'maskedBefore'>): NothingErased | undefined {
  if (journeys + requestsMasked > 0) return undefined;
  return maskedBefore > 0 ? 'masked before' : 'nobody known';
}

export const nothingErasedWords: Readonly<Record<NothingErased, string>> = {
  'nobody known': 'Nobody was known by this contact, at the service or here. Write it as the service shows it.',
  'masked before': 'This contact was masked before: nothing of it was left to mask, at the service or here.',
};
