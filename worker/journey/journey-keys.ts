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

/** Small hashes and sorted sets, which Redis packs, in place of one large one: of a million journeys each has at most some 120 entries. */
const requestBuckets = 8_192;
const peopleBuckets = 32_768;

function bucketOf(text: string, buckets: number): number {
  let sum = 2_166_136_261;
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 16_777_619);
  return ((sum ^ (sum >>> 15)) >>> 0) % buckets;
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
  record(recordId: string): string {
    return `${this.tag}:record:${recordId}`;
  }
  requests(requestId: string): string {
    return `${this.tag}:requests:${bucketOf(requestId, requestBuckets)}`;
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
  personEntry(digest: string, journeyId: string): [key: string, entry: string] {
    const { key, from } = this.personRange(digest);
    return [key, from + journeyId];
  }
  /** The entries of a person's journeys begin with `from`, and come before `to`. The journeys' ids follow. */
  personRange(digest: string): { key: string; from: string; to: string } {
    const from = digest.slice(0, 14).padEnd(14, '-');
    const to = from.slice(0, -1) + String.fromCharCode(from.charCodeAt(13) + 1);
    return { key: `${this.tag}:who:${bucketOf(digest, peopleBuckets)}`, from, to };
  }
  /** Fields of a record's hash. Event keys and closings come from the vendor and may name a person, hence digests: 96 bits, among those of one record. */
  eventField(eventKey: string): string {
    return `event:${this.#seal.digest(eventKey).slice(0, 16)}`;
  }
  closingField(closing: string): string {
    return `closing:${this.#seal.digest(closing).slice(0, 16)}`;
  }
}
