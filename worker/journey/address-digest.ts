import type { Seal } from '../redis/seal.ts';

/**
 * What indexes and throttles call an address, or a vendor's id of a person: 22 characters of a keyed digest (132 bits).
 * @param key of a contact (`contactKey`), or another text that stands for a person
 */
export function addressDigest(seal: Seal, key: string): string {
  return seal.digest(key).slice(0, 22);
}
