import type { Finding } from '../../core/connector.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Catalogue, TicketField } from './fields.ts';
import type { KeyedField } from './keyed-fields.ts';
import type { ZendeskSettings } from './settings.ts';

type WriteBackSettings = ZendeskSettings['writeBack'];

/** What an answer consists of. `status`: whether one came. */
export const parts = ['grade', 'comment', 'answeredAt', 'status'] as const;
export type Part = (typeof parts)[number];

/** Where one part goes: a ticket field by its id, a user field or a custom object's by its key. */
export interface Target {
  id: string;
  type: string;
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
export const fitting: Readonly<Record<Part, readonly string[]>> = {
  grade: ['integer', 'decimal', 'text', 'textarea', 'regexp', 'tagger', 'dropdown', 'multiselect', 'checkbox'],
  comment: ['text', 'textarea'],
  answeredAt: ['date', 'text', 'textarea'],
  status: ['text', 'textarea', 'tagger', 'dropdown'],
};

/** An id is digits; everything else is a title. */
export const isFieldId = (ref: string): boolean => /^\d+$/.test(ref);

/**
 * The ticket fields that `writeBack` names. A title is compared as it is, among the fields that an account adds itself;
 * where several have it, the only active one is meant.
 */
export function resolveFields(settings: WriteBackSettings, { byId }: Catalogue): Resolved {
  const fields = [...byId.values()];
  return resolved((part) => {
    const ref = settings[part];
    if (ref === undefined) return undefined;
    const found = isFieldId(ref)
      ? fields.filter(({ id }) => id === ref)
      : onlyActive(fields.filter(({ title, removable }) => title?.trim() === ref && removable !== false));
    const at = `writeBack.${part}`;
    const name = isFieldId(ref) ? `ticket field ${ref}` : `ticket field "${ref}"`;
    const place = 'Admin Center > Objects and rules > Tickets > Fields';
    return oneOf(part, at, name, found, {
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
  return resolved((part) => byKey(part, keys, fields, 'userFields', 'user field', place));
}

/** And for the fields of the records that `writeBack.customObject` names by their keys. */
export function resolveObjectFields(
  { customObject = { object: '' } }: WriteBackSettings,
  fields: readonly KeyedField[],
): Resolved {
  const { object, ...keys } = customObject;
  const place = 'Admin Center > Objects and rules > Custom objects > Objects';
  return resolved((part) => byKey(part, keys, fields, 'customObject', `field of the custom object "${object}"`, place));
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
  const remedy = `Take its field key from ${place}.`;
  return oneOf(part, `writeBack.${setting}.${part}`, `${what} "${key}"`, found, { missing: remedy, ambiguous: remedy });
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
  const why = problems.map(({ at, problem, remedy }) => `${at}: ${problem} ${remedy}`).join(' ');
  throw new CloseloopError(`Zendesk ${subdomain}: ${why}`, { kind: 'config' }, { outcome: 'never-sent' });
}

type Found = { target: Target } | { problem: Misfit };

function resolved(find: (part: Part) => Found | undefined): Resolved {
  const found = parts.map((part) => ({ part, one: find(part) }));
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
  if (!fitting[part].includes(field.type)) {
    return problem('type', `has the type ${field.type}`, `It must be one of ${fitting[part].join(', ')}.`);
  }
  return { target: { id: field.id, type: field.type } };
}

function onlyActive(fields: readonly TicketField[]): readonly TicketField[] {
  const active = fields.filter((field) => field.active !== false);
  return active.length === 0 ? fields : active;
}
