import { z } from 'zod';
import { contactForms, contactKey, mostCandidates } from '../../../core/contact.ts';
import { contactsInText, withoutContacts } from '../../../core/contacts-in-text.ts';
import { CloseloopError } from '../../../core/errors.ts';
import { type Expression, ExpressionSetAside } from '../../../core/mapping/expression.ts';
import { firstOf, spread } from '../../../core/spread.ts';
import type { SubjectOf } from '../../journey/erasures.ts';
import type { Policy } from '../context.ts';

/** What a snapshot of a record, or an event that tells of one, says of its customer (`RecordEvent.snapshot`). */
const Snapshot = z.object({
  personId: z.string().optional().catch(undefined),
  contacts: z.array(z.string()).optional().catch(undefined),
  shape: z.record(z.string(), z.unknown()).catch({}),
});

/** Whom somebody looks for in a snapshot. */
export interface Sought {
  isPerson: (id: string) => boolean;
  isContact: (key: string) => boolean;
}

/**
 * `theirs`: the record's customer is sought. `mention`: another's record, in which a contact of theirs stands (as its agent's,
 * the shop's …): that leads to nobody.
 */
export type Part = 'theirs' | 'mention' | 'none';

type Reading = Pick<Policy, 'customerContacts' | 'defaultCountry'>;

/** @throws ExpressionSetAside where it can't be told whose it is */
export async function partIn(snapshot: unknown, { isPerson, isContact }: Sought, context: Reading): Promise<Part> {
  const personId = personIn(snapshot);
  if (personId !== undefined && isPerson(personId)) return 'theirs';
  const keys = (await contactsIn(snapshot, context)).filter(isContact);
  if (keys.length === 0) return 'none';
  if ((await customersIn(snapshot, context)).keys.some(isContact)) return 'theirs';
  return keys.some(isTelling) ? 'mention' : 'none';
}

/** Bare digits in somebody else's record may be the number of anything. */
const isTelling = (key: string): boolean => !/^\d+$/.test(key);

export function personIn(snapshot: unknown): string | undefined {
  return Snapshot.safeParse(snapshot).data?.personId;
}

/**
 * Keys of all contacts that stand anywhere in it. A delivery may hold a hundred thousand numbers, each to be read as one of a
 * phone: seconds of work.
 */
export async function contactsIn(snapshot: unknown, context: Pick<Reading, 'defaultCountry'>): Promise<string[]> {
  const keys = new Set<string>();
  for await (const key of spread(keysInAll(textsIn(snapshot, 'with names'), context))) if (key !== '') keys.add(key);
  return [...keys];
}

/** One by one, as they are asked for. */
function* keysInAll(texts: readonly string[], context: Pick<Reading, 'defaultCountry'>): Generator<string> {
  for (const text of texts) {
    yield* contactsInText(text, context);
    // Also for a text that names none.
    yield '';
  }
}

/** The snapshot of somebody else's record without all that names a contact. */
export async function withoutMentions(
  snapshot: object,
  isContact: (key: string) => boolean,
  context: Pick<Reading, 'defaultCountry'>,
): Promise<Record<string, unknown>> {
  const isForgotten = (key: string) => isTelling(key) && isContact(key);
  const isOut = (text: string) => withoutContacts(text, isForgotten, context) !== text;
  const without = async (value: unknown): Promise<unknown> => {
    if (typeof value === 'string') return withoutContacts(value, isForgotten, context);
    if (typeof value === 'number') return isOut(String(value)) ? undefined : value;
    return isObject(value) && !Array.isArray(value)
      ? await entries(value)
      : Array.isArray(value)
        ? await list(value)
        : value;
  };
  const list = async (values: readonly unknown[]): Promise<unknown[]> => {
    const left: unknown[] = [];
    for await (const one of spread(values)) left.push(await without(one));
    return left.filter((one) => one !== undefined);
  };
  const entries = async (value: object): Promise<Record<string, unknown>> => {
    const left: [string, unknown][] = [];
    for await (const [name, one] of spread(Object.entries(value))) {
      if (!isOut(name)) left.push([name, await without(one)]);
    }
    return Object.fromEntries(left.filter(([, one]) => one !== undefined));
  };
  return await entries(snapshot);
}

/**
 * The record's customer: whom rules would ask by it, whatever their conditions. `leads` are masked with them: no identifiers, as
 * what a rule finds for want of a number ("none") may be anybody's. `keys` are of all that the customer is known by: what the
 * connector says, else what stands beside a contact that rules ask by.
 * @throws ExpressionSetAside
 */
export async function customersIn(
  snapshot: unknown,
  { customerContacts, defaultCountry }: Reading,
): Promise<{ leads: SubjectOf<'contact'>[]; keys: string[] }> {
  const { shape, contacts, personId = '' } = Snapshot.safeParse(snapshot).data ?? { shape: {} };
  const few = (texts: readonly string[]) => texts.slice(0, mostCandidates);
  const found: string[] = [];
  for (const expression of customerContacts) {
    const texts = few(textsIn(await resultOf(expression, shape)));
    // What a rule asks for want of anybody ("office@…") stands in the rule itself, and is nobody's in particular.
    found.push(...texts.filter((text) => !expression.source.includes(text)));
  }
  const keysOf = (text: string) => firstOf(contactsInText(text, { defaultCountry }), mostCandidates);
  const keysIn = (texts: readonly string[]) => texts.flatMap(keysOf);
  const asked = [...found, ...few(contacts ?? [])];
  const isAsked = new Set(keysIn(asked));
  const beside = contacts
    ? []
    : textsBeside(shape, customerContacts, (texts) => keysIn(texts).some((key) => isAsked.has(key)));
  const leads = asked.flatMap((text) => {
    const subject = subjectOf(text, { defaultCountry });
    return subject === undefined || subject.forms[0]?.kind === 'identifier' ? [] : [subject];
  });
  return { leads, keys: [...isAsked, ...keysIn([...beside, personId])] };
}

/** A rule that fails over a record has asked nobody by it. */
async function resultOf(expression: Expression, shape: object): Promise<unknown> {
  try {
    return await expression.evaluate(shape);
  } catch (error) {
    if (error instanceof CloseloopError && !(error instanceof ExpressionSetAside)) return undefined;
    throw error;
  }
}

/**
 * Texts in the same object as a contact that is asked (`customer.phone` beside `customer.email`): more of the same person. Not
 * those at the top, which are the record's. Where nobody would be asked, beside the place of a rule that names but one.
 */
function textsBeside(
  shape: object,
  expressions: readonly Expression[],
  isAsked: (texts: readonly string[]) => boolean,
): string[] {
  const around = ({ reads }: Expression) =>
    reads.flatMap((path) => holdersOf(shape, path).slice(0, mostCandidates)).map(ownTexts);
  const asked = expressions.flatMap(around).filter(isAsked);
  if (asked.length > 0) return asked.flat();
  const ofOne = expressions.filter(({ plain, reads }) => plain !== undefined && reads.length === 1);
  return ofOne.flatMap(around).flat();
}

/** The objects in which what a path leads to stands, below the top; where it leads to objects, these. */
function holdersOf(value: unknown, [name, ...rest]: readonly string[], depth = 0): object[] {
  if (Array.isArray(value))
    return value.flatMap((one) => holdersOf(one, name === undefined ? [] : [name, ...rest], depth));
  if (typeof value !== 'object' || value === null) return [];
  if (name === undefined) return depth === 0 ? [] : [value];
  const next: unknown = Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
  const below = holdersOf(next, rest, depth + 1);
  return below.length > 0 || rest.length > 0 || depth === 0 ? below : [value];
}

function ownTexts(holder: object): string[] {
  const texts = Object.values(holder).flatMap((value) =>
    isObject(value) && !Array.isArray(value) ? [] : flatTexts(value),
  );
  return texts.slice(0, mostCandidates);
}

function flatTexts(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => (isObject(one) ? [] : flatTexts(one)));
  return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * A contact as somebody wrote it, with all that it may be known by. Undefined for what can't name anybody.
 */
export function subjectOf(
  written: string,
  { defaultCountry }: Pick<Policy, 'defaultCountry'>,
): SubjectOf<'contact'> | undefined {
  const forms = contactForms(written, { defaultCountry });
  const [usual] = forms;
  return usual && { kind: 'contact', key: contactKey(usual), forms, done: false, masked: 0 };
}

/** Into one list, however deep they lie: copied from level to level, they would cost each level again. */
function textsIn(value: unknown, names?: 'with names', found: string[] = []): string[] {
  if (typeof value === 'string' || typeof value === 'number') found.push(String(value));
  if (!isObject(value)) return found;
  for (const [name, one] of Object.entries(value)) {
    if (names && !Array.isArray(value)) found.push(name);
    textsIn(one, names, found);
  }
  return found;
}
