import { z } from 'zod';
import { type Contact, contactKey, parseContact } from '../../core/contact.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { SourceContext } from '../context.ts';

/** Whom an erasure is about, as one source knows them. */
export interface Meant {
  /** What was told later stays. */
  until: Date;
  everybody: boolean;
  contacts: ReadonlyMap<string, Contact>;
  personIds: ReadonlySet<string>;
  records: ReadonlySet<string>;
  requests: ReadonlySet<string>;
}

const Person = z.object({ personId: z.string() });

/**
 * Forgets what events told of people: of the records they are known by, of others that never had a journey, and in events
 * that still wait to be planned.
 */
export async function forgetTold(who: Meant, of: SourceContext): Promise<void> {
  const records = new Set(who.records);
  for await (const recordId of of.told.alone()) {
    if (isAbout(who, recordId, await toldOf(recordId, of), of)) records.add(recordId);
  }
  const waiting = new Set<string>();
  await of.changeEvents((event) => {
    if (event.receivedAt > who.until || event.kind === 'revoked') return undefined;
    if (event.kind === 'survey') {
      return who.everybody || who.requests.has(event.requestId) ? { ...event, answers: {} } : undefined;
    }
    if (!isAbout(who, event.recordId, event.told, of)) return undefined;
    if (event.told) waiting.add(event.recordId);
    const { told: _, ...rest } = event;
    return rest.kind === 'graded' ? { ...rest, comment: null } : rest;
  });
  // Something is held of each of these, which forgetting it then puts before whatever a worker may be about to keep.
  for (const recordId of waiting) await of.told.keep(recordId, new Date(0), {}, { onlyFirst: true });
  for (const recordId of [...records, ...waiting]) await of.told.erase(recordId, who.until);
}

function isAbout(who: Meant, recordId: string, told: unknown, of: SourceContext): boolean {
  if (who.everybody || who.records.has(recordId)) return true;
  const { personId = '' } = Person.safeParse(told).data ?? {};
  return who.personIds.has(personId) || names(told, who.contacts, of);
}

/** Is one of the contacts anywhere in it? */
export function names(told: unknown, contacts: ReadonlyMap<string, Contact>, of: SourceContext): boolean {
  if (contacts.size === 0) return false;
  return textsIn(told).some((text) => {
    const contact = /@|\d{4}/.test(text) ? contactIn(text, of) : undefined;
    return contact !== undefined && contacts.has(contactKey(contact));
  });
}

export async function toldOf(recordId: string, { told }: SourceContext): Promise<unknown> {
  const [one] = await told.of([recordId]);
  return one;
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Undefined for what can't name anybody. */
export function contactIn(text: string, { defaultCountry }: SourceContext): Contact | undefined {
  try {
    return parseContact(text, { defaultCountry });
  } catch (error) {
    if (error instanceof CloseloopError) return undefined;
    throw error;
  }
}
