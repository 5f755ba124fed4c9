import { type Contact, contactKey } from '../../core/contact.ts';
import { tagOf } from '../redis/keys.ts';
import type { Seal } from '../redis/seal.ts';
import type { Journey, JourneyState } from './journey.ts';

/** The person by whom journeys are found. The journeys that asked a test contact are not about that person. */
export type Who = { personId: string } | { contact: Contact } | { testContact: Contact };

function nameOf(who: Who): string {
  if ('personId' in who) return `person:${who.personId}`;
  return 'contact' in who ? contactKey(who.contact) : `test:${contactKey(who.testContact)}`;
}

/**
 * How many small hashes and sorted sets there are in place of a large one, as Redis packs small ones: with a million journeys each has some
 * 120 entries at most. The counts are primes, which spread consecutive numbers evenly.
 */
export const buckets = { requests: 8_191, people: 32_749, records: 16_381, notes: 8_191 } as const;

export function bucketOf(text: string, kind: keyof typeof buckets): number {
  let sum = 0;
  for (const byte of Buffer.from(text)) sum = (sum * 10 + byte) % buckets[kind];
  return sum;
}

/**
 * The name of an address, or of a vendor's id of a person, in indexes and throttles: 22 characters of a keyed digest (132 bits).
 * @param key of a contact (`contactKey`), or another text that stands for a person
 */
export function addressDigest(seal: Seal, key: string): string {
  return seal.digest(key).slice(0, 22);
}

/** The key of the memory of records with journeys: journey-scripts.ts. */
export function recordsKey(tag: string, recordId: string): string {
  return `${tag}:records:${bucketOf(recordId, 'records')}`;
}

/** How many characters of a person's digest an entry of the index of people holds. */
const personDigits = 14;
/** An entry says when its journey's record was closed, in seconds from 2020: six digits of base 36 reach to the year 2088. */
const entriesBegin = Date.UTC(2020, 0) / 1_000;
const secondDigits = 6;

function secondOf(closedAt: Date): string {
  const seconds = Math.max(0, Math.floor(closedAt.getTime() / 1_000) - entriesBegin);
  return seconds.toString(36).padStart(secondDigits, '0');
}

/** The journey's instant in the list of its state: of a waiting journey when it is due, so that overdue journeys are found without the others. */
export function listedAt({ state, dueAt, updatedAt }: Journey): Date {
  return state === 'waiting' && dueAt ? dueAt : updatedAt;
}

/** The journey's instant in the list of answers; undefined: a customer has not answered, or is erased. */
export function answeredAt({ answer, test, erasedAt }: Journey): Date | undefined {
  return test || erasedAt ? undefined : answer?.seenAt;
}

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
  /** Journeys by when their answer was given or changed last. */
  get answers(): string {
    return `${this.tag}:answers`;
  }
  countOf(list: string): string {
    return `${list}:count`;
  }
  /** The key of the counts of one day, UTC: see hourly-counts.ts. */
  counts(day: string): string {
    return `${this.tag}:counts:${day}`;
  }
  get callNames(): string {
    return `${this.tag}:call-names`;
  }
  pass(campaign: number): string {
    return `${this.tag}:pass:${campaign}`;
  }
  records(recordId: string): string {
    return recordsKey(this.tag, recordId);
  }
  /** The record that a record was merged into, and the records that were merged into this one. */
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
  /** The sorted set of a person's journeys, and the entry of a journey in it. */
  personEntry(digest: string, { id, closedAt }: Pick<Journey, 'id' | 'closedAt'>): [key: string, entry: string] {
    const { key, from } = this.personRange(digest);
    return [key, from + secondOf(closedAt) + id];
  }
  journeyOfEntry(entry: string): string {
    return entry.slice(personDigits + secondDigits);
  }
  /** The entries of a person's journeys whose records were closed at or after this instant, to the second. */
  personRangeFrom(digest: string, closedAt: Date): { key: string; from: string; to: string } {
    const { key, from, to } = this.personRange(digest);
    return { key, from: from + secondOf(closedAt), to };
  }
  /** The entries of a person's journeys begin with `from`, and come before `to`; earliest closing first. */
  personRange(digest: string): { key: string; from: string; to: string } {
    const from = digest.slice(0, personDigits).padEnd(personDigits, '-');
    const to = from.slice(0, -1) + String.fromCharCode(from.charCodeAt(personDigits - 1) + 1);
    return { key: `${this.tag}:who:${bucketOf(digest, 'people')}`, from, to };
  }
  /** Stands for an event in a record's memory: the vendor's name of the event may name a person. 60 bits tell the events of one record apart. */
  eventName(eventKey: string): string {
    return this.#seal.digest(`event ${eventKey}`).slice(0, 10);
  }
  closingName(closing: string): string {
    return this.#seal.digest(`closing ${closing}`).slice(0, 10);
  }
}
