import type { AnswerValue, WriteBack } from '../../core/connector/contract.ts';
import type { Properties } from './objects.ts';
import type { HubSpotSettings } from './settings.ts';

/** HubSpot's limit for text is 65,536 UTF-16 code units; this leaves room for the mark. */
export const maxTextUnits = 65_000;
const cutMark = '… (cut)';

/** The values of the status property, its options' internal names. */
export const statusValues = { answered: 'answered', 'no-answer': 'no_answer' } as const;

type Names = Partial<Pick<HubSpotSettings['writeBack'], 'grade' | 'comment' | 'answeredAt' | 'status' | 'answers'>>;

/**
 * An answer as properties. HubSpot takes text only: a number as digits, an instant as ISO 8601 UTC, '' to clear. That no
 * answer came goes into the status alone: what the record says of an earlier closing stays.
 */
export function propertiesOf(item: WriteBack, names: Names): Record<string, string> {
  const status = { ...(names.status && { [names.status]: statusValues[item.outcome] }) };
  if (item.outcome === 'no-answer') return status;
  return {
    ...(names.grade && { [names.grade]: item.grade === null ? '' : String(item.grade) }),
    ...(names.comment && { [names.comment]: cut(item.comment ?? '', maxTextUnits) }),
    ...(names.answeredAt && { [names.answeredAt]: item.answeredAt.toISOString() }),
    ...status,
    ...surveyProperties(item, names.answers ?? {}),
  };
}

/** Questions that nobody answered stay as they are. */
function surveyProperties(
  { answers = {} }: WriteBack,
  names: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([question, name]) => {
      const answer = answers[question];
      return answer === undefined ? [] : [[name, cut(answerText(answer), maxTextUnits)]];
    }),
  );
}

/** A choice of several takes its values with `;` between them, and text is read as well so. */
function answerText(answer: AnswerValue): string {
  return Array.isArray(answer) ? answer.join(';') : String(answer);
}

/** Never in the middle of a surrogate pair. */
export function cut(text: string, maxUnits: number): string {
  if (text.length <= maxUnits) return text;
  const kept = text.slice(0, maxUnits - cutMark.length).replace(/[\uD800-\uDBFF]$/, '');
  return kept + cutMark;
}

/** What the record holds now, against what was sent; a property that is nowhere told holds nothing. */
export function notTaken(sent: Record<string, string>, held: Properties): string[] {
  return Object.entries(sent).flatMap(([name, value]) => {
    if (sameValue(value, held[name] ?? '')) return [];
    return [`HubSpot holds another value in ${name} than was sent: check the property's type and rules`];
  });
}

/** HubSpot may write the same value another way. */
export function sameValue(sent: string, held: string): boolean {
  const plain = (text: string) => text.replace(/\r\n?/g, '\n').trim();
  if (plain(sent) === plain(held)) return true;
  if (sent === '' || held === '') return false;
  if (Number(sent) === Number(held)) return true;
  return instant(sent) !== undefined && instant(sent) === instant(held);
}

/** ISO 8601 or epoch ms, which are both HubSpot's. */
export function instant(text: string | null | undefined): number | undefined {
  const ms = /^\d{11,15}$/.test(text ?? '') ? Number(text) : Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

/** Does the record hold an answer that is later than this one? It stays. */
export function holdsLater({ answeredAt }: WriteBack, name: string | undefined, held: Properties | undefined): boolean {
  const at = name === undefined ? undefined : instant(held?.[name]);
  return at !== undefined && at > answeredAt.getTime();
}

export const laterStays = (word: string) => `the ${word} holds a later answer already, which stays`;
