import { type Contact, contactKey } from '../../core/contact.ts';
import { tagOf } from '../redis/keys.ts';
import type { Seal } from '../redis/seal.ts';
import { addressDigest } from './address-digest.ts';
import type { Journey, JourneyState } from './journey.ts';

/** By whom journeys are found. Who was asked as a test is none of the people that the journeys are about. */
export type Who = { personId: string } | { contact: Contact } | { testContact: Contact };

function nameOf(who: Who): string {
  if ('personId' in who) return `person:${who.personId}`;
  return 'contact' in who ? contactKey(who.contact) : `test:${contactKey(who.testContact)}`;
}

/**
 * Many small hashes and sorted sets in place of a large one, as Redis packs small ones: of a million journeys each has some 120 entries
 * at most. Primes, by which numbers that follow each other are spread evenly.
 */
export const buckets = { requests: 8_191, people: 32_749, records: 16_381, notes: 8_191 } as const;

export function bucketOf(text: string, kind: keyof typeof buckets): number {
  let sum = 0;
  for (const byte of Buffer.from(text)) sum = (sum * 10 + byte) % buckets[kind];
  return sum;
}

/** What is remembered of records with journeys: see record-memory.ts. */
export function recordsKey(tag: string, recordId: string): string {
  return `${tag}:records:${bucketOf(recordId, 'records')}`;
}

/** Of a digest, in the entries of an index of people. */
const personDigits = 14;
/** An entry says when its journey's record was closed: in seconds from 2020, of which six digits of base 36 reach to the year 2088. */
const entriesBegin = Date.UTC(2020, 0) / 1_000;
const secondDigits = 6;

/** The Redis keys, and fields within them, of one source's journeys. */
export class JourneyKeys {
  readonly tag: string;
  readonly #seal: Seal;

  constructor(source: string, seal: Seal) {
    this.tag = tagOf(source);
    this.#seal = seal;
  }

  journey(id: string): string {
    return `${this.tag}:journey:${id}`;
  }
  state(state: JourneyState): string {
    return `${this.tag}:state:${state}`;
  }
  countOf(state: JourneyState): string {
    return `${this.state(state)}:count`;
  }
  /** Of one day, UTC: see hourly-counts.ts. */
  counts(day: string): string {
    return `${this.tag}:counts:${day}`;
  }
  pass(campaign: number): string {
    return `${this.tag}:pass:${campaign}`;
  }
  records(recordId: string): string {
    return recordsKey(this.tag, recordId);
  }
  /** What a record was merged into, and what into it. */
  merges(recordId: string): string {
    return `${this.tag}:merges:${recordId}`;
  }
  requests(requestId: string): string {
    return `${this.tag}:requests:${bucketOf(requestId, 'requests')}`;
  }
  /** Digests by which a journey is found: an erasure must leave no personal data in the index. */
  people(journey: Pick<Journey, 'personId' | 'contact' | 'alsoKnownAs' | 'test'>): string[] {
    const { personId, contact, alsoKnownAs = [], test } = journey;
    const digests = [
      ...(personId === undefined ? [] : [this.person({ personId })]),
      ...(contact ? [this.person({ contact })] : []),
      ...(test ? [this.person({ testContact: test.contact })] : []),
      ...alsoKnownAs,
    ];
    return [...new Set(digests)];
  }
  person(who: Who | { digest: string }): string {
    return 'digest' in who ? who.digest : addressDigest(this.#seal, nameOf(who));
  }
  /** Where a person's journeys are: the sorted set, and in it the entry of a journey. */
  personEntry(digest: string, { id, closedAt }: Pick<Journey, 'id' | 'closedAt'>): [key: string, entry: string] {
    const { key, from } = this.personRange(digest);
    const seconds = Math.max(0, Math.floor(closedAt.getTime() / 1_000) - entriesBegin);
    return [key, from + seconds.toString(36).padStart(secondDigits, '0') + id];
  }
  /** The id of the journey that an entry of a person's range is of. */
  journeyOfEntry(entry: string): string {
    return entry.slice(personDigits + secondDigits);
  }
  /** The entries of a person's journeys begin with `from`, and come before `to`; earliest closing first. */
  personRange(digest: string): { key: string; from: string; to: string } {
    const from = digest.slice(0, personDigits).padEnd(personDigits, '-');
    const to = from.slice(0, -1) + String.fromCharCode(from.charCodeAt(personDigits - 1) + 1);
    return { key: `${this.tag}:who:${bucketOf(digest, 'people')}`, from, to };
  }
  /** Events and closings, as a record's memory calls them: their names come from the vendor and may name a person. 60 bits, among those of one record. */
  eventName(eventKey: string): string {
    return this.#seal.digest(`event ${eventKey}`).slice(0, 10);
  }
  closingName(closing: string): string {
    return this.#seal.digest(`closing ${closing}`).slice(0, 10);
  }
}
