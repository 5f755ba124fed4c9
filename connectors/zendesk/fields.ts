import { z } from 'zod';
import {
  type AnswerPart,
  type AnswerPlaces,
  cut,
  isSameText,
  isSurveyPart,
  type PartName,
  placesOf,
  surveyText,
} from '../../core/connector/answer.ts';
import { type Cached, cached } from '../../core/connector/cached.ts';
import { errorAt } from '../../core/connector/check.ts';
import type { AnswerValue, ConnectorPorts, Finding, WriteBack, WriteResult } from '../../core/connector/contract.ts';
import type { RowReading } from '../../core/connector/desk/rows.ts';
import { DeskWriter } from '../../core/connector/desk/write.ts';
import { type DeskWriting, Refusal } from '../../core/connector/desk/writing.ts';
import { listOf, orElse } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { idText, readAll, type ZendeskApi } from './api.ts';
import type { ZendeskSettings } from './settings.ts';

/*
 * The fields that an account adds to its tickets, its users and the records of a custom object: which of them take answers, and in what
 * form.
 */

const text = orElse(z.string(), null).optional();
const isSet = orElse(z.boolean(), null).optional();

/**
 * An option. `value`: its tag. `raw_name`: the placeholder of dynamic content, where `name` is the text in the language of closeloop's
 * user.
 */
const FieldOption = z.object({
  id: orElse(z.number(), null).optional(),
  name: z.string(),
  raw_name: text,
  value: z.string(),
});
export type FieldOption = z.output<typeof FieldOption>;

const properties = {
  ...{ type: z.string(), title: z.string().nullish(), active: z.boolean().nullish(), regexp_for_validation: text },
  /** The tag of a checkbox, if it has one. */
  tag: text,
  custom_field_options: listOf(FieldOption).nullish(),
  /** False for Zendesk's own fields, which every account has. */
  removable: isSet,
  agent_can_edit: isSet,
  /** Whether agents can solve a ticket only with a value in the field. */
  required: isSet,
};
const TicketField = z.object({ id: idText, ...properties });
/** A field of users or of a custom object's records, which the key identifies. */
const KeyedField = z
  .object({ key: z.string().nullish(), ...properties })
  .transform(({ key: id, ...field }) => ({ ...field, id: id ?? '' }));
export type Field = z.output<typeof TicketField>;

/** A kind of fields for parts of answers: of tickets, of users, or of a custom object's records. */
export interface FieldKind {
  settings: ZendeskSettings;
  /** The setting that names the fields, and the names by their parts. */
  setting: string;
  wanted: ReadonlyMap<Part, string>;
  /** The word for one of the records that have the fields. */
  record: string;
  /** Names a field in words. @param name its id in digits, or its title or key in quotes */
  named(name: string): string;
  /** Where admins find the fields. */
  place: string;
  /** What the setting may use in place of a field's id. */
  by: 'title' | 'field key';
  /** The path of the fields, and Zendesk's word for one field in a body. */
  path: string;
  one: string;
  read(): Promise<Field[]>;
  /** The account's fields, at most a quarter of an hour old. */
  fields: Cached<readonly Field[]>;
}

export type FieldKinds = Readonly<Record<'tickets' | 'users' | 'records', FieldKind>>;

/** How long closeloop caches lists of the account. */
export const cacheMs = 15 * 60_000;

/** One Zendesk account, with everything that one source needs to work with it. */
export interface Account {
  settings: ZendeskSettings;
  ports: Pick<ConnectorPorts, 'now' | 'log'>;
  api: ZendeskApi;
  kinds: FieldKinds;
}

export function fieldKinds(settings: ZendeskSettings, api: ZendeskApi, now: () => Date): FieldKinds {
  const { userFields = {}, customObject: { object, ticket, ...onRecord } = {} } = settings.writeBack;
  const [admin, by] = ['Admin Center >', 'field key'] as const;
  const kind = (about: Omit<FieldKind, 'settings' | 'fields' | 'read'>): FieldKind => {
    const keyed = () => readAll(api, about.path, `${about.one}s`, KeyedField);
    const read = about.by === 'title' ? () => api.listTicketFields(listOf(TicketField)) : keyed;
    return { settings, ...about, read, fields: cached(() => read().catch(concernsAccount), cacheMs, now) };
  };
  const onRecords = new Map<Part, string>([...placesOf(onRecord), ...(ticket ? [['ticket', ticket] as const] : [])]);
  return {
    tickets: kind({
      ...{ setting: 'writeBack', wanted: placesOf(settings.writeBack), by: 'title', record: 'ticket' },
      ...{ one: 'ticket_field', path: '/api/v2/ticket_fields', place: `${admin} Objects and rules > Tickets > Fields` },
      named: (name) => `ticket field ${name}`,
    }),
    users: kind({
      ...{ setting: 'writeBack.userFields', wanted: placesOf(userFields), by, record: 'user' },
      ...{ one: 'user_field', path: '/api/v2/user_fields', place: `${admin} People > Configuration > User fields` },
      named: (name) => `user field ${name}`,
    }),
    records: kind({
      ...{ setting: 'writeBack.customObject', wanted: onRecords, by, record: 'record' },
      ...{ one: 'custom_object_field', path: `/api/v2/custom_objects/${object}/fields` },
      place: `${admin} Objects and rules > Custom objects > Objects`,
      named: (name) => `field ${name} of the custom object "${object}"`,
    }),
  };
}

/** Rethrows a failure to read the fields as an error of the account, not of one ticket. */
function concernsAccount(error: unknown): never {
  if (!(error instanceof CloseloopError) || error.advice.kind !== 'permanent') throw error;
  const { message, outcome, reference } = error;
  throw new CloseloopError(message, { kind: 'config', doubtful: true }, { outcome, reference, cause: error });
}

/** Whether the name is an id (digits); every other name is a title or a key. */
const isFieldId = (name: string): boolean => /^\d+$/.test(name);
const inQuotes = (name: string): string => (isFieldId(name) ? name : `"${name}"`);

/** The field's name, by which a person finds it. */
export const nameOf = ({ named }: FieldKind, { id, title }: Field): string =>
  named(isFieldId(id) && title ? `${id} "${title}"` : inQuotes(id));

/** The content of a field: a part of an answer, or the id of the ticket. */
export type Part = PartName | 'ticket';
export type Targets = ReadonlyMap<Part, Field>;

/**
 * A configured field that closeloop can't write; `name` as in the configuration. `setup` creates a missing field that the configuration
 * names by its title or key.
 */
type FieldProblem = Finding & { part: Part; name: string; isMissing: boolean };

/** The field types that can hold each part. Text fields of every kind can hold anything. A dropdown is called `tagger` on tickets only. */
const [texts, choices] = [['text', 'textarea'] as const, ['tagger', 'dropdown'] as const];
const fitting: Readonly<Record<string, readonly string[]>> = {
  grade: ['integer', 'decimal', ...texts, 'regexp', ...choices, 'multiselect', 'checkbox'],
  comment: texts,
  answeredAt: ['date', ...texts],
  status: [...texts, ...choices],
  answers: [...texts, 'integer', 'decimal', 'date', 'checkbox', ...choices, 'multiselect'],
};

/**
 * Finds the fields that the settings name. Titles are compared exactly, among the account's own fields; if several fields have the title,
 * the only active field counts.
 */
export function resolve(kind: FieldKind, fields: readonly Field[]): { targets: Targets; problems: FieldProblem[] } {
  const targets = new Map<Part, Field>();
  const problems: FieldProblem[] = [];
  const { setting, place, by } = kind;
  for (const [part, name] of kind.wanted) {
    const [field, ...others] = candidates(kind, name, fields);
    const said = (what: string, remedy: string): void => {
      const finding = errorAt(`${setting}.${part}`, `${kind.named(inQuotes(name))} ${what}.`, remedy);
      problems.push({ ...finding, part, name, isMissing: field === undefined && !isFieldId(name) });
    };
    const types = fitting[part.split('.')[0] ?? ''];
    const make = isFieldId(name) ? '' : ', or let "closeloop setup" create it';
    const own = `Create a field for it (${place}), or give a title and run "closeloop setup"`;
    if (field === undefined)
      said('does not exist', `Take the ${isFieldId(name) ? 'id' : `exact ${by}`} from ${place}${make}.`);
    else if (others.length > 0)
      said(`exists ${others.length + 1} times`, `Give its id (${place}) in place of the title.`);
    else if (field.active === false) said('is inactive', 'Activate it in Admin Center.');
    else if (field.removable === false) said("is one of Zendesk's own fields", own);
    else if (types?.includes(field.type) === false)
      said(`has the type ${field.type}`, `It must be one of ${types.join(', ')}.`);
    else targets.set(part, field);
  }
  return { targets, problems };
}

function candidates({ by }: FieldKind, name: string, fields: readonly Field[]): readonly Field[] {
  if (isFieldId(name) || by !== 'title') return fields.filter(({ id }) => id === name);
  const titled = fields.filter(({ title, removable }) => title?.trim() === name && removable !== false);
  const active = titled.filter((field) => field.active !== false);
  return active.length === 0 ? titled : active;
}

/**
 * Writes on the fields that the settings name. Zendesk silently ignores values for a field that was deleted or deactivated since closeloop
 * read the fields. So closeloop reads the fields once more if one doesn't fit (a person may have corrected it), and if a value was not
 * stored.
 * @throws CloseloopError config, which names the fields
 */
export async function onFields(kind: FieldKind, write: (targets: Targets) => Promise<WriteResult[]>) {
  const known = resolve(kind, await kind.fields());
  const results = await write(known.problems.length === 0 ? known.targets : await targetsNow(kind));
  if (results.some((result) => result.ok && result.findings.length > 0)) await targetsNow(kind);
  return results;
}

async function targetsNow(kind: FieldKind): Promise<Targets> {
  const { targets, problems } = resolve(kind, await kind.fields('now'));
  if (problems.length === 0) return targets;
  const why = problems.map(({ at, problem, remedy }) => `${at}: ${problem} ${remedy}`).join(' ');
  const message = `Zendesk ${kind.settings.subdomain}: ${why} "closeloop check" looks at all of them.`;
  throw new CloseloopError(message, { kind: 'config' }, { outcome: 'never-sent' });
}

/** A value in `custom_fields`: text, number, tick, the tag of an option, or tags of several options. */
export type FieldValue = string | number | boolean | string[] | null;
export type Value = NonNullable<FieldValue>;
type WriteBackSettings = ZendeskSettings['writeBack'];

/** A value of an undocumented kind counts as empty. */
export function fieldValueOf(value: unknown): FieldValue {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : null;
}

/** The longest text of a comment. Zendesk takes 65,536 characters in a field or comment; the rest is for the other lines of a note. */
export const mostTextUnits = 60_000;

/** Whether the field's values are tags of options: Zendesk silently drops a value without an option. */
export const isChoice = ({ type }: Pick<Field, 'type'>): boolean =>
  ['tagger', 'dropdown', 'multiselect'].includes(type);

type Typed = Pick<Field, 'type' | 'custom_field_options'>;

/** The value of a part for a field's type; undefined if the field can't hold the part, as Zendesk would refuse the update. */
export function valueFor(one: AnswerPart, field: Typed, settings: WriteBackSettings): FieldValue | undefined {
  const { type } = field;
  switch (one.part) {
    case 'grade': {
      if (one.value === null) return null;
      const mapped = type === 'integer' || type === 'decimal' ? undefined : settings.gradeValues[String(one.value)];
      if (type === 'checkbox') return mapped === undefined ? one.value > 0 : mapped === 'true';
      return surveyValue(mapped ?? one.value, { type });
    }
    case 'comment':
      return one.value === null ? null : cut(one.value, mostTextUnits);
    case 'answeredAt':
      return one.value.toISOString().slice(0, type === 'date' ? 10 : undefined);
    case 'status': {
      const usual = isChoice(field) ? ['fb_answered', 'fb_no_answer'] : ['answered', 'no answer'];
      const { answered = usual[0], noAnswer = usual[1] } = settings.statusValues ?? {};
      return one.value === 'answered' ? answered : noAnswer;
    }
    default:
      return surveyValue(one.value, field);
  }
}

/** The value of an answer for a field's type; undefined if the field can't hold it. */
export function surveyValue(
  answer: AnswerValue,
  { type, custom_field_options: options }: Typed,
): FieldValue | undefined {
  const texts = (Array.isArray(answer) ? answer : [answer]).map(String);
  const [only = '', ...others] = texts;
  const plain = (text: string): string => text.trim().toLowerCase();
  const tagOf = (text: string): string =>
    options?.find((option) => [option.value, option.name].map(plain).includes(plain(text)))?.value ?? text;
  if (type === 'multiselect') return texts.map(tagOf);
  if (type === 'text') return cut(surveyText(answer).replace(/\s+/g, ' '), mostTextUnits);
  if (type === 'textarea') return cut(surveyText(answer), mostTextUnits);
  if (others.length > 0) return undefined;
  switch (type) {
    case 'integer':
      return /^[+-]?\d+$/.test(plain(only)) ? Number(only) : undefined;
    case 'decimal':
      return /^[+-]?\d+(?:\.\d+)?$/.test(plain(only)) ? Number(only) : undefined;
    case 'date':
      return /^\d{4}-\d\d-\d\d(?!\d)/.exec(only)?.[0];
    case 'checkbox':
      return (
        ['true', 'yes', '1'].includes(plain(only)) || (['false', 'no', '0'].includes(plain(only)) ? false : undefined)
      );
    default:
      return tagOf(only);
  }
}

const isEmpty = (value: FieldValue): boolean =>
  value === null || value === '' || value === false || (Array.isArray(value) && value.length === 0);

/**
 * Whether the current value counts as the wanted value. Zendesk returns numbers as strings or numbers, texts with other white space, dates
 * with a time, and an empty checkbox as null.
 */
function holds(current: FieldValue, value: FieldValue, type: string | undefined): boolean {
  if (isEmpty(value) || isEmpty(current)) return isEmpty(value) && isEmpty(current);
  if (type === 'integer' || type === 'decimal') return Number(current) === Number(value);
  if (type === 'date') return String(current).slice(0, 10) === value;
  return isSameText(String(current), String(value));
}

/** Writes answers on fields of one kind, found by their ids, in the same way on tickets, users and records of a custom object. */
function fieldWriting(kind: FieldKind, targets: Targets) {
  const byId = new Map([...targets].map(([part, field]) => [field.id, { part, field }]));
  const whereIs = (part: string, field: Field) => `the ${nameOf(kind, field)} (${kind.setting}.${part})`;
  const answers: Record<string, string> = {};
  const settings: AnswerPlaces<string> = { answers };
  for (const [part, { id }] of targets) {
    if (part === 'ticket') continue;
    if (isSurveyPart(part)) answers[part.slice('answers.'.length)] = id;
    else settings[part] = id;
  }
  return {
    ...{ settings, fields: [...targets.values()] },
    /** The values in the form of requests. */
    sent: (values: ReadonlyMap<string, Value | null>): [id: string, value: FieldValue][] =>
      [...values].map(([id, value]) => [id, value ?? (byId.get(id)?.field.type === 'checkbox' ? false : null)]),
    written(one: AnswerPart): Value | null | Refusal {
      const field = targets.get(one.part);
      const value = field && valueFor(one, field, kind.settings.writeBack);
      if (field === undefined || value !== undefined) return value ?? null;
      // Findings may name a grade, but never a text, which is the customer's.
      const [what, fit] =
        one.part === 'grade' ? [`the grade ${one.value}`, 'decimal'] : ["the survey's answer", 'text'];
      const problem = `${what} does not fit into ${whereIs(one.part, field)} of type ${field.type}`;
      return new Refusal([field.id], [`${problem}: name a ${fit} field.`]);
    },
    holds: (current: unknown, value: Value | null, id: string) =>
      holds(fieldValueOf(current), value, byId.get(id)?.field.type),
    notKept(id: string, value: Value | null): string {
      const { part, field } = byId.get(id) ?? {};
      if (part === undefined || field === undefined) return 'look at its fields';
      const where = whereIs(part, field);
      if (!isChoice(field)) return `look for a trigger or another app that sets ${where}`;
      if (part.startsWith('answers.'))
        return `${where} has no option for this answer: add the option, or name a text field`;
      const values = part === 'grade' ? 'gradeValues' : 'statusValues';
      return `${where} has no option with the tag "${value}": add the option, or name an existing tag in writeBack.${values}`;
    },
  };
}
export type FieldWriting = ReturnType<typeof fieldWriting>;

/**
 * Writes and erases answers on records of one kind, in the fields that the settings name. @param declare the rest of the desk's
 * declaration
 */
export function placeOf<Row>(
  kind: FieldKind,
  declare: (fields: FieldWriting) => DeskWriting<Row, Value> & { rows: RowReading<Row> },
) {
  const writer = (targets: Targets) =>
    new DeskWriter({ vendor: 'Zendesk', record: kind.record }, declare(fieldWriting(kind, targets)));
  return {
    write: (items: readonly WriteBack[]) => onFields(kind, (targets) => writer(targets).write(items)),
    /** @returns remarks about answers that may remain: a field that closeloop no longer finds may still hold answers */
    async forget(ids: readonly string[], loaded?: 'now'): Promise<string[]> {
      const { targets, problems } = resolve(kind, await kind.fields(loaded));
      return [...problems.map(({ at, problem }) => `${at}: ${problem}`), ...(await writer(targets).forget(ids))];
    },
  };
}
