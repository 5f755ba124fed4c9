import { type Expression, type ExpressionResult, evaluateAll, isTrue } from '../../core/mapping/expression.ts';
import { ExpressionSetAside } from '../../core/mapping/expression-failure.ts';
import type { SkipReason } from '../journey/reasons.ts';
import { contactsIn, reasonOfRecord } from '../pipeline/policy/never.ts';
import type { Policy } from '../pipeline/policy/source-policy.ts';
import type { LoadedRule } from '../pipeline/rules.ts';

/** A condition of `never` or of a rule, with its value for a record. */
export interface Condition {
  of: 'never' | 'rule';
  rule?: string;
  /** The condition as the configuration has it; `always` for a rule without a condition. */
  condition: string;
  /** `not-reached`: it is about the contacts that a rule finds, and no rule was chosen. */
  is: 'true' | 'false' | 'error' | 'not-reached';
  /** The reason of an error. */
  why?: string;
  /** The record's values for the names in the condition; `(personal)` in place of the customer's values, and of everything that looks like an address or a number. */
  saw?: Record<string, string>;
  /** Whether the decision was made by it. */
  decides: boolean;
}

type Conditional = Pick<Policy, 'never' | 'rules' | 'customerPaths'>;

/** The decision about the record, as far as closeloop could make it. */
interface Decided {
  reason?: SkipReason | undefined;
  rule?: Pick<LoadedRule, 'name'> | undefined;
}

/** Every condition, in the order in which they decide, also those behind the one that decided. */
export async function conditionsOf(
  shape: object,
  closedAt: Date,
  { never, rules, customerPaths }: Conditional,
  decided: Decided,
): Promise<Condition[]> {
  const person = [...customerPaths, ...rules.flatMap(({ contact }) => contact)];
  const ofRecord = await Promise.all(
    never.ofRecord.map(async (one) => {
      const findings = await evaluateAll(one.reads, shape);
      return ready(one.what, reasonOfRecord(one, findings, closedAt) !== undefined);
    }),
  );
  const written = await Promise.all(
    never.expressions.map(async ({ when }) => ({ of: 'never' as const, ...(await evaluateOne(when, shape, person)) })),
  );
  const ofPerson = await personConditions(shape, { never, rules }, decided);
  const ofRules = await Promise.all(
    rules.map(async ({ name, when }) => ({
      of: 'rule' as const,
      rule: name,
      ...(await evaluateOne(when, shape, person)),
    })),
  );
  const all: Omit<Condition, 'decides'>[] = [...ofRecord, ...written, ...ofPerson, ...ofRules];
  const deciding = all.find((one) => isDeciding(one, decided));
  return all.map((one) => ({ ...one, decides: one === deciding }));
}

function isDeciding({ of, rule, is }: Omit<Condition, 'decides'>, { reason, rule: chosen }: Decided): boolean {
  if (reason === 'never') return of === 'never' && is === 'true';
  if (reason === 'condition-failed') return is === 'error';
  return of === 'rule' && chosen !== undefined && rule === chosen.name;
}

function ready(condition: string, is: boolean): Omit<Condition, 'decides'> {
  return { of: 'never', condition, is: is ? 'true' : 'false' };
}

async function personConditions(
  shape: object,
  { never, rules }: Pick<Conditional, 'never' | 'rules'>,
  { rule: chosen }: Decided,
): Promise<Omit<Condition, 'decides'>[]> {
  const contact = rules.find(({ name }) => name === chosen?.name)?.contact;
  if (contact === undefined) {
    return never.ofPerson.map(({ what }) => ({ of: 'never', condition: what, is: 'not-reached' }));
  }
  const contacts = contactsIn(await evaluateAll(contact, shape), contact);
  return never.ofPerson.map(({ what, reasonFor }) => ready(what, reasonFor(contacts) !== undefined));
}

/** Evaluates each condition by itself: a condition that is stopped must not stop the others. */
async function evaluateOne(
  when: Expression | undefined,
  shape: object,
  person: readonly Expression[],
): Promise<Pick<Condition, 'condition' | 'is' | 'why' | 'saw'>> {
  if (when === undefined) return { condition: 'always', is: 'true' };
  const found = await evaluateAll([when], shape).then(
    (findings) => findings.of(when),
    (error: unknown): ExpressionResult => {
      if (error instanceof ExpressionSetAside) return { ok: false, why: error.message };
      throw error;
    },
  );
  const value = { condition: inOneLine(when.source), saw: seenBy(when, shape, person) };
  if (!found.ok) return { ...value, is: 'error', why: found.why };
  return { ...value, is: isTrue(found) ? 'true' : 'false' };
}

/** @param person the expressions that find the customer's contact: values beside the contact are about the customer as well */
function seenBy({ reads }: Expression, shape: object, person: readonly Expression[]): Record<string, string> {
  const paths = new Map(reads.map((path) => [path.join('.'), path]));
  return Object.fromEntries(
    [...paths].map(([name, path]) => {
      const values = valuesAt(shape, path);
      return [name, shown(isBeside(path, person) ? values.map(() => personal) : values)];
    }),
  );
}

const most = 5;
const personal = '(personal)';

function shown(values: readonly string[]): string {
  if (values.length === 0) return 'nothing';
  const texts = values.slice(0, most).map((text) => (looksPersonal(text) ? personal : text));
  return `${texts.join(', ')}${values.length > most ? ' …' : ''}`;
}

const inOneLine = (source: string): string => source.trim().replaceAll(/\s+/g, ' ');

/** The texts, numbers, true and false at a path. Objects are left out. */
function valuesAt(value: unknown, path: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => valuesAt(one, path));
  const [name, ...rest] = path;
  if (name === undefined) {
    return ['string', 'number', 'boolean'].includes(typeof value) && value !== '' ? [String(value)] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return valuesAt(Object.getOwnPropertyDescriptor(value, name)?.value, rest);
}

/** Whether the path leads to the customer, or what stands beside their contact: their name, their town. */
function isBeside(path: readonly string[], contact: readonly Expression[]): boolean {
  const person = contact.flatMap(({ reads }) => reads.map((one) => (one.length > 1 ? one.slice(0, -1) : one)));
  return person.some((one) => one.every((name, i) => path[i] === name));
}

function looksPersonal(text: string): boolean {
  return text.includes('@') || text.replace(/\D/g, '').length >= 7;
}
