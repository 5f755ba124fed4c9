import type { WriteBack } from '../../core/connector.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Catalogue } from './fields.ts';
import type { ZendeskSettings } from './settings.ts';
import type { FieldValue, Ticket } from './ticket.ts';

type WriteBackSettings = ZendeskSettings['writeBack'];
type Part = 'grade' | 'comment' | 'answeredAt';

/** What a ticket should look like once an answer is on it. */
export interface Wanted {
  fields: WantedField[];
  tags: string[];
}

export interface WantedField {
  part: Part;
  id: string;
  type: string;
  value: FieldValue;
}

/** What has to be sent so that a ticket looks like that. */
export interface Change {
  fields: WantedField[];
  addTags: string[];
  removeTags: string[];
}

const gradeTag = /^fb_grade_\d+$/;

/** Field types that can take each part. Text of every kind takes anything. */
const fitting: Record<Part, ReadonlySet<string>> = {
  grade: new Set(['integer', 'decimal', 'text', 'textarea', 'regexp', 'tagger', 'multiselect', 'checkbox']),
  comment: new Set(['text', 'textarea']),
  answeredAt: new Set(['date', 'text', 'textarea']),
};

/** Names configured fields that don't exist, are switched off, or can't hold what they should; undefined when all is well. */
export function misfit(settings: WriteBackSettings, { byId }: Catalogue): string | undefined {
  for (const part of ['grade', 'comment', 'answeredAt'] as const) {
    const id = settings[part];
    if (id === undefined) continue;
    const field = byId.get(id);
    const where = `writeBack.${part}: ticket field ${id}`;
    if (field === undefined)
      return `${where} does not exist; take the id from Admin Center > Objects and rules > Tickets > Fields.`;
    if (field.active === false) return `${where} is inactive; activate it in Admin Center.`;
    if (!fitting[part].has(field.type)) {
      return `${where} has the type ${field.type}; it must be one of ${[...fitting[part]].join(', ')}.`;
    }
  }
  return undefined;
}

/** What `item` should put on its ticket. An answer without a grade or comment clears the field: the newest version wins. */
export function wantedOf(item: WriteBack, settings: WriteBackSettings, { byId }: Catalogue): Wanted {
  const values: [Part, (type: string) => FieldValue][] = [
    ['grade', (type) => gradeValue(item.grade, type, settings.gradeValues)],
    ['comment', () => clipped(item.comment)],
    [
      'answeredAt',
      (type) => (type === 'date' ? item.answeredAt.toISOString().slice(0, 10) : item.answeredAt.toISOString()),
    ],
  ];
  const fields = values.flatMap(([part, valueFor]) => {
    const field = byId.get(settings[part] ?? '');
    return field === undefined ? [] : [{ part, id: field.id, type: field.type, value: valueFor(field.type) }];
  });
  const tags = settings.tags ? ['fb_answered', ...(item.grade === null ? [] : [`fb_grade_${item.grade}`])] : [];
  return { fields, tags };
}

function gradeValue(grade: number | null, type: string, gradeValues: Readonly<Record<string, string>>): FieldValue {
  if (grade === null) return type === 'checkbox' ? false : null;
  const mapped = gradeValues[String(grade)];
  if (type === 'checkbox') return mapped === undefined ? grade > 0 : mapped === 'true';
  if (type === 'integer' || type === 'decimal') return grade;
  const text = mapped ?? String(grade);
  return type === 'multiselect' ? [text] : text;
}

/** Zendesk takes 65,536 characters in a field or comment; some are left for what stands around them in a note. */
export function clipped(text: string | null): string | null {
  return text === null || text.length <= 60_000 ? text : `${text.slice(0, 60_000)} …`;
}

/** What is still missing on `ticket`. Never its status, and never `tags` as a whole, which would replace everybody's. */
export function changeFor(wanted: Wanted, ticket: Ticket): Change {
  const addTags = wanted.tags.filter((tag) => !ticket.tags.includes(tag));
  // A dropdown's value is a tag as well, and goes when the field changes; taking the tag away would clear the field.
  const fieldTags = wanted.fields.flatMap(({ id }) => valueOn(ticket, id));
  const isOurs = (tag: string): boolean => gradeTag.test(tag) && !wanted.tags.includes(tag) && !fieldTags.includes(tag);
  return {
    fields: wanted.fields.filter((field) => !holds(ticket, field)),
    addTags,
    removeTags: wanted.tags.length === 0 ? [] : ticket.tags.filter(isOurs),
  };
}

/** What Zendesk didn't take, in words for the operator. A dropdown value that is no option's tag is dropped without an error. */
export function findingsOn(wanted: Wanted, ticket: Ticket): string[] {
  const refused = wanted.fields.filter((field) => !holds(ticket, field)).map(findingOf);
  const missing = wanted.tags.filter((tag) => !ticket.tags.includes(tag));
  return missing.length === 0
    ? refused
    : [...refused, `the tags ${missing.join(', ')} are not on the ticket; a trigger may take them off again.`];
}

function findingOf({ part, id, type, value }: WantedField): string {
  const where = `ticket field ${id} (writeBack.${part})`;
  if (part === 'grade' && (type === 'tagger' || type === 'multiselect')) {
    return `${where} has no option with the tag "${String(value)}": add the option, or name an existing tag in writeBack.gradeValues.`;
  }
  return `${where} did not keep its value: look for a trigger or another app that sets it.`;
}

/** Numbers come back as text or number, texts perhaps with other white space, an empty checkbox as null or false. */
function holds(ticket: Ticket, { id, type, value }: WantedField): boolean {
  const given = valueOn(ticket, id);
  const empty = (one: FieldValue): boolean =>
    one === null || one === '' || one === false || (Array.isArray(one) && one.length === 0);
  if (empty(value) || empty(given)) return empty(value) && empty(given);
  if (type === 'integer' || type === 'decimal') return Number(given) === Number(value);
  return plain(given) === plain(value);
}

const plain = (value: FieldValue): string => String(value).replace(/\s+/g, ' ').trim();

function valueOn(ticket: Ticket, id: string): FieldValue {
  return ticket.custom_fields.find((field) => field.id === id)?.value ?? null;
}

/** Fields that don't fit stop this source until somebody corrects the configuration or the account. */
export function configError(subdomain: string, why: string): CloseloopError {
  return new CloseloopError(`Zendesk ${subdomain}: ${why}`, { kind: 'config' }, { outcome: 'never-sent' });
}

/**
 * Can the note of this answer be on the ticket already, from an attempt whose outcome we never learnt?
 * Fields, tags and note of an attempt arrive together, so any of its lasting marks says yes. A dropdown is no such mark
 * (a value without an option is dropped). Without marks: only if anything changed the ticket since the answer,
 * give or take five minutes between Zendesk's clock and the Feedback service's.
 */
export function mayHaveNote(wanted: Wanted, ticket: Ticket, answeredAt: Date): boolean {
  const marks = wanted.fields.filter(
    ({ type, value }) => value !== null && type !== 'tagger' && type !== 'multiselect',
  );
  if (marks.length === 0 && wanted.tags.length === 0) {
    return Date.parse(ticket.updated_at) >= answeredAt.getTime() - 5 * 60_000;
  }
  return marks.some((field) => holds(ticket, field)) || wanted.tags.some((tag) => ticket.tags.includes(tag));
}
