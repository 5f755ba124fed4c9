import type { AnswerValue, Source, WriteBack, WriteResult } from './contract.ts';

/* The parts of an answer, and the rules of writing them that hold at every vendor. Pure: nothing here sends a request. */

/** `answers.17`: the answer to question 17 of a survey. Settings name the places of answers by the same names. */
export type PartName = 'grade' | 'comment' | 'answeredAt' | 'status' | `answers.${string}`;

/** One part of an answer. A null grade or comment clears the earlier value, because the newest answer counts. */
export type AnswerPart =
  | { part: 'grade'; value: number | null }
  | { part: 'comment'; value: string | null }
  | { part: 'answeredAt'; value: Date }
  | { part: 'status'; value: WriteBack['status'] }
  | { part: `answers.${string}`; value: AnswerValue };

/** The parts to write. `no-answer` changes the status alone; places of unanswered questions keep their values. */
export function partsOf({ status: value, grade, comment, answeredAt, answers = {} }: WriteBack): AnswerPart[] {
  const status: AnswerPart = { part: 'status', value };
  if (value === 'no-answer') return [status];
  return [
    { part: 'grade', value: grade },
    { part: 'comment', value: comment },
    { part: 'answeredAt', value: answeredAt },
    status,
    ...Object.entries(answers).map(([question, value]): AnswerPart => ({ part: `answers.${question}`, value })),
  ];
}

/** The places of an answer's parts, as `writeBack` in the settings names them: properties, ids of fields, keys. */
export interface AnswerPlaces<Place> {
  grade?: Place | undefined;
  comment?: Place | undefined;
  answeredAt?: Place | undefined;
  status?: Place | undefined;
  /** Places of the answers to a survey, by question id. */
  answers?: Readonly<Record<string, Place>> | undefined;
}

/** The configured places by part of the answer. */
export function placesOf<Place>({ answers = {}, ...places }: AnswerPlaces<Place>): Map<PartName, Place> {
  const found = new Map<PartName, Place>();
  for (const part of ['grade', 'comment', 'answeredAt', 'status'] as const) {
    const place = places[part];
    if (place !== undefined) found.set(part, place);
  }
  for (const [question, place] of Object.entries(answers)) found.set(`answers.${question}`, place);
  return found;
}

/** The value that a place has to hold for a part of an answer. */
export interface PlacedValue<Place, Value> {
  part: PartName;
  place: Place;
  value: Value;
}

/** The answer's values for the places that the settings name, in the vendor's own form. @param written converts a part to that form */
export function placed<Place, Value>(
  item: WriteBack,
  places: AnswerPlaces<Place>,
  written: (part: AnswerPart) => Value,
): PlacedValue<Place, Value>[] {
  const byPart = placesOf(places);
  return partsOf(item).flatMap((one) => {
    const place = byPart.get(one.part);
    return place === undefined ? [] : [{ part: one.part, place, value: written(one) }];
  });
}

export const isSurveyPart = (part: PartName): part is `answers.${string}` => part.startsWith('answers.');

/** A survey's answer as text. */
export const surveyText = (answer: AnswerValue, between = ', '): string =>
  Array.isArray(answer) ? answer.join(between) : String(answer);

const cutMark = '… (cut)';

/** Cuts the text to `mostUnits` UTF-16 units with a mark at its end, and never within a surrogate pair. */
export function cut(text: string, mostUnits: number): string {
  if (text.length <= mostUnits) return text;
  return text.slice(0, mostUnits - cutMark.length).replace(/[\uD800-\uDBFF]$/, '') + cutMark;
}

/** Compares texts without regard to white space, as vendors trim texts and write line ends their own way. */
export function isSameText(one: string, other: string): boolean {
  const plain = (text: string): string => text.replace(/\s+/g, ' ').trim();
  return plain(one) === plain(other);
}

/** Compares values of a vendor that stores every value as text. Numbers and times may come back in another form. */
export function isSameValue(current: string, wanted: string): boolean {
  if (isSameText(current, wanted)) return true;
  if (/^-?\d+(\.\d+)?$/.test(wanted)) return current.trim() !== '' && Number(current) === Number(wanted);
  return /^\d{4}-\d\d-\d\dT/.test(wanted) && instantOf(current) === Date.parse(wanted);
}

/** Epoch ms of a time in ISO 8601 or in epoch ms. */
export function instantOf(text: string | null | undefined): number | undefined {
  const ms = /^\d{11,15}$/.test(text ?? '') ? Number(text) : Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

/** The tags for an answer on a record. */
export function tagsOf({ status, grade }: Pick<WriteBack, 'status' | 'grade'>): string[] {
  if (status === 'no-answer') return ['fb_no_answer'];
  return [answeredTag, ...(grade === null ? [] : [gradeTag + grade])];
}

export const answeredTag = 'fb_answered';
const gradeTag = 'fb_grade_';

/** Whether `tagsOf` gives this tag for some answer. A grade may be any number: 9, 2.5. */
export function isAnswerTag(tag: string): boolean {
  if (!tag.startsWith(gradeTag)) return tag === answeredTag || tag === 'fb_no_answer';
  const digits = tag.slice(gradeTag.length);
  return Number.isFinite(Number(digits)) && String(Number(digits)) === digits;
}

/** A note, without markup. */
interface AnswerNote {
  /** '' for no title; so `when`. */
  title: string;
  /** '' for no comment. */
  comment: string;
  when: string;
  /** The last line, which identifies the note: nothing else on a record distinguishes the notes of two answers. */
  reference: string;
}

/** A note of an action, with the text that an answer rule gives. */
export interface ActionNote {
  text: string;
  marker: string;
}

/** The subject of a note: an answer, or an action. */
export type Noted = WriteBack | ActionNote;

export function noteOf(about: Noted): AnswerNote {
  if (!('text' in about)) return answerNote(about);
  return { title: '', comment: about.text.trim(), when: '', reference: referenceBegin + about.marker };
}

function answerNote({ status, grade, maxGrade, comment, campaign, answeredAt, marker }: WriteBack): AnswerNote {
  const at = `${answeredAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const reference = referenceBegin + marker;
  if (status === 'no-answer') {
    return {
      title: `No answer to the feedback request (${campaign})`,
      comment: '',
      when: `Waited for until ${at}`,
      reference,
    };
  }
  const given = grade === null ? 'no grade' : `${grade}${maxGrade === undefined ? '' : ` of ${maxGrade}`}`;
  const title = `Customer feedback: ${given} (${campaign})`;
  return { title, comment: comment ?? '', when: `Answered ${at}`, reference };
}

const escapes = new Map(Object.entries({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }));

/** Escapes a text that stands between tags. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => escapes.get(sign) ?? sign);

/** The note as plain text, for the record's staff. @param mostUnits the longest comment */
export function noteText(about: Noted, mostUnits = mostNoteUnits): string {
  const { title, comment, when, reference } = noteOf(about);
  const parts = [title, cut(comment, mostUnits), when === '' ? reference : `${when}\n${reference}`];
  return parts.filter((part) => part !== '').join(comment === '' ? '\n' : '\n\n');
}

/** The note in HTML, with the customer's words escaped. @param mostUnits the longest whole note */
export function noteHtml(about: Noted, mostUnits = mostNoteUnits): string {
  const { title, comment, when, reference } = noteOf(about);
  const start = title === '' ? '' : `<p><strong>${escapeHtml(title)}</strong></p>`;
  const end = `${when === '' ? '' : `<p>${escapeHtml(when)}</p>`}<p>${escapeHtml(reference)}</p>`;
  if (comment === '') return start + end;
  return `${start}<p>${escapedWithin(comment, mostUnits - start.length - end.length - '<p></p>'.length)}</p>${end}`;
}

/** The length that notes of most vendors can hold, in UTF-16 units. */
const mostNoteUnits = 65_000;

/** Escapes the text and cuts it to fit, with a mark; never within a character or its escape. */
function escapedWithin(text: string, mostUnits: number): string {
  const whole = escapeHtml(text).replace(/\r\n?|\n/g, '<br>');
  if (whole.length <= mostUnits) return whole;
  let kept = '';
  for (const sign of text) {
    const next = sign === '\n' ? '<br>' : escapeHtml(sign);
    if (kept.length + next.length > mostUnits - cutMark.length) break;
    kept += next;
  }
  return kept + cutMark;
}

/** The lines of a note in HTML or plain text, whatever the vendor has made of the markup, without blank lines. */
export const linesOf = (note: string): string[] =>
  note
    // A tag ends before the next "<": a thousand "<" without an end would each be searched to the end of the note.
    .split(/<[^<>]*>|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The marker of closeloop's note, whose last line is its reference; undefined for any other note. */
export const markerOf = (note: string): string | undefined => markerIn(linesOf(note).at(-1) ?? '');

const referenceBegin = 'closeloop ref ';

/** The marker of the note that ends with this line; undefined: the line is not a reference. The whole line counts, as `7.1` is not `7.12`. */
export function markerIn(line: string): string | undefined {
  const text = line.trim();
  return text.startsWith(referenceBegin) ? text.slice(referenceBegin.length) : undefined;
}

/** @param currentAt epoch ms of the answer on the record; undefined or NaN where unknown */
export function isOlderThan({ answeredAt }: Pick<WriteBack, 'answeredAt'>, currentAt: number | undefined): boolean {
  return currentAt !== undefined && currentAt > answeredAt.getTime();
}

/**
 * Whether closeloop must not write this answer, because the record holds a later answer (for `no-answer`: any answer).
 * @param currentAt what the record holds at a place; null, undefined or '' for nothing
 * @param instantOf reads the epoch ms of the time in the record
 */
export function isOutdated<Place>(
  item: WriteBack,
  { grade, comment, answeredAt, status }: AnswerPlaces<Place>,
  currentAt: (place: Place) => unknown,
  instantOf: (current: unknown) => number | undefined = (current) => Date.parse(String(current)),
): boolean {
  const at = (place: Place | undefined): unknown => (place === undefined ? undefined : currentAt(place));
  if (item.status === 'answered') return isOlderThan(item, instantOf(at(answeredAt)));
  return at(status) === 'answered' || [grade, comment].some((place) => (at(place) ?? '') !== '');
}

/** The line for the trace: an older answer never replaces a newer one. */
export const newerStays = (record: string): string => `the ${record} holds a newer answer, which stays`;

/** The result for an answer that is not written because the record holds a newer answer. */
export const notOverNewer = (record: string): WriteResult => ({
  ok: true,
  findings: [],
  unwritten: newerStays(record),
});

/** Whether these settings write any part of an answer on the record: at a place, in a note, or as tags. */
export function takesAnswers<Place>(writeBack: AnswerPlaces<Place> & { note?: boolean; tags?: boolean }): boolean {
  return placesOf(writeBack).size > 0 || writeBack.note === true || writeBack.tags === true;
}

/** The `writeBack` of a source whose settings name no place for answers: writes nothing, and the result says so. */
export const keepHere: Source['writeBack'] = async (items) =>
  items.map(() => ({ ok: true, findings: [], unwritten: 'the source has no writeBack' }));

/** The newest item of each key; among items with the same time the last in the list. */
export function newestBy<T>(items: Iterable<T>, keyOf: (item: T) => string, timeOf: (item: T) => Date): Map<string, T> {
  const newest = new Map<string, T>();
  for (const item of items) {
    const other = newest.get(keyOf(item));
    if (other === undefined || timeOf(other) <= timeOf(item)) newest.set(keyOf(item), item);
  }
  return newest;
}
