import {
  type ActionNote,
  type AnswerPart,
  cut,
  isAnswerTag,
  isOutdated,
  isSameText,
  isSurveyPart,
  type PartName,
  placed,
  placesOf,
  surveyText,
  tagsOf,
} from '../../core/connector/answer.ts';
import type { AnswerValue, WriteBack } from '../../core/connector/contract.ts';
import { inSeconds } from '../../core/connector/seconds.ts';
import { isBlank } from '../../core/visible-text.ts';
import type { ShopifySettings } from './settings.ts';

type WriteBackSettings = ShopifySettings['writeBack'];

/** Shopify's types of a metafield for grades. */
export type GradeType = 'number_integer' | 'number_decimal';
export const gradeKinds: { whole: GradeType; fraction: GradeType } = {
  whole: 'number_integer',
  fraction: 'number_decimal',
};

/** A metafield that takes a part of an answer. */
export interface Field {
  /** Its place in the settings: `grade`, `answers.q1` … */
  part: PartName;
  key: string;
  type: GradeType | 'multi_line_text_field' | 'date_time' | 'single_line_text_field';
  /** For people. */
  label: string;
}

/** The parts of an order that closeloop writes. */
export interface Current {
  /** By key. */
  values: ReadonlyMap<string, string>;
  /** Of the values, by key: Shopify refuses a write over another value than the one with this digest. */
  digests: ReadonlyMap<string, string>;
  /** The type of the metafield for the grade, as the shop has defined it; undefined where it has not. */
  gradeType?: string | undefined;
  tags: readonly string[];
  note: string;
}

/** The changes that an order needs. Lists may be empty. */
export interface Change {
  /** `digest`: of the value that is replaced; null: there is none. */
  set: { field: Field; value: string; digest: string | null }[];
  unset: Field[];
  addTags: string[];
  removeTags: string[];
  /** The whole note: Shopify can only replace it. */
  note?: string;
}

/** Characters: Shopify's limit of a note, and a length that every metafield takes. */
const limits = { note: 5_000, text: 10_000 };

const kinds = {
  grade: { type: 'number_integer', label: 'Feedback grade' },
  comment: { type: 'multi_line_text_field', label: 'Feedback comment' },
  answeredAt: { type: 'date_time', label: 'Feedback given at' },
  status: { type: 'single_line_text_field', label: 'Feedback status' },
} as const;

/** The metafields that the settings name. */
export const fieldsOf = (settings: WriteBackSettings, gradeType: GradeType = 'number_integer'): Field[] =>
  [...placesOf(settings)].map(([part, key]): Field => {
    if (isSurveyPart(part)) {
      return { part, key, type: 'multi_line_text_field', label: `Feedback: ${part.slice('answers.'.length)}` };
    }
    return { part, key, ...kinds[part], ...(part === 'grade' && { type: gradeType }) };
  });

/** A metafield keeps the type that it was defined or first written with. */
function gradeTypeFor({ grade }: WriteBack, { gradeType }: Current): GradeType {
  if (gradeType !== undefined) return gradeType === 'number_decimal' ? gradeType : 'number_integer';
  return Number.isInteger(grade ?? 0) ? 'number_integer' : 'number_decimal';
}

/** A grade that the shop's metafield can't hold, in words; Shopify would refuse the other metafields with it. */
function unfitGrade(item: WriteBack, settings: WriteBackSettings, current: Current): string | undefined {
  if (settings.grade === undefined || Number.isInteger(item.grade ?? 0)) return undefined;
  if (gradeTypeFor(item, current) === 'number_decimal') return undefined;
  return `the grade ${item.grade} does not fit into metafield ${settings.namespace}.${settings.grade} (writeBack.grade) of type ${current.gradeType}: choose another key, and let "closeloop setup" define the metafield.`;
}

/** As a metafield takes a part; null clears it. */
function written({ part, value }: AnswerPart): string | null {
  if (value instanceof Date) return inSeconds(value);
  if (part === 'status') return value === 'answered' ? 'answered' : 'no answer';
  return textOf(value);
}

/** Does the order hold a later answer, by its metafields or its tags? */
export const holdsLater = (item: WriteBack, settings: WriteBackSettings, { values, tags }: Current): boolean =>
  (item.status === 'no-answer' && tags.includes('fb_answered')) || isOutdated(item, settings, (key) => values.get(key));

/**
 * The changes that put this answer on the order; undefined for none. Tags are added and removed one by one: setting the list would
 * replace the tags of others.
 */
export function changeFor(item: WriteBack, settings: WriteBackSettings, current: Current): Change | undefined {
  const change: Change = { set: [], unset: [], addTags: [], removeTags: [] };
  const wanted = new Map(placed(item, settings, written).map(({ part, value }) => [part, value]));
  const isUnfit = unfitGrade(item, settings, current) !== undefined;
  for (const field of fieldsOf(settings, gradeTypeFor(item, current))) {
    if (isUnfit && field.part === 'grade') continue;
    const [value, now] = [wanted.get(field.part), current.values.get(field.key)];
    if (value === null && now !== undefined) change.unset.push(field);
    if (value != null && (now === undefined || !same(field, now, value))) {
      change.set.push({ field, value, digest: current.digests.get(field.key) ?? null });
    }
  }
  if (settings.tags) {
    const tags = tagsOf(item);
    change.addTags = tags.filter((tag) => !current.tags.includes(tag));
    change.removeTags = current.tags.filter((tag) => isAnswerTag(tag) && !tags.includes(tag));
  }
  const note = settings.note && item.status === 'answered' ? noteWith(item, current.note) : current.note;
  if (note !== current.note) change.note = note;
  const { set, unset, addTags, removeTags } = change;
  const steps = set.length + unset.length + addTags.length + removeTags.length;
  return steps === 0 && change.note === undefined ? undefined : change;
}

/** The changes that remove all of closeloop's values from the order; undefined for none. */
export function removalFrom(settings: WriteBackSettings, current: Current): Change | undefined {
  const unset = fieldsOf(settings).filter(({ key }) => current.values.has(key));
  const removeTags = current.tags.filter((tag) => isAnswerTag(tag));
  const note = current.note.replace(ourLine, '').replace(lineOfAction, '');
  if (unset.length + removeTags.length === 0 && note === current.note) return undefined;
  return { set: [], unset, addTags: [], removeTags, ...(note !== current.note && { note }) };
}

/** Findings for the values that the shop didn't store. */
export function findingsOn(item: WriteBack, settings: WriteBackSettings, current: Current): string[] {
  const unfit = unfitGrade(item, settings, current) ?? [];
  const missing = changeFor(item, settings, current);
  if (missing === undefined) return [unfit].flat();
  const lost = [...missing.set.map(({ field }) => field), ...missing.unset];
  return [
    ...[unfit].flat(),
    ...lost.map(
      ({ part, key }) =>
        `metafield ${settings.namespace}.${key} (writeBack.${part}) did not keep its value: look for another app or a flow that sets it.`,
    ),
    ...(missing.addTags.length + missing.removeTags.length > 0
      ? ['the tags did not stay as written: look for another app or a flow that sets them (an order takes 250).']
      : []),
    ...(missing.note === undefined ? [] : ['the note did not keep its line: somebody changed it at the same time.']),
  ];
}

/** Texts may come back with other white space, times in another zone. */
function same({ type }: Field, current: string, wanted: string): boolean {
  if (type === 'date_time') return Date.parse(current) === Date.parse(wanted);
  return type.startsWith('number_') ? Number(current) === Number(wanted) : isSameText(current, wanted);
}

/** Shopify stores no empty value. */
function textOf(value: AnswerValue | null): string | null {
  const text = surveyText(value ?? '');
  return isBlank(text) ? null : cut(text, limits.text);
}

/** Matches the line of an answer. The next answer replaces it. */
const ourLine = /\n?\[feedback [^[\]\n]* · closeloop [^[\]\n]*\]/g;

/** The note with closeloop's line, which replaces an earlier one. Brackets and line breaks in a comment would hide the line's end. */
function noteWith(item: WriteBack, note: string): string {
  if (note.includes(` · closeloop ${item.marker}]`)) return note;
  const rest = note.replace(ourLine, '');
  const grade = item.grade === null ? '' : ` ${item.grade}${item.maxGrade === undefined ? '' : `/${item.maxGrade}`}`;
  const head = `${rest}${rest === '' ? '' : '\n'}[feedback${grade} (${inLine(item.campaign)}, ${item.answeredAt.toISOString().slice(0, 10)})`;
  const tail = ` · closeloop ${item.marker}]`;
  const room = limits.note - head.length - tail.length - 6;
  if (room < 0) return note; // a full note stays as it is
  return head + (item.comment === null ? '' : `: "${cut(inLine(item.comment), room)}"`) + tail;
}

/** Matches the line of a note that an answer rule has added. Only an erasure takes it off. */
const lineOfAction = /\n?\[note: [^[\]\n]* · closeloop [^[\]\n]*\]/g;

/** The note with a line more, once for each marker; undefined where it has no room. */
export function withLine(note: string, { text, marker }: ActionNote): string | undefined {
  const tail = ` · closeloop ${marker}]`;
  if (note.includes(tail)) return note;
  const head = `${note}${note === '' ? '' : '\n'}[note: `;
  const room = limits.note - head.length - tail.length;
  return room < 20 ? undefined : head + cut(inLine(text), room) + tail;
}

const inLine = (text: string): string => text.replaceAll('[', '(').replaceAll(']', ')').replace(/\s+/g, ' ').trim();
