import { type Contact, contactFor, contactKey, mostCandidates } from '../../../core/contact.ts';
import { evaluateAtOnce } from '../../../core/mapping/expression.ts';
import type { Journey } from '../../journey/journey.ts';
import type { LoadedRule } from '../rules.ts';
import type { Policy } from './source-policy.ts';

/** The most addresses of one person: a record with more addresses has those of several people. */
const most = 8;

/**
 * The keys of further addresses of the record's person: addresses that the rule's contact expressions found beside the contact, and that
 * messages can reach. An address that stands in the rule itself is left out, as it belongs to no particular customer.
 * @param candidates what each expression found, in the rule's order
 */
export function furtherAddresses(
  candidates: readonly unknown[],
  rule: Pick<LoadedRule, 'contact'>,
  contact: Contact,
  { defaultCountry }: Pick<Policy, 'defaultCountry'>,
): string[] {
  const keys = new Set<string>();
  for (const [i, found] of candidates.entries()) {
    for (const entry of entriesOf(found, mostCandidates)) {
      if (entry === contact.value || rule.contact[i]?.source.includes(String(entry)) === true) continue;
      const choice = contactFor([entry], 'mixed', { defaultCountry });
      if (choice.ok) keys.add(contactKey(choice.contact));
    }
  }
  if (keys.size > 0) keys.delete(contactKey(contact));
  return [...keys].slice(0, most);
}

/**
 * The keys of every address of a record's customer: the addresses at the paths that the connector declares, or else the addresses that the
 * rules' contact expressions find without waiting for a turn.
 */
export function customerAddresses(
  shape: object,
  { customerPaths, defaultCountry }: Pick<Policy, 'customerPaths' | 'defaultCountry'>,
): string[] {
  const keys = new Set<string>();
  for (const path of customerPaths) {
    const found = evaluateAtOnce(path, shape);
    for (const entry of found.ok ? entriesOf(found.value, most) : []) {
      const choice = contactFor([entry], 'external', { defaultCountry });
      if (choice.ok) keys.add(contactKey(choice.contact));
    }
  }
  return [...keys].slice(0, most);
}

function entriesOf(found: unknown, most: number): readonly unknown[] {
  return Array.isArray(found) ? found.slice(0, most) : [found];
}

export interface StoredSource {
  /** The name that the source's data is stored under, which no rename changes. */
  storedAs: string;
  /** Connector and vendor account: ids are equal in all sources of one account. Undefined: the ids are this source's alone. */
  account?: string | undefined;
}

/** Digests by which throttles know a journey's person, beside the contact: of other addresses, and of the vendor's id of the person. */
export function linksOf(
  { alsoKnownAs = [], personId }: Pick<Journey, 'alsoKnownAs' | 'personId'>,
  context: StoredSource & { contacts: { addressOf(key: string): string } },
): string[] {
  if (personId === undefined) return alsoKnownAs;
  return [...alsoKnownAs, context.contacts.addressOf(vendorsPerson(context, personId))];
}

/** The vendor's id of a person, in the form of an address: a person has one id in all sources of an account. */
export function vendorsPerson({ storedAs, account }: StoredSource, personId: string): string {
  return `person of ${account ?? `source ${storedAs}`}: ${personId}`;
}
