import { z } from 'zod';
import { type Contact, contactForms, contactKey, parseContact } from '../../../core/contact.ts';
import { CloseloopError } from '../../../core/errors.ts';
import type { SubjectOf } from '../../journey/erasures.ts';
import type { SourceContext } from '../context.ts';

/** What a snapshot of a record, or an event that tells of one, says of people. */
const Snapshot = z.object({
  personId: z.string().optional().catch(undefined),
  shape: z.record(z.string(), z.unknown()).catch({}),
});

export function personIn(told: unknown): string | undefined {
  return Snapshot.safeParse(told).data?.personId;
}

/** Keys of all contacts that stand anywhere in it. */
export function contactsIn(told: unknown, context: Pick<SourceContext, 'defaultCountry'>): string[] {
  const keys = textsIn(told).flatMap((text) => {
    const contact = /@|\d{4}/.test(text.replace(/[\s()./-]/g, '')) ? contactIn(text, context) : undefined;
    return contact === undefined ? [] : [contactKey(contact)];
  });
  return [...new Set(keys)];
}

/**
 * Whom the rules of the source would ask by it: not everybody who stands in it, as there are agents, too. No identifiers: what a
 * rule finds for want of a number ("none") may be anybody's.
 */
export async function customersIn(
  told: unknown,
  { rules, defaultCountry }: Pick<SourceContext, 'rules' | 'defaultCountry'>,
): Promise<SubjectOf<'contact'>[]> {
  const { shape } = Snapshot.safeParse(told).data ?? { shape: {} };
  const found: unknown[] = [];
  for (const { contact } of rules) {
    for (const expression of contact) {
      try {
        found.push(await expression.evaluate(shape));
      } catch (error) {
        // A rule that can't be evaluated has asked nobody by this record.
        if (!(error instanceof CloseloopError)) throw error;
      }
    }
  }
  return textsIn(found).flatMap((text) => {
    const subjects = subjectsOf(text, { defaultCountry });
    return subjects[0]?.forms[0]?.kind === 'identifier' ? [] : subjects;
  });
}

/**
 * A contact as somebody wrote it, with all that the service may know it by. A number without its country is two: what the
 * default country makes of it, and the identifier that an external campaign keeps as it is written. None for what can't name
 * anybody.
 */
export function subjectsOf(
  written: string,
  { defaultCountry }: Pick<SourceContext, 'defaultCountry'>,
): SubjectOf<'contact'>[] {
  const readings = [contactForms(written, { defaultCountry }), contactForms(written)];
  const subjects = readings.flatMap((forms) => {
    const [usual] = forms;
    return usual ? [{ kind: 'contact' as const, key: contactKey(usual), forms, done: false, masked: 0 }] : [];
  });
  return subjects.filter(({ key }, i) => subjects.findIndex((one) => one.key === key) === i);
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function contactIn(text: string, { defaultCountry }: Pick<SourceContext, 'defaultCountry'>): Contact | undefined {
  try {
    return parseContact(text, { defaultCountry });
  } catch (error) {
    if (error instanceof CloseloopError) return undefined;
    throw error;
  }
}
