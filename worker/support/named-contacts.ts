import {
  type Contact,
  type ContactOptions,
  contactForms,
  contactKey,
  normaliseContact,
  parseContact,
} from '../../core/contact.ts';
import { refusal } from '../../core/errors.ts';
import type { FeedbackClient } from '../../core/feedback/client.ts';
import type { ContactRecord } from '../../core/feedback/schemas.ts';

/** A contact as a person types it in a command or on the page, and its kind if the person names it. */
export interface ContactReading extends ContactOptions {
  as?: Contact['kind'] | undefined;
}

const kindNames = { phone: 'phone number', email: 'e-mail address', identifier: 'identifier' } as const;

/**
 * Every contact that the text may name, the usual reading first: an identifier may look like a phone number, and the service stores
 * identifiers as they were sent. With `as` there is one reading.
 * @throws CloseloopError for a text that can't name a contact of that kind
 */
export function contactsNamed(
  text: string,
  { as, ...options }: ContactReading,
): [usual: Contact, ...others: Contact[]] {
  if (as === 'identifier') return [normaliseContact({ kind: as, value: text })];
  const usual = parseContact(text, options);
  if (as === undefined) return [usual, ...contactForms(text, options).slice(1)];
  if (usual.kind === as) return [usual];
  const remedy = as === 'phone' ? 'write it with + or 00 and its country, or set defaultCountry' : 'correct it';
  throw refusal(`--as ${as}: the contact is no ${kindNames[as]}; ${remedy}.`);
}

/** The contacts that a text may name in stored data, in which all spellings of a contact count as the same contact. */
export function peopleNamed(text: string, reading: ContactReading): [usual: Contact, ...others: Contact[]] {
  const [usual, ...others] = contactsNamed(text, reading);
  const seen = new Set([contactKey(usual)]);
  return [usual, ...others.filter((one) => !seen.has(contactKey(one)) && seen.add(contactKey(one)))];
}

/** The service's data of each contact that the text may name. Most texts name one contact. */
export async function knownAtService(
  text: string,
  reading: ContactReading,
  service: Pick<FeedbackClient, 'contact'>,
): Promise<{ contact: Contact; record: ContactRecord }[]> {
  const found = new Map<string, { contact: Contact; record: ContactRecord }>();
  for (const contact of contactsNamed(text, reading)) {
    const record = await service.contact(contact);
    // Several spellings of a number name the same contact.
    if (record && !found.has(record.contact)) found.set(record.contact, { contact, record });
  }
  return [...found.values()];
}
