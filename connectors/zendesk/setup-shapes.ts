import { written } from './check-values.ts';
import type { ZendeskSettings } from './settings.ts';
import { obstacle, type TagOwners } from './tags.ts';
import { isMain, type MainPart, type Part } from './targets.ts';

type WriteBackSettings = ZendeskSettings['writeBack'];

/** What a new field is. */
export interface Shape {
  type: string;
  custom_field_options?: NewOption[];
}

export interface NewOption {
  name: string;
  value: string;
}

/** What agents read above a field that the configuration names by its key. */
export const titles: Readonly<Record<MainPart, string>> = {
  grade: 'Feedback grade',
  comment: 'Feedback comment',
  answeredAt: 'Feedback answered at',
  status: 'Feedback status',
};

/**
 * A ticket field that suits a part. A grade is a number, so that reports can count with it, unless `gradeValues` gives it
 * tags; text, where a dropdown can't have those.
 */
export function ticketShape(
  part: Part,
  settings: WriteBackSettings,
  grades: readonly number[],
  owners: TagOwners,
): Shape {
  if (part !== 'grade' && part !== 'status') return keyedShape(part);
  const mapped = Object.values(settings.gradeValues);
  if (part === 'grade' && mapped.length === 0) return { type: 'integer' };
  if (part === 'grade' && mapped.every((value) => value === 'true' || value === 'false')) return { type: 'checkbox' };
  const known = grades.length > 0 ? grades : Object.keys(settings.gradeValues).map(Number);
  const tags = written(part, 'tagger', settings, known);
  if (tags.some((tag) => obstacle(tag, owners) !== undefined)) return { type: 'text' };
  return { type: 'tagger', custom_field_options: tags.map((tag) => optionFor(part, tag, settings, known)) };
}

/**
 * A field of users or of a custom object. The grade is a number there, whatever `gradeValues` says: its tags belong to the
 * ticket field, and a person's tags would come onto their next ticket.
 */
export function keyedShape(part: Part): Shape {
  if (part === 'comment' || !isMain(part)) return { type: 'textarea' };
  return { type: part === 'answeredAt' ? 'date' : 'integer' };
}

/** Named as agents would say it: the grades that a tag stands for, or what it says. */
export function optionFor(part: Part, tag: string, settings: WriteBackSettings, grades: readonly number[]): NewOption {
  const meant = grades.filter((grade) => (settings.gradeValues[String(grade)] ?? String(grade)) === tag);
  const words = tag.replace(/^fb_/, '').replaceAll('_', ' ');
  return { name: part === 'grade' && meant.length > 0 ? meant.join(', ') : words, value: tag };
}

export const described = ({ type, custom_field_options: options }: Shape): string =>
  options === undefined ? type : `dropdown: ${options.map(({ value }) => value).join(', ')}`;
