import {
  type AnswerPart,
  cut,
  isOlderThan,
  isSameText,
  partsOf,
  placesOf,
  surveyText,
} from '../../core/connector/answer.ts';
import type { WriteBack } from '../../core/connector/contract.ts';
import { time } from './conversation.ts';
import type { IntercomSettings } from './settings.ts';

type Settings = IntercomSettings['writeBack'];
type Value = string | number | null;
/** Of a conversation or a ticket, by name. */
export type Held = Readonly<Record<string, unknown>>;

/** What an answer puts into which attribute; null: nothing. */
export function wantedOf(item: WriteBack, settings: Settings): Map<string, Value> {
  const places = placesOf(settings);
  const wanted = new Map<string, Value>();
  for (const part of partsOf(item)) {
    const name = places.get(part.part);
    if (name !== undefined) wanted.set(name, written(part, settings));
  }
  return wanted;
}

function written({ part, value }: AnswerPart, { commentLength }: Settings): Value {
  if (value === null || value === '') return null;
  if (value instanceof Date) return Math.floor(value.getTime() / 1_000);
  return part === 'grade' ? Number(value) : cut(surveyText(value), commentLength);
}

/** Dates come back as they were sent, or as text. */
export function holds(held: Held, name: string, value: Value): boolean {
  const there = held[name];
  if (value === null) return there === null || there === undefined || there === '';
  if (typeof value === 'string') return typeof there === 'string' && isSameText(there, value);
  return there === value || (typeof there === 'string' && [Number(there), time.parse(there)].includes(value));
}

/** Has a later answer, or for `no-answer` any answer, been written here? Then this one stays off. */
export function isOutdated(item: WriteBack, held: Held, { status, grade, comment, answeredAt }: Settings): boolean {
  const has = (name: string | undefined) => name !== undefined && !holds(held, name, null);
  if (item.outcome === 'no-answer')
    return (status !== undefined && held[status] === 'answered') || has(grade) || has(comment);
  const at = answeredAt === undefined ? undefined : time.parse(held[answeredAt]);
  // Whole seconds are held.
  return isOlderThan({ answeredAt: new Date(Math.floor(item.answeredAt.getTime() / 1_000) * 1_000) }, at && at * 1_000);
}
