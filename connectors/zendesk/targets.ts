import type { Finding, WriteResult } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Catalogue, TicketField } from './fields.ts';
import type { KeyedField } from './keyed-fields.ts';
import type { ZendeskSettings } from './settings.ts';

type WriteBackSettings = ZendeskSettings['writeBack'];

/** What an answer consists of. `status`: whether one came. */
export const parts = ['grade', 'comment', 'answeredAt', 'status'] as const;
export type MainPart = (typeof parts)[number];
/** `answers.17`: the answer to the question 17 of a survey. */
export type Part = MainPart | `answers.${string}`;

/** Every part that may go to a ticket field. */
export function partsOf({ answers }: Pick<WriteBackSettings, 'answers'>): Part[] {
  return [...parts, ...Object.keys(answers).map((question): Part => `answers.${question}`)];
}

/** The question of such a part; undefined for another part. */
export function questionOf(part: Part): string | undefined {
  return isMain(part) ? undefined : part.slice('answers.'.length);
}

/** The ticket field that `writeBack` names for a part. */
export function fieldFor(settings: WriteBackSettings, part: Part): string | undefined {
  return isMain(part) ? settings[part] : settings.answers[part.slice('answers.'.length)];
}

export const isMain = (part: Part): part is MainPart => parts.some((one) => one === part);

/** Where one part goes: a ticket field by its id, a user field or a custom object's by its key. */
export interface Target {
  id: string;
  type: string;
  /** Of a dropdown or multi-select that takes a survey's answers: an answer may be an option's name or its tag. */
  options?: readonly { name: string; value: string }[];
}

export type Targets = Partial<Record<Part, Target>>;

/** A configured field that can't be written. `setup` can make a `missing` one where it was given by its title. */
export interface Misfit extends Finding {
  part: Part;
  why: 'missing' | 'ambiguous' | 'inactive' | 'type';
}

export interface Resolved {
  targets: Targets;
  problems: Misfit[];
}

/** Field types that can take each part. Text of every kind takes anything. A dropdown is `tagger` on tickets only. */
export const fitting: Readonly<Record<MainPart | 'answers', readonly string[]>> = {
  grade: ['integer', 'decimal', 'text', 'textarea', 'regexp', 'tagger', 'dropdown', 'multiselect', 'checkbox'],
  comment: ['text', 'textarea'],
  answeredAt: ['date', 'text', 'textarea'],
  status: ['text', 'textarea', 'tagger', 'dropdown'],
  answers: ['text', 'textarea', 'integer', 'decimal', 'date', 'checkbox', 'tagger', 'dropdown', 'multiselect'],
};

/** An id is digits; everything else is a title. */
export const isFieldId = (ref: string): boolean => /^\d+$/.test(ref);

/**
 * The ticket fields that `writeBack` names. A title is compared as it is, among the fields that an account adds itself;
 * where several have it, the only active one is meant.
 */
export function resolveFields(settings: WriteBackSettings, { byId }: Catalogue): Resolved {
  const fields = [...byId.values()];
  return resolved(partsOf(settings), (part) => {
    const ref = fieldFor(settings, part);
    if (ref === undefined) return undefined;
    const found = isFieldId(ref)
      ? fields.filter(({ id }) => id === ref)
      : onlyActive(fields.filter(({ title, removable }) => title?.trim() === ref && removable !== false));
    const at = `writeBack.${part}`;
    const name = isFieldId(ref) ? `ticket field ${ref}` : `ticket field "${ref}"`;
    const place = 'Admin Center > Objects and rules > Tickets > Fields';
    const withOptions = found.map(({ custom_field_options: options, ...field }) => ({
      ...field,
      ...(questionOf(part) !== undefined && options ? { options } : {}),
    }));
    return oneOf(part, at, name, withOptions, {
      missing: isFieldId(ref)
        ? `Take the id from ${place}.`
        : `Take the exact title from ${place}, or let "closeloop setup" create it.`,
      ambiguous: `Give its id (${place}) in place of the title.`,
    });
  });
}

/** The same for the user fields that `writeBack.userFields` names by their keys. */
export function resolveUserFields(
  { userFields: keys = {} }: WriteBackSettings,
  fields: readonly KeyedField[],
): Resolved {
  const place = 'Admin Center > People > Configuration > User fields';
  return resolved(parts, (part) => byKey(part, keys, fields, 'userFields', 'user field', place));
}

/** And for the fields of the records that `writeBack.customObject` names by their keys. */
export function resolveObjectFields(
  { customObject = { object: '' } }: WriteBackSettings,
  fields: readonly KeyedField[],
): Resolved {
  const { object, ...keys } = customObject;
  const place = 'Admin Center > Objects and rules > Custom objects > Objects';
  return resolved(parts, (part) =>
    byKey(part, keys, fields, 'customObject', `field of the custom object "${object}"`, place),
  );
}

function byKey(
  part: Part,
  keys: { [P in Part]?: string | undefined },
  fields: readonly KeyedField[],
  setting: string,
  what: string,
  place: string,
): Found | undefined {
  const key = keys[part];
  if (key === undefined) return undefined;
  const found = fields.filter((field) => field.key === key).map((field) => ({ ...field, id: key }));
  const ambiguous = `Take its field key from ${place}`;
  const missing = `${ambiguous}, or let "closeloop setup" create it.`;
  return oneOf(part, `writeBack.${setting}.${part}`, `${what} "${key}"`, found, { missing, ambiguous });
}

/** Targets that can be written. What doesn't fit is looked at once more: it may have been corrected since. */
export async function writableTargets(
  look: (fresh: boolean) => Promise<Resolved>,
  subdomain: string,
): Promise<Targets> {
  const held = await look(false);
  if (held.problems.length === 0) return held.targets;
  const { targets, problems } = await look(true);
  if (problems.length === 0) return targets;
  throw unwritable(problems, subdomain);
}

/**
 * A field that was deleted or switched off since the catalogue was read takes nothing, without a word: where something was
 * not taken, the fields are looked at as they are now.
 * @throws CloseloopError config, that names the field
 */
export async function refuseRetired(
  results: readonly (WriteResult | undefined)[],
  look: () => Promise<Resolved>,
  subdomain: string,
): Promise<void> {
  if (!results.some((result) => result?.ok === true && result.findings.length > 0)) return;
  const { problems } = await look();
  if (problems.length > 0) throw unwritable(problems, subdomain);
}

function unwritable(problems: readonly Misfit[], subdomain: string): CloseloopError {
  const why = problems.map(({ at, problem, remedy }) => `${at}: ${problem} ${remedy}`).join(' ');
  return new CloseloopError(
    `Zendesk ${subdomain}: ${why} "closeloop check" looks at all of them.`,
    { kind: 'config' },
    { outcome: 'never-sent' },
  );
}

type Found = { target: Target } | { problem: Misfit };

function resolved(all: readonly Part[], find: (part: Part) => Found | undefined): Resolved {
  const found = all.map((part) => ({ part, one: find(part) }));
  return {
    targets: Object.fromEntries(found.flatMap(({ part, one }) => (one && 'target' in one ? [[part, one.target]] : []))),
    problems: found.flatMap(({ one }) => (one && 'problem' in one ? [one.problem] : [])),
  };
}

function oneOf(
  part: Part,
  at: string,
  name: string,
  found: readonly (Target & { active?: boolean | null | undefined })[],
  remedies: { missing: string; ambiguous: string },
): Found {
  const problem = (why: Misfit['why'], what: string, remedy: string): Found => ({
    problem: { level: 'error', at, part, why, problem: `${name} ${what}.`, remedy },
  });
  const [field, second] = found;
  if (field === undefined) return problem('missing', 'does not exist', remedies.missing);
  if (second !== undefined) return problem('ambiguous', `exists ${found.length} times`, remedies.ambiguous);
  if (field.active === false) return problem('inactive', 'is inactive', 'Activate it in Admin Center.');
  const types = fitting[isMain(part) ? part : 'answers'];
  if (!types.includes(field.type)) {
    return problem('type', `has the type ${field.type}`, `It must be one of ${types.join(', ')}.`);
  }
  const { id, type, options } = field;
  return { target: { id, type, ...(options && { options }) } };
}

function onlyActive(fields: readonly TicketField[]): readonly TicketField[] {
  const active = fields.filter((field) => field.active !== false);
  return active.length === 0 ? fields : active;
}
