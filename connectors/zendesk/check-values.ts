import type { Finding, WriteBack } from '../../core/connector/contract.ts';
import { wantedFields } from './answer.ts';
import type { ZendeskSettings } from './settings.ts';
import { obstacle, type TagOwners } from './tags.ts';
import type { Part } from './targets.ts';

type WriteBackSettings = ZendeskSettings['writeBack'];

/** A field of tickets, of users or of a custom object. */
export interface Taker {
  type: string;
  regexp_for_validation?: string | null | undefined;
  custom_field_options?: readonly { value: string }[] | null | undefined;
}

/** Where a part of an answer goes: `name` as a person finds it, `place` where it is changed. */
export interface Spot {
  part: Part;
  at: string;
  name: string;
  place: string;
}

/**
 * Does the field take what we would write? A dropdown drops a value without an error.
 * @param owners Of tags that it can't be given.
 */
export function valueFindings(
  { part, at, name, place }: Spot,
  field: Taker,
  settings: WriteBackSettings,
  grades: readonly number[],
  owners: TagOwners,
): Finding[] {
  const error = (problem: string, remedy: string, where = at): Finding[] => [
    { level: 'error', at: where, problem, remedy },
  ];
  const missing = missingOptions(part, field, settings, grades);
  if (missing.length > 0) {
    const values = part === 'grade' ? 'gradeValues' : 'statusValues';
    const lacks = `${name} has no option with the tag ${missing.map((tag) => `"${tag}"`).join(', ')}: Zendesk drops such a value without an error`;
    const obstacles = missing.flatMap((tag) => obstacle(tag, owners) ?? []);
    if (obstacles.length > 0) {
      const other = part === 'grade' ? 'a number field' : 'a text field';
      return error(
        `${lacks}; it can't be added: ${obstacles.join('; ')}`,
        `Name other tags in writeBack.${values} and run "closeloop setup", or name ${other} (${place})`,
      );
    }
    return error(
      lacks,
      `Run "closeloop setup", add the options yourself (${place}), or name existing tags in writeBack.${values}`,
    );
  }
  if (part !== 'grade') return [];
  const mapped = Object.values(settings.gradeValues);
  if (field.type === 'checkbox' && mapped.some((value) => value !== 'true' && value !== 'false')) {
    const remedy = 'Write "true" or "false" after each grade';
    return error(`${name} is a checkbox, which takes "true" and "false" only`, remedy, 'writeBack.gradeValues');
  }
  if (field.type === 'regexp') {
    const refused = written(part, field.type, settings, grades).filter((text) => !fits(field, text));
    if (refused.length === 0) return [];
    return error(
      `the pattern of ${name} does not allow ${refused.map((text) => `"${text}"`).join(', ')}`,
      `Correct the pattern (${place}), or write what it allows in writeBack.gradeValues`,
    );
  }
  return [];
}

/** The tags that a dropdown should have and has not; none for another field. */
export function missingOptions(
  part: Part,
  field: Taker,
  settings: WriteBackSettings,
  grades: readonly number[],
): string[] {
  if (!['tagger', 'dropdown', 'multiselect'].includes(field.type)) return [];
  if (part !== 'grade' && part !== 'status') return [];
  const held = new Set(field.custom_field_options?.map(({ value }) => value));
  return written(part, field.type, settings, grades).filter((tag) => !held.has(tag));
}

/** All values, as texts, that write-backs will put into a field of this type: by the code that writes them. */
export function written(
  part: 'grade' | 'status',
  type: string,
  settings: WriteBackSettings,
  grades: readonly number[],
): string[] {
  const answer = { recordId: '', marker: '', campaign: '', comment: null, answeredAt: new Date(0) };
  const answers: WriteBack[] =
    part === 'grade'
      ? grades.map((grade) => ({ ...answer, outcome: 'answered', grade }))
      : [
          { ...answer, outcome: 'answered', grade: null },
          ...(settings.noAnswer ? [{ ...answer, outcome: 'no-answer' as const, grade: null }] : []),
        ];
  const values = answers.flatMap((item) => wantedFields(item, settings, { [part]: { id: part, type } }));
  return [...new Set(values.map(({ value }) => String(value)))];
}

/** Zendesk's patterns are Ruby's; what JavaScript can't read is left to Zendesk. */
function fits({ regexp_for_validation: pattern }: Taker, text: string): boolean {
  if (pattern == null) return true;
  try {
    return new RegExp(pattern.replaceAll('\\A', '^').replaceAll(/\\[zZ]/g, '$')).test(text);
  } catch {
    return true;
  }
}
