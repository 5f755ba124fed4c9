import { type Contact, contactFor, contactKey, mostCandidates } from '../../../core/contact.ts';
import type { Journey } from '../../journey/journey.ts';
import type { Journeys, Named, Policy } from '../context.ts';
import type { LoadedRule } from '../rules.ts';

type KnownAsContext = Pick<Policy, 'customerPaths' | 'defaultCountry'>;

/** More are no one person's. */
const most = 8;

/**
 * The keys of further addresses of the record's person: what the rule's contact expressions found beside the contact, as far as
 * messages reach it. Not what stands in the rule itself, which is nobody's in particular.
 * @param candidates what each expression found, in the rule's order
 */
export function furtherAddresses(
  candidates: readonly unknown[],
  rule: Pick<LoadedRule, 'contact'>,
  contact: Contact,
  { defaultCountry }: Pick<Policy, 'defaultCountry'>,
): string[] {
  const own = contactKey(contact);
  const keys = candidates.flatMap((found, i) => {
    const entries: readonly unknown[] = Array.isArray(found) ? found.slice(0, mostCandidates) : [found];
    return entries.flatMap((entry) => {
      const choice = contactFor([entry], 'mixed', { defaultCountry });
      const isWritten = rule.contact[i]?.source.includes(String(entry)) === true;
      return choice.ok && !isWritten ? [contactKey(choice.contact)] : [];
    });
  });
  return [...new Set(keys)].filter((key) => key !== own).slice(0, most);
}

/**
 * The keys of every address of a record's customer: where the connector's data sheet says, else what the rules' contact expressions
 * find, those of them that only read a path.
 */
export function customerAddresses(shape: object, { customerPaths, defaultCountry }: KnownAsContext): string[] {
  const keys = customerPaths.flatMap(({ plain }) => {
    const found = plain?.(shape);
    if (!found?.ok) return [];
    const entries: readonly unknown[] = Array.isArray(found.value) ? found.value.slice(0, most) : [found.value];
    return entries.flatMap((entry) => {
      const choice = contactFor([entry], 'external', { defaultCountry });
      return choice.ok ? [contactKey(choice.contact)] : [];
    });
  });
  return [...new Set(keys)].slice(0, most);
}

/** Digests of all by which throttles know a journey's person, beside the contact: other addresses, and the vendor's id. */
export function linksOf(
  { alsoKnownAs = [], personId }: Pick<Journey, 'alsoKnownAs' | 'personId'>,
  context: Named & Pick<Journeys, 'contacts'>,
): string[] {
  if (personId === undefined) return alsoKnownAs;
  return [...alsoKnownAs, context.contacts.addressOf(vendorsPerson(context, personId))];
}

/** The vendor's id of a person, as an address: ids are equal in all sources of an account. */
export function vendorsPerson({ name, account }: Named, personId: string): string {
  return `person of ${account ?? `source ${name}`}: ${personId}`;
}
