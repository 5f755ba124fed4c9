import {
  type AnswerPart,
  cut,
  isAnswerTag,
  isOlderThan,
  isSameText,
  isSurveyPart,
  type PartName,
  partsOf,
  surveyText,
  tagsOf,
} from '../../core/connector/answer.ts';
import type { AnswerValue, WriteBack } from '../../core/connector/contract.ts';
import type { ZendeskSettings } from './settings.ts';
import { type FieldKind, type Target, type Targets, ticketField } from './targets.ts';
import type { FieldValue, Ticket } from './ticket.ts';

type WriteBackSettings = ZendeskSettings['writeBack'];

/** What a ticket should look like once an answer is on it. */
export interface Wanted {
  fields: WantedField[];
  tags: string[];
  /** Answers to a survey that their fields can't hold, in words; left out where there are none. */
  unfit?: string[];
}

export interface WantedField extends Target {
  part: PartName;
  value: FieldValue;
}

/** What has to be sent so that a ticket looks like that. */
export interface Change {
  fields: WantedField[];
  addTags: string[];
  removeTags: string[];
}

/** Values by field: of a ticket by id, of a user or a record by key. */
export type Values = (id: string) => FieldValue;

/** Zendesk takes 65,536 characters in a field or comment; some are left for what stands around them in a note. */
export const mostTextUnits = 60_000;

const choices = new Set(['tagger', 'dropdown', 'multiselect']);

/** What `item` should put on its ticket. An answer without a grade or comment clears the field: the newest version wins. */
export function wantedOf(item: WriteBack, settings: WriteBackSettings, targets: Targets): Wanted {
  const { fields, unfit } = fieldsFor(item, settings, targets);
  return { fields, tags: settings.tags ? tagsOf(item) : [], ...(unfit.length > 0 ? { unfit } : {}) };
}

/** The fields alone. */
export const wantedFields = (item: WriteBack, settings: WriteBackSettings, targets: Targets): WantedField[] =>
  fieldsFor(item, settings, targets).fields;

/** The fields with their values; `unfit`: answers to a survey that the field of their question can't hold, in words. */
function fieldsFor(item: WriteBack, settings: WriteBackSettings, targets: Targets) {
  const fields: WantedField[] = [];
  const unfit: string[] = [];
  for (const one of partsOf(item)) {
    const { part } = one;
    const target = targets.get(part);
    if (target === undefined) continue;
    const { id, type } = target;
    const value = valueFor(one, target, settings);
    if (value !== undefined) fields.push({ part, id, type, value });
    else {
      unfit.push(
        `the survey's answer does not fit into the ticket field ${id} (writeBack.${part}) of type ${type}: name a text field.`,
      );
    }
  }
  return { fields, unfit };
}

/** A part as the field of its type takes it; undefined where the field can't hold it: Zendesk would refuse the ticket. */
function valueFor(one: AnswerPart, target: Target, settings: WriteBackSettings): FieldValue | undefined {
  switch (one.part) {
    case 'grade':
      return gradeValue(one.value, target.type, settings.gradeValues);
    case 'comment':
      return one.value === null ? null : cut(one.value, mostTextUnits);
    case 'answeredAt':
      return target.type === 'date' ? dayOf(one.value) : one.value.toISOString();
    case 'status':
      return statusValue(one.value, target.type, settings.statusValues);
    default:
      return surveyValue(one.value, target);
  }
}

function gradeValue(grade: number | null, type: string, gradeValues: Readonly<Record<string, string>>): FieldValue {
  if (grade === null) return type === 'checkbox' ? false : null;
  const mapped = gradeValues[String(grade)];
  if (type === 'checkbox') return mapped === undefined ? grade > 0 : mapped === 'true';
  if (type === 'integer' || type === 'decimal') return grade;
  const text = mapped ?? String(grade);
  return type === 'multiselect' ? [text] : text;
}

function statusValue(
  outcome: WriteBack['outcome'],
  type: string,
  values: WriteBackSettings['statusValues'],
): FieldValue {
  const [answered, noAnswer] = choices.has(type) ? ['fb_answered', 'fb_no_answer'] : ['answered', 'no answer'];
  return outcome === 'answered' ? (values?.answered ?? answered) : (values?.noAnswer ?? noAnswer);
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

const yes = new Set(['true', 'yes', '1']);
const no = new Set(['false', 'no', '0']);

/** The answer to a question of a survey, likewise. */
export function surveyValue(answer: AnswerValue, { type, options = [] }: Target): FieldValue | undefined {
  const texts = (Array.isArray(answer) ? answer : [answer]).map(String);
  const [only = '', ...others] = texts;
  const tagOf = (text: string): string => {
    const same = (one: string): boolean => one.trim().toLowerCase() === text.trim().toLowerCase();
    return options.find(({ name, value }) => same(value) || same(name))?.value ?? text;
  };
  switch (type) {
    case 'multiselect':
      return texts.map(tagOf);
    case 'text':
      return cut(surveyText(answer).replace(/\s+/g, ' '), mostTextUnits);
    case 'textarea':
      return cut(surveyText(answer), mostTextUnits);
  }
  if (others.length > 0) return undefined;
  switch (type) {
    case 'integer':
      return /^[+-]?\d+$/.test(only.trim()) ? Number(only) : undefined;
    case 'decimal':
      return /^[+-]?\d+(?:\.\d+)?$/.test(only.trim()) ? Number(only) : undefined;
    case 'date':
      return /^\d{4}-\d\d-\d\d(?!\d)/.exec(only)?.[0];
    case 'checkbox':
      return yes.has(only.trim().toLowerCase()) || (no.has(only.trim().toLowerCase()) ? false : undefined);
    default:
      return tagOf(only);
  }
}

/**
 * Is there a newer answer already? Only the field for the time of the answer can tell: by the day where it is a date.
 * An older answer (a first try that was held up, another ticket of the same person) must never replace a newer one.
 */
export function holdsNewer(item: WriteBack, targets: Targets, values: Values): boolean {
  const target = targets.get('answeredAt');
  const current = target === undefined ? null : values(target.id);
  if (typeof current !== 'string') return false;
  if (target?.type === 'date') return current.slice(0, 10) > dayOf(item.answeredAt);
  return isOlderThan(item, Date.parse(current));
}

/** What is still missing on `ticket`. Never its status, and never `tags` as a whole, which would replace everybody's. */
export function changeFor(wanted: Wanted, ticket: Ticket): Change {
  const values = valuesOf(ticket);
  // A dropdown's value is a tag as well, and goes when the field changes; taking the tag away would clear the field.
  const fieldTags = wanted.fields.flatMap(({ id }) => values(id));
  // A follow-up ticket begins with the tags of its parent.
  const isOutdated = (tag: string): boolean =>
    isAnswerTag(tag) && !wanted.tags.includes(tag) && !fieldTags.includes(tag);
  return {
    fields: missing(wanted.fields, values),
    addTags: wanted.tags.filter((tag) => !ticket.tags.includes(tag)),
    // That no answer came says nothing against the answer of an earlier closing.
    removeTags: wanted.tags.includes('fb_answered') ? ticket.tags.filter(isOutdated) : [],
  };
}

export const sizeOf = ({ fields, addTags, removeTags }: Change): number =>
  fields.length + addTags.length + removeTags.length;

/** Fields that don't hold what they should. */
export function missing(fields: readonly WantedField[], values: Values): WantedField[] {
  return fields.filter((field) => !holds(field, values(field.id)));
}

/** What Zendesk didn't take, in words for the operator. A dropdown value that is no option's tag is dropped without an error. */
export function findingsOn(wanted: Wanted, ticket: Ticket): string[] {
  return [...notTaken(wanted.fields, valuesOf(ticket), ticketField), ...(wanted.unfit ?? [])];
}

/** Tags that are gone again: a trigger that acts upon a tag takes it off as a rule, so that nobody has to do anything. */
export function remarksOn(wanted: Wanted, ticket: Ticket): string[] {
  const lost = wanted.tags.filter((tag) => !ticket.tags.includes(tag));
  return lost.length === 0
    ? []
    : [`the tags ${lost.join(', ')} are not on the ticket; a trigger may take them off again.`];
}

export function notTaken(fields: readonly WantedField[], values: Values, { setting, noun }: FieldKind): string[] {
  return missing(fields, values).map(({ part, id, type, value }) => {
    const where = `${noun} ${id} (${setting}.${part})`;
    if (!choices.has(type)) return `${where} did not keep its value: look for a trigger or another app that sets it.`;
    if (isSurveyPart(part)) return `${where} has no option for this answer: add it, or name a text field.`;
    const values = part === 'grade' ? 'gradeValues' : 'statusValues';
    return `${where} has no option with the tag "${String(value)}": add the option, or name an existing tag in writeBack.${values}.`;
  });
}

/** Numbers come back as text or number, texts perhaps with other white space, dates with a time, an empty checkbox as null. */
function holds({ type, value }: WantedField, current: FieldValue): boolean {
  const empty = (one: FieldValue): boolean =>
    one === null || one === '' || one === false || (Array.isArray(one) && one.length === 0);
  if (empty(value) || empty(current)) return empty(value) && empty(current);
  if (type === 'integer' || type === 'decimal') return Number(current) === Number(value);
  if (type === 'date') return String(current).slice(0, 10) === value;
  return isSameText(String(current), String(value));
}

export function valuesOf(ticket: Ticket): Values {
  return (id) => ticket.custom_fields.find((field) => field.id === id)?.value ?? null;
}

/**
 * Can the note of this answer be on the ticket already, from an attempt whose outcome we never learnt?
 * Fields, tags and note of an attempt arrive together, so any of its lasting marks says yes. A dropdown is no such mark
 * (a value without an option is dropped). Without marks: only if anything changed the ticket since the answer,
 * give or take five minutes between Zendesk's clock and the Feedback service's.
 */
export function mayHaveNote(wanted: Wanted, ticket: Ticket, answeredAt: Date): boolean {
  const marks = wanted.fields.filter(({ type, value }) => value !== null && !choices.has(type));
  if (marks.length === 0 && wanted.tags.length === 0) {
    return Date.parse(ticket.updated_at) >= answeredAt.getTime() - 5 * 60_000;
  }
  return missing(marks, valuesOf(ticket)).length < marks.length || wanted.tags.some((tag) => ticket.tags.includes(tag));
}
