import type { WriteBack } from '../../core/connector/contract.ts';
import type { ZendeskSettings } from './settings.ts';
import { answerValue } from './survey.ts';
import { type MainPart, type Part, parts, questionOf, type Target, type Targets } from './targets.ts';
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
  part: Part;
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

/** Tags of earlier answers. A follow-up ticket begins with those of its parent. */
const outdated = /^fb_(grade_\d+|no_answer)$/;

const choices = new Set(['tagger', 'dropdown', 'multiselect']);

/** What `item` should put on its ticket. An answer without a grade or comment clears the field: the newest version wins. */
export function wantedOf(item: WriteBack, settings: WriteBackSettings, targets: Targets): Wanted {
  const unfit = surveyFields(item, targets).unfit.map(
    ({ part, id, type }) =>
      `the survey's answer does not fit into the ticket field ${id} (writeBack.${part}) of type ${type}: name a text field.`,
  );
  return {
    fields: wantedFields(item, settings, targets),
    tags: settings.tags ? tagsFor(item) : [],
    ...(unfit.length > 0 ? { unfit } : {}),
  };
}

/** The fields alone. That no answer came says `status`; an earlier answer stays as it is. */
export function wantedFields(item: WriteBack, settings: WriteBackSettings, targets: Targets): WantedField[] {
  const written: readonly MainPart[] = item.outcome === 'answered' ? parts : ['status'];
  const main = written.flatMap((part): WantedField[] => {
    const target = targets[part];
    return target === undefined ? [] : [{ part, ...target, value: valueFor(part, target.type, item, settings) }];
  });
  return [...main, ...surveyFields(item, targets).fitting];
}

/** Answers to a survey, by whether the field of their question can hold them. Questions that nobody answered stay as they are. */
function surveyFields(item: WriteBack, targets: Targets): { fitting: WantedField[]; unfit: WantedField[] } {
  const all = Object.entries(item.answers ?? {}).flatMap(([question, answer]): [WantedField, boolean][] => {
    const part: Part = `answers.${question}`;
    const target = targets[part];
    if (target === undefined) return [];
    const value = answerValue(answer, target);
    return [[{ part, id: target.id, type: target.type, value: value ?? null }, value !== undefined]];
  });
  return {
    fitting: all.flatMap(([field, fits]) => (fits ? [field] : [])),
    unfit: all.flatMap(([field, fits]) => (fits ? [] : [field])),
  };
}

function tagsFor({ outcome, grade }: WriteBack): string[] {
  if (outcome === 'no-answer') return ['fb_no_answer'];
  return ['fb_answered', ...(grade === null ? [] : [`fb_grade_${grade}`])];
}

function valueFor(part: MainPart, type: string, item: WriteBack, settings: WriteBackSettings): FieldValue {
  switch (part) {
    case 'grade':
      return gradeValue(item.grade, type, settings.gradeValues);
    case 'comment':
      return clipped(item.comment);
    case 'answeredAt':
      return type === 'date' ? dayOf(item.answeredAt) : item.answeredAt.toISOString();
    case 'status':
      return statusValue(item.outcome, type, settings.statusValues);
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

/** Zendesk takes 65,536 characters in a field or comment; some are left for what stands around them in a note. */
export function clipped(text: string | null): string | null {
  return text === null || text.length <= 60_000 ? text : `${text.slice(0, 60_000)} …`;
}

/**
 * Is there a later answer already? Only the field for the time of the answer can tell: by the day where it is a date.
 * An older answer (a first try that was held up, another ticket of the same person) must never replace a newer one.
 */
export function holdsNewer(item: WriteBack, { answeredAt }: Targets, values: Values): boolean {
  const held = answeredAt === undefined ? null : values(answeredAt.id);
  if (answeredAt === undefined || typeof held !== 'string') return false;
  if (answeredAt.type === 'date') return held.slice(0, 10) > dayOf(item.answeredAt);
  return Date.parse(held) > item.answeredAt.getTime();
}

/** What is still missing on `ticket`. Never its status, and never `tags` as a whole, which would replace everybody's. */
export function changeFor(wanted: Wanted, ticket: Ticket): Change {
  const values = valuesOf(ticket);
  // A dropdown's value is a tag as well, and goes when the field changes; taking the tag away would clear the field.
  const fieldTags = wanted.fields.flatMap(({ id }) => values(id));
  const isOutdated = (tag: string): boolean =>
    outdated.test(tag) && !wanted.tags.includes(tag) && !fieldTags.includes(tag);
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
  return [...refusals(wanted.fields, valuesOf(ticket), 'writeBack', 'ticket field'), ...(wanted.unfit ?? [])];
}

/** Tags that are gone again: a trigger that acts upon a tag takes it off as a rule, so that nobody has to do anything. */
export function remarksOn(wanted: Wanted, ticket: Ticket): string[] {
  const lost = wanted.tags.filter((tag) => !ticket.tags.includes(tag));
  return lost.length === 0
    ? []
    : [`the tags ${lost.join(', ')} are not on the ticket; a trigger may take them off again.`];
}

/** @param at The setting the fields come from. @param kind What Zendesk calls such a field. */
export function refusals(fields: readonly WantedField[], values: Values, at: string, kind: string): string[] {
  return missing(fields, values).map(({ part, id, type, value }) => {
    const where = `${kind} ${id} (${at}.${part})`;
    if (!choices.has(type)) return `${where} did not keep its value: look for a trigger or another app that sets it.`;
    if (questionOf(part) !== undefined) return `${where} has no option for this answer: add it, or name a text field.`;
    const setting = part === 'grade' ? 'gradeValues' : 'statusValues';
    return `${where} has no option with the tag "${String(value)}": add the option, or name an existing tag in writeBack.${setting}.`;
  });
}

/** Numbers come back as text or number, texts perhaps with other white space, dates with a time, an empty checkbox as null. */
function holds({ type, value }: WantedField, given: FieldValue): boolean {
  const empty = (one: FieldValue): boolean =>
    one === null || one === '' || one === false || (Array.isArray(one) && one.length === 0);
  if (empty(value) || empty(given)) return empty(value) && empty(given);
  if (type === 'integer' || type === 'decimal') return Number(given) === Number(value);
  if (type === 'date') return String(given).slice(0, 10) === value;
  return plain(given) === plain(value);
}

const plain = (value: FieldValue): string => String(value).replace(/\s+/g, ' ').trim();

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
