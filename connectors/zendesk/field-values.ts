import { isSurveyPart, type PartName } from '../../core/connector/answer.ts';
import { errorAt } from '../../core/connector/check.ts';
import type { Finding, WriteBack } from '../../core/connector/contract.ts';
import { fractionsIn, gradeTypes } from '../../core/connector/fields.ts';
import { wantedFields } from './answer.ts';
import { obstacle, type TagOwners } from './fields.ts';
import type { ZendeskSettings } from './settings.ts';
import { ticketField } from './targets.ts';

/* The values that answers put into fields, and the fields that have room for them: for `check` and `setup` alike. */

/** What `check` and `setup` know beside the account. */
export interface ExpectedAnswers {
  writeBack: ZendeskSettings['writeBack'];
  /** The grades of the rules' campaigns; empty where unknown. */
  grades: readonly number[];
}

/** A field of tickets, of users or of a custom object, as far as values matter. */
interface FieldSpec {
  type: string;
  regexp_for_validation?: string | null | undefined;
  custom_field_options?: readonly { value: string }[] | null | undefined;
}

/** A field that takes a part of an answer: `name` as a person finds it, `place` where it is changed. */
interface FieldRef {
  part: PartName;
  at: string;
  name: string;
  place: string;
}

/**
 * Does the field take all values that closeloop would write? A dropdown silently drops unknown values.
 * @param owners the owners of tags, which no other field can get
 */
export function valueFindings(
  { part, at, name, place }: FieldRef,
  field: FieldSpec,
  answers: ExpectedAnswers,
  owners: TagOwners,
): Finding[] {
  const missing = missingTags(part, field, answers);
  if (missing.length > 0) {
    const values = part === 'grade' ? 'gradeValues' : 'statusValues';
    const problem = `${name} has no option with the tag ${missing.map((tag) => `"${tag}"`).join(', ')}: Zendesk drops such a value without an error`;
    const obstacles = missing.flatMap((tag) => obstacle(tag, owners) ?? []);
    const other = part === 'grade' ? 'a number field' : 'a text field';
    return [
      obstacles.length > 0
        ? errorAt(
            at,
            `${problem}; it can't be added: ${obstacles.join('; ')}`,
            `Name other tags in writeBack.${values} and run "closeloop setup", or name ${other} (${place})`,
          )
        : errorAt(
            at,
            problem,
            `Run "closeloop setup", add the options yourself (${place}), or name existing tags in writeBack.${values}`,
          ),
    ];
  }
  if (part !== 'grade') return [];
  const fractions = fractionsIn(answers.grades);
  if (field.type === 'integer' && fractions !== undefined) {
    const problem = `${name} takes whole numbers only, not ${fractions}`;
    return [
      errorAt(at, problem, `Name another field, of type decimal (${place}): "closeloop setup" creates such a field`),
    ];
  }
  const mapped = Object.values(answers.writeBack.gradeValues);
  if (field.type === 'checkbox' && mapped.some((value) => value !== 'true' && value !== 'false')) {
    const problem = `${name} is a checkbox, which takes "true" and "false" only`;
    return [errorAt('writeBack.gradeValues', problem, 'Write "true" or "false" after each grade')];
  }
  if (field.type !== 'regexp') return [];
  const refused = written(part, field.type, answers).filter((text) => !matchesPattern(field, text));
  if (refused.length === 0) return [];
  const problem = `the pattern of ${name} does not allow ${refused.map((text) => `"${text}"`).join(', ')}`;
  return [errorAt(at, problem, `Correct the pattern (${place}), or write what it allows in writeBack.gradeValues`)];
}

/** The missing tags of a dropdown; none for other fields. */
function missingTags(part: PartName, field: FieldSpec, answers: ExpectedAnswers): string[] {
  if (!['tagger', 'dropdown', 'multiselect'].includes(field.type)) return [];
  if (part !== 'grade' && part !== 'status') return [];
  const held = new Set(field.custom_field_options?.map(({ value }) => value));
  return written(part, field.type, answers).filter((tag) => !held.has(tag));
}

/** All values, as strings, that write-backs can put into a field of this type, made by the code that writes them. */
function written(part: 'grade' | 'status', type: string, { writeBack, grades }: ExpectedAnswers): string[] {
  const answer = { recordId: '', marker: '', campaign: '', comment: null, answeredAt: new Date(0) };
  const items: WriteBack[] =
    part === 'grade'
      ? grades.map((grade) => ({ ...answer, status: 'answered', grade }))
      : [
          { ...answer, status: 'answered', grade: null },
          ...(writeBack.noAnswer ? [{ ...answer, status: 'no-answer' as const, grade: null }] : []),
        ];
  const targets = new Map([[part, { id: part, type }]]);
  const values = items.flatMap((item) => wantedFields(item, writeBack, targets, ticketField).fields);
  return [...new Set(values.map(({ value }) => String(value)))];
}

/** Zendesk's patterns are Ruby's; what JavaScript can't read is left to Zendesk. */
function matchesPattern({ regexp_for_validation: pattern }: FieldSpec, text: string): boolean {
  if (pattern == null) return true;
  try {
    return new RegExp(pattern.replaceAll('\\A', '^').replaceAll(/\\[zZ]/g, '$')).test(text);
  } catch {
    return true;
  }
}

/** The definition of a new field. */
export interface Shape {
  type: string;
  custom_field_options?: NewOption[];
}

export interface NewOption {
  name: string;
  value: string;
}

/**
 * A ticket field that suits a part. A grade is a number, so that reports can count with it, unless `gradeValues` gives it
 * tags; text, where a dropdown can't have those.
 */
export function ticketShape(part: PartName, answers: ExpectedAnswers, owners: TagOwners): Shape {
  if (part !== 'grade' && part !== 'status') return keyedShape(part, answers);
  const { gradeValues } = answers.writeBack;
  const mapped = Object.values(gradeValues);
  if (part === 'grade' && mapped.length === 0) return keyedShape(part, answers);
  if (part === 'grade' && mapped.every((value) => value === 'true' || value === 'false')) return { type: 'checkbox' };
  const grades = answers.grades.length > 0 ? answers.grades : Object.keys(gradeValues).map(Number);
  const tags = written(part, 'tagger', { ...answers, grades });
  if (tags.some((tag) => obstacle(tag, owners) !== undefined)) return { type: 'text' };
  return { type: 'tagger', custom_field_options: tags.map((tag) => optionFor(part, tag, { ...answers, grades })) };
}

/**
 * A field of users or of a custom object. The grade is a number there, whatever `gradeValues` says: its tags belong to the
 * ticket field, and a person's tags would come onto their next ticket.
 */
export function keyedShape(part: PartName, { grades }: Pick<ExpectedAnswers, 'grades'>): Shape {
  if (part === 'comment' || isSurveyPart(part)) return { type: 'textarea' };
  if (part === 'answeredAt') return { type: 'date' };
  const [type] = gradeTypes(grades, { whole: 'integer', fraction: 'decimal' });
  return { type };
}

/** The options that a dropdown lacks. None where one of the tags can't be added, as a part of the grades is of no use: `check` says why. */
export function newOptions(part: PartName, field: FieldSpec, answers: ExpectedAnswers, owners: TagOwners): NewOption[] {
  const tags = missingTags(part, field, answers);
  if (tags.some((tag) => obstacle(tag, owners) !== undefined)) return [];
  return tags.map((tag) => optionFor(part, tag, answers));
}

/** Named as agents would say it: the grades that a tag stands for, or what it says. */
function optionFor(part: PartName, tag: string, { writeBack, grades }: ExpectedAnswers): NewOption {
  const matching = grades.filter((grade) => (writeBack.gradeValues[String(grade)] ?? String(grade)) === tag);
  const words = tag.replace(/^fb_/, '').replaceAll('_', ' ');
  return { name: part === 'grade' && matching.length > 0 ? matching.join(', ') : words, value: tag };
}
