import { type AnswerPart, cut, isOutdated, isSameText, placed, surveyText } from '../../core/connector/answer.ts';
import type { WriteBack } from '../../core/connector/contract.ts';
import { time } from './conversation.ts';
import type { IntercomSettings } from './settings.ts';

type Settings = IntercomSettings['writeBack'];
export type Value = string | number | null;
/** By the names of their attributes. */
export type Values = ReadonlyMap<string, Value>;
/** The attributes of a conversation or a ticket, by name. */
export type Current = Readonly<Record<string, unknown>>;

/** What an answer puts into which attribute; null: nothing. */
export function wantedOf(item: WriteBack, settings: Settings): Values {
  const values = placed(item, settings, (part) => written(part, settings));
  return new Map(values.map(({ place, value }) => [place, value]));
}

function written({ part, value }: AnswerPart, { commentLength }: Settings): Value {
  if (value === null || value === '') return null;
  if (value instanceof Date) return Math.floor(value.getTime() / 1_000);
  return part === 'grade' ? Number(value) : cut(surveyText(value), commentLength);
}

/** Intercom gives dates back as they were sent, or as text. */
export function holds(current: Current, name: string, value: Value): boolean {
  const there = current[name];
  if (value === null) return there === null || there === undefined || there === '';
  if (typeof value === 'string') return typeof there === 'string' && isSameText(there, value);
  return there === value || (typeof there === 'string' && [Number(there), time.parse(there)].includes(value));
}

export const holdsLater = (item: WriteBack, current: Current, settings: Settings): boolean =>
  isOutdated(
    item,
    settings,
    (name) => current[name],
    (at) => (time.parse(at) ?? Number.NaN) * 1_000,
  );
