import {
  type AnswerPart,
  type AnswerPlaces,
  cut,
  isSameText,
  isSurveyPart,
  surveyText,
} from '../../core/connector/answer.ts';
import type { AnswerValue } from '../../core/connector/contract.ts';
import { Refusal } from '../../core/connector/desk/write.ts';
import { type Field, type FieldKind, nameOf, type Targets } from './fields.ts';
import type { ZendeskSettings } from './settings.ts';

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
export function fieldWriting(kind: FieldKind, targets: Targets, writeBack: WriteBackSettings) {
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
      const value = field && valueFor(one, field, writeBack);
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
