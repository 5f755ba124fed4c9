import { type AnswerPlaces, isSurveyPart, type PartName, placesOf } from '../../core/connector/answer.ts';
import { errorAt } from '../../core/connector/check.ts';
import type { Finding, WriteResult } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Catalogue, KeyedField, TicketField } from './fields.ts';
import type { ZendeskSettings } from './settings.ts';

type WriteBackSettings = ZendeskSettings['writeBack'];

/** A kind of field that parts of an answer go to. */
export interface FieldKind {
  /** The setting that names the fields. */
  setting: string;
  /** What Zendesk calls such a field. */
  noun: string;
  /** Where admins find it. */
  place: string;
}

export const ticketField: FieldKind = {
  setting: 'writeBack',
  noun: 'ticket field',
  place: 'Admin Center > Objects and rules > Tickets > Fields',
};

export const userField: FieldKind = {
  setting: 'writeBack.userFields',
  noun: 'user field',
  place: 'Admin Center > People > Configuration > User fields',
};

export const objectField = ({ customObject }: WriteBackSettings): FieldKind => ({
  setting: 'writeBack.customObject',
  noun: `field of the custom object "${customObject?.object}"`,
  place: 'Admin Center > Objects and rules > Custom objects > Objects',
});

/** The field for one part: a ticket field by its id, a user field or a custom object's field by its key. */
export interface Target {
  id: string;
  type: string;
  /** Of a dropdown or multi-select that takes a survey's answers: an answer may be an option's name or its tag. */
  options?: readonly { name: string; value: string }[];
}

export type Targets = ReadonlyMap<PartName, Target>;

/** A configured field that can't be written. `setup` can create a `missing` field that is named by its title or key. */
interface FieldProblem extends Finding {
  part: PartName;
  /** The field in the configuration. */
  ref: string;
  why: 'missing' | 'ambiguous' | 'inactive' | 'type';
}

export interface Resolved {
  targets: Targets;
  problems: FieldProblem[];
}

/** Field types that can take each part. Text of every kind takes anything. A dropdown is `tagger` on tickets only. */
const fitting: Readonly<Record<Exclude<PartName, `answers.${string}`> | 'answers', readonly string[]>> = {
  grade: ['integer', 'decimal', 'text', 'textarea', 'regexp', 'tagger', 'dropdown', 'multiselect', 'checkbox'],
  comment: ['text', 'textarea'],
  answeredAt: ['date', 'text', 'textarea'],
  status: ['text', 'textarea', 'tagger', 'dropdown'],
  answers: ['text', 'textarea', 'integer', 'decimal', 'date', 'checkbox', 'tagger', 'dropdown', 'multiselect'],
};

/** An id is digits; everything else is a title. */
export const isFieldId = (ref: string): boolean => /^\d+$/.test(ref);

/**
 * The ticket fields that `writeBack` names. A title is compared exactly, among the account's own fields; of several fields with the
 * title the only active one counts.
 */
export function resolveFields(settings: WriteBackSettings, { byId }: Catalogue): Resolved {
  const fields = [...byId.values()];
  const { place } = ticketField;
  return resolve(ticketField, settings, (part, ref) => {
    const found = isFieldId(ref)
      ? fields.filter(({ id }) => id === ref)
      : onlyActive(fields.filter(({ title, removable }) => title?.trim() === ref && removable !== false));
    return {
      name: isFieldId(ref) ? `ticket field ${ref}` : `ticket field "${ref}"`,
      fields: found.map(({ id, type, active, custom_field_options: options }) => {
        return { id, type, active, ...(isSurveyPart(part) && options && { options }) };
      }),
      remedies: {
        missing: isFieldId(ref)
          ? `Take the id from ${place}.`
          : `Take the exact title from ${place}, or let "closeloop setup" create it.`,
        ambiguous: `Give its id (${place}) in place of the title.`,
      },
    };
  });
}

function onlyActive(fields: readonly TicketField[]): readonly TicketField[] {
  const active = fields.filter((field) => field.active !== false);
  return active.length === 0 ? fields : active;
}

/** The same for the user fields that `writeBack.userFields` names by their keys. */
export function resolveUserFields({ userFields = {} }: WriteBackSettings, fields: readonly KeyedField[]): Resolved {
  return resolve(userField, userFields, (_part, key) => byKey(userField, key, fields));
}

/** The same for the fields that `writeBack.customObject` names by their keys. */
export function resolveObjectFields(settings: WriteBackSettings, fields: readonly KeyedField[]): Resolved {
  const kind = objectField(settings);
  return resolve(kind, settings.customObject ?? {}, (_part, key) => byKey(kind, key, fields));
}

function byKey({ noun, place }: FieldKind, key: string, fields: readonly KeyedField[]): Candidates {
  const ambiguous = `Take its field key from ${place}`;
  const missing = `${ambiguous}, or let "closeloop setup" create it.`;
  const found = fields.filter((field) => field.key === key).map(({ type, active }) => ({ id: key, type, active }));
  return { name: `${noun} "${key}"`, fields: found, remedies: { missing, ambiguous } };
}

/** The writable targets. Reads the fields once more if one doesn't fit: a person may have corrected it. */
export async function writableTargets(
  resolveNow: (loaded?: 'now') => Promise<Resolved>,
  subdomain: string,
): Promise<Targets> {
  const known = await resolveNow();
  if (known.problems.length === 0) return known.targets;
  const { targets, problems } = await resolveNow('now');
  if (problems.length === 0) return targets;
  throw unwritable(problems, subdomain);
}

/**
 * Zendesk silently ignores values for a field that was deleted or deactivated since the catalogue was read: where a value was not
 * stored, the fields are read again.
 * @throws CloseloopError config, which names the field
 */
export async function refuseRetired(
  results: readonly (WriteResult | undefined)[],
  resolveNow: () => Promise<Resolved>,
  subdomain: string,
): Promise<void> {
  if (!results.some((result) => result?.ok === true && result.findings.length > 0)) return;
  const { problems } = await resolveNow();
  if (problems.length > 0) throw unwritable(problems, subdomain);
}

function unwritable(problems: readonly FieldProblem[], subdomain: string): CloseloopError {
  const why = problems.map(({ at, problem, remedy }) => `${at}: ${problem} ${remedy}`).join(' ');
  return new CloseloopError(
    `Zendesk ${subdomain}: ${why} "closeloop check" looks at all of them.`,
    { kind: 'config' },
    { outcome: 'never-sent' },
  );
}

/** The fields that a name in the configuration may mean. */
interface Candidates {
  /** In words. */
  name: string;
  fields: readonly (Target & { active?: boolean | null | undefined })[];
  remedies: { missing: string; ambiguous: string };
}

function resolve(
  { setting }: FieldKind,
  places: AnswerPlaces<string>,
  candidatesFor: (part: PartName, ref: string) => Candidates,
): Resolved {
  const targets = new Map<PartName, Target>();
  const problems: FieldProblem[] = [];
  for (const [part, ref] of placesOf(places)) {
    const { name, fields, remedies } = candidatesFor(part, ref);
    const problem = (why: FieldProblem['why'], what: string, remedy: string): void => {
      problems.push({ ...errorAt(`${setting}.${part}`, `${name} ${what}.`, remedy), part, ref, why });
    };
    const [field, second] = fields;
    const types = fitting[isSurveyPart(part) ? 'answers' : part];
    if (field === undefined) problem('missing', 'does not exist', remedies.missing);
    else if (second !== undefined) problem('ambiguous', `exists ${fields.length} times`, remedies.ambiguous);
    else if (field.active === false) problem('inactive', 'is inactive', 'Activate it in Admin Center.');
    else if (!types.includes(field.type)) {
      problem('type', `has the type ${field.type}`, `It must be one of ${types.join(', ')}.`);
    } else {
      const { id, type, options } = field;
      targets.set(part, { id, type, ...(options && { options }) });
    }
  }
  return { targets, problems };
}
