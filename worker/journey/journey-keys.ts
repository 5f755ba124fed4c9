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
  /** 256 buckets keep the hashes small enough for Redis to pack them. */
  requests(requestId: string): string {
    let sum = 0;
    for (let i = 0; i < requestId.length; i++) sum = (sum * 31 + requestId.charCodeAt(i)) % 256;
    return `${this.tag}:requests:${sum}`;
  }
  /** Journey ids by when they were closed, by a keyed digest of the person, as an erasure must leave no personal data in the index. */
  people(journey: Pick<Journey, 'personId' | 'contact' | 'alsoKnownAs' | 'test'>): string[] {
    const { personId, contact, alsoKnownAs = [], test } = journey;
    const keys = [
      ...(personId === undefined ? [] : [this.person({ personId })]),
      ...(contact ? [this.person({ contact })] : []),
      ...(test ? [this.person({ testContact: test.contact })] : []),
      ...alsoKnownAs.map((address) => this.#who(address)),
    ];
    return [...new Set(keys)];
  }
  person(who: Who | { digest: string }): string {
    return this.#who('digest' in who ? who.digest : addressDigest(this.#seal, nameOf(who)));
  }
  #who(address: string): string {
    return `${this.tag}:who:${address}`;
  }
  /** Fields of a record's hash. Event keys and closings come from the vendor and may name a person, hence digests: 96 bits, among those of one record. */
  eventField(eventKey: string): string {
    return `event:${this.#seal.digest(eventKey).slice(0, 16)}`;
  }
  closingField(closing: string): string {
    return `closing:${this.#seal.digest(closing).slice(0, 16)}`;
  }
}
