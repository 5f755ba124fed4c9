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
import type { AnswerValue, WriteBack, WriteResult } from '../../core/connector/contract.ts';
import type { ZendeskSettings } from './settings.ts';
import { type FieldKind, type Target, type Targets, ticketField } from './targets.ts';
import type { FieldValue, Ticket } from './ticket.ts';

type WriteBackSettings = ZendeskSettings['writeBack'];

/** The fields and tags of a ticket with an answer. */
export interface Wanted {
  fields: WantedField[];
  tags: string[];
  /** Findings for the parts that their fields can't hold; empty where there are none. */
  unfit: string[];
}

export interface WantedField extends Target {
  part: PartName;
  value: FieldValue;
}

/** The changes that a ticket needs. */
export interface Change {
  fields: WantedField[];
  addTags: string[];
  removeTags: string[];
}

/** The update of one ticket. */
export interface Order {
  item: WriteBack;
  /** As it was read. */
  ticket: Ticket;
  wanted: Wanted;
  change: Change;
  withNote: boolean;
}

export interface Updated {
  result: WriteResult;
  /** As it is now. */
  ticket?: Ticket;
}

/** Updates up to 100 tickets in three calls (update, status of the job, read again); one result per order, in order. */
export type UpdateTickets = (orders: readonly Order[]) => Promise<Updated[]>;

/** Values by field: of a ticket by id, of a user or a record by key. */
export type Values = (id: string) => FieldValue;

/** Zendesk takes 65,536 characters in a field or comment; the rest is for the other lines of a note. */
export const mostTextUnits = 60_000;

const choices = new Set(['tagger', 'dropdown', 'multiselect']);

/** The fields and tags for an answer. An answer without a grade or comment clears the field: the newest version wins. */
export function wantedOf(item: WriteBack, settings: WriteBackSettings, targets: Targets): Wanted {
  return { ...wantedFields(item, settings, targets, ticketField), tags: settings.tags ? tagsOf(item) : [] };
}

/** The fields with their values, and findings for the parts that their fields can't hold: Zendesk would refuse the whole update. */
export function wantedFields(
  item: WriteBack,
  settings: WriteBackSettings,
  targets: Targets,
  { setting, noun }: FieldKind,
): Omit<Wanted, 'tags'> {
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
      const [what, fitting] =
        part === 'grade' ? [`the grade ${one.value}`, 'decimal'] : ["the survey's answer", 'text'];
      unfit.push(
        `${what} does not fit into the ${noun} ${id} (${setting}.${part}) of type ${type}: name a ${fitting} field.`,
      );
    }
  }
  return { fields, unfit };
}

/** The value of a part for a field's type; undefined where the field can't hold it, as Zendesk would refuse the update. */
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

function gradeValue(
  grade: number | null,
  type: string,
  gradeValues: Readonly<Record<string, string>>,
): FieldValue | undefined {
  if (grade === null) return type === 'checkbox' ? false : null;
  const mapped = gradeValues[String(grade)];
  if (type === 'checkbox') return mapped === undefined ? grade > 0 : mapped === 'true';
  if (type === 'integer') return Number.isInteger(grade) ? grade : undefined;
  if (type === 'decimal') return grade;
  const text = mapped ?? String(grade);
  return type === 'multiselect' ? [text] : text;
}

function statusValue(status: WriteBack['status'], type: string, values: WriteBackSettings['statusValues']): FieldValue {
  const [answered, noAnswer] = choices.has(type) ? ['fb_answered', 'fb_no_answer'] : ['answered', 'no answer'];
  return status === 'answered' ? (values?.answered ?? answered) : (values?.noAnswer ?? noAnswer);
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

const yes = new Set(['true', 'yes', '1']);
const no = new Set(['false', 'no', '0']);

/** The same for an answer to a survey's question. */
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
 * Is there a newer answer already? Only the field for the time of the answer shows it, by the day where it is a date. An older
 * answer (a delayed first attempt, another ticket of the same person) must never replace a newer one.
 */
export function holdsNewer(item: WriteBack, targets: Targets, values: Values): boolean {
  const target = targets.get('answeredAt');
  const current = target === undefined ? null : values(target.id);
  if (typeof current !== 'string') return false;
  if (target?.type === 'date') return current.slice(0, 10) > dayOf(item.answeredAt);
  return isOlderThan(item, Date.parse(current));
}

/** The changes that `ticket` needs. Never its status, and never `tags` as a whole, which would replace the tags of others. */
export function changeFor(wanted: Wanted, ticket: Ticket): Change {
  const values = valuesOf(ticket);
  // A dropdown's value is also a tag, which changes with the field; removing the tag would clear the field.
  const fieldTags = wanted.fields.flatMap(({ id }) => values(id));
  // A follow-up ticket begins with the tags of its parent.
  const isOutdated = (tag: string): boolean =>
    isAnswerTag(tag) && !wanted.tags.includes(tag) && !fieldTags.includes(tag);
  return {
    fields: missing(wanted.fields, values),
    addTags: wanted.tags.filter((tag) => !ticket.tags.includes(tag)),
    // `no-answer` does not replace the answer of an earlier closing.
    removeTags: wanted.tags.includes('fb_answered') ? ticket.tags.filter(isOutdated) : [],
  };
}

export const sizeOf = ({ fields, addTags, removeTags }: Change): number =>
  fields.length + addTags.length + removeTags.length;

/** The fields that don't hold their values. */
export function missing(fields: readonly WantedField[], values: Values): WantedField[] {
  return fields.filter((field) => !holds(field, values(field.id)));
}

/** Findings for the values that Zendesk didn't store: a dropdown silently drops a value that is no option's tag. */
export function findingsOn(wanted: Wanted, ticket: Ticket): string[] {
  return [...notTaken(wanted.fields, valuesOf(ticket), ticketField), ...wanted.unfit];
}

/** For tags that are missing again: triggers that act on a tag usually remove it, so no person has to act. */
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

/** Zendesk returns numbers as strings or numbers, texts with other white space, dates with a time, an empty checkbox as null. */
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
 * May the note of this answer be on the ticket already, from an attempt with an unknown outcome? Fields, tags and note of an
 * attempt arrive together, so any field or tag that stays is a sign; a dropdown is not (a value without an option is dropped).
 * Without such signs: only if the ticket changed since the answer, with five minutes for the difference between Zendesk's clock
 * and the Feedback service's.
 */
export function mayHaveNote(wanted: Wanted, ticket: Ticket, answeredAt: Date): boolean {
  const marks = wanted.fields.filter(({ type, value }) => value !== null && !choices.has(type));
  if (marks.length === 0 && wanted.tags.length === 0) {
    return Date.parse(ticket.updated_at) >= answeredAt.getTime() - 5 * 60_000;
  }
  return missing(marks, valuesOf(ticket)).length < marks.length || wanted.tags.some((tag) => ticket.tags.includes(tag));
}

export function notFound({ recordId }: WriteBack): WriteResult {
  return { ok: false, why: 'not-found', message: `Zendesk ticket ${recordId} does not exist any more.` };
}

/** @param tried the other places that were tried, and why they failed */
export function closed({ recordId }: WriteBack, tried: readonly string[] = []): WriteResult {
  const message = [
    `Zendesk ticket ${recordId} is closed and can't be changed; a longer time before closing (automation "Close ticket") leaves room for late answers, writeBack.whenClosed names other places.`,
    ...tried,
  ].join(' ');
  return { ok: false, why: 'closed', message };
}
