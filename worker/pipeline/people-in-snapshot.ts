import { z } from 'zod';
import { contactForms, contactKey, mostCandidates } from '../../core/contact.ts';
import { contactsInText, withoutContacts } from '../../core/contacts-in-text.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Expression } from '../../core/mapping/expression.ts';
import { ExpressionSetAside } from '../../core/mapping/expression-failure.ts';
import { firstOf, spread } from '../../core/spread.ts';
import type { SubjectOf } from '../journey/erasures.ts';
import type { Policy } from './policy/source-policy.ts';

/** The fields of a record's snapshot, or of an event about a record, that name its customer (`RecordEvent.snapshot`). */
const Snapshot = z.object({
  personId: z.string().optional().catch(undefined),
  contacts: z.array(z.string()).optional().catch(undefined),
  shape: z.record(z.string(), z.unknown()).catch({}),
});

/** The people to find in a snapshot. */
export interface WantedPeople {
  isPerson: (id: string) => boolean;
  isContact: (key: string) => boolean;
}

/**
 * How a snapshot concerns the people to find. `theirs`: one of these people is the record's customer. `mention`: the record has another
 * customer, and contains a contact of these people (as the agent's, the shop's …); it leads to no further people.
 */
export type Part = 'theirs' | 'mention' | 'none';

type Reading = Pick<Policy, 'customerContacts' | 'defaultCountry'>;

/** @throws ExpressionSetAside where the record's customer can't be determined, as an expression of a rule was stopped */
export async function partIn(
  snapshot: unknown,
  { isPerson, isContact }: WantedPeople,
  context: Reading,
): Promise<Part> {
  const personId = personIn(snapshot);
  if (personId !== undefined && isPerson(personId)) return 'theirs';
  const keys = (await contactsIn(snapshot, context)).filter(isContact);
  if (keys.length === 0) return 'none';
  if ((await customersIn(snapshot, context)).keys.some(isContact)) return 'theirs';
  return keys.some(isIdentifying) ? 'mention' : 'none';
}

/** A contact of digits only does not count as a mention: the same digits may be an order's number. */
const isIdentifying = (key: string): boolean => !/^\d+$/.test(key);

export function personIn(snapshot: unknown): string | undefined {
  return Snapshot.safeParse(snapshot).data?.personId;
}

/**
 * The keys of all contacts anywhere in the snapshot, names of fields included. A delivery may hold a hundred thousand numbers, and
 * parsing them as phone numbers takes seconds: the work is spread over turns of the event loop.
 */
export async function contactsIn(snapshot: unknown, context: Pick<Reading, 'defaultCountry'>): Promise<string[]> {
  const keys = new Set<string>();
  for await (const key of spread(keysInAll(textsIn(snapshot, 'with names'), context))) if (key !== '') keys.add(key);
  return [...keys];
}

/** Yields the keys one by one, so that `spread` can pause between two contacts. */
function* keysInAll(texts: readonly string[], context: Pick<Reading, 'defaultCountry'>): Generator<string> {
  for (const text of texts) {
    yield* contactsInText(text, context);
    // The empty key lets `spread` pause after a text without contacts, too.
    yield '';
  }
}

/** Takes the texts, numbers and fields that name a contact to forget out of the snapshot of another customer's record. */
export async function withoutMentions(
  snapshot: object,
  isContact: (key: string) => boolean,
  context: Pick<Reading, 'defaultCountry'>,
): Promise<Record<string, unknown>> {
  const isForgotten = (key: string) => isIdentifying(key) && isContact(key);
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
 * The record's customer: the contacts that the rules would ask, without regard to their conditions. `leads`: the contacts to mask with the
 * customer; identifiers are left out, as a rule's placeholder for a missing number ("none") would be an identifier of many customers.
 * `keys`: the keys of everything that identifies the customer: the contacts that the connector names, or else the texts beside a
 * contact that the rules would ask.
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
    // A rule's constant fallback ("office@…") is in the rule's own text, and identifies no customer.
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

/** The result of an expression; undefined where it fails for this record, as then the rule can't have asked about the record. */
async function resultOf(expression: Expression, shape: object): Promise<unknown> {
  try {
    return await expression.evaluate(shape);
  } catch (error) {
    if (error instanceof CloseloopError && !(error instanceof ExpressionSetAside)) return undefined;
    throw error;
  }
}

/**
 * The texts in the same object as a contact that would be asked (`customer.phone` beside `customer.email`): they identify the same
 * person. Texts at the top level identify the record, and are left out. Where no contact would be asked: the texts beside the path of
 * each rule that reads a single path.
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
  const ofOne = expressions.filter(({ path }) => path !== undefined);
  return ofOne.flatMap(around).flat();
}

/** The objects below the top level that contain the value at a path; the value itself where it is an object. */
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

/** The erasure's subject for a contact, with every form of the contact; undefined for a text that is no contact. */
export function subjectOf(
  written: string,
  { defaultCountry }: Pick<Policy, 'defaultCountry'>,
): SubjectOf<'contact'> | undefined {
  const forms = contactForms(written, { defaultCountry });
  const [usual] = forms;
  return usual && { kind: 'contact', key: contactKey(usual), forms, done: false, masked: 0 };
}

/** All texts and numbers in a value. They are collected into one list: a copy at every level of nesting would take quadratic time. */
function textsIn(value: unknown, names?: 'with names', found: string[] = []): string[] {
  if (typeof value === 'string' || typeof value === 'number') found.push(String(value));
  if (!isObject(value)) return found;
  for (const [name, one] of Object.entries(value)) {
    if (names && !Array.isArray(value)) found.push(name);
    textsIn(one, names, found);
  }
  return found;
}
