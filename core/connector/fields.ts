import type { PartName } from './answer.ts';
import { type Comparison, errorAt, type MissingItem, warningAt } from './check.ts';
import type { Finding } from './contract.ts';

/* Compares the fields that `writeBack` names with the vendor's fields by name. Several fields may have the same name. */

/** The field for a part of an answer. */
export interface NeededField {
  part: PartName;
  name: string;
  /** The vendor's types: the type that `setup` creates, and others that fit. */
  types: readonly [made: string, ...others: string[]];
  /** The reason for these types, in words: 'the grades 1.5, 2.5'. */
  neededBy?: string | undefined;
  /** The values that a field with a list of values has to have: every grade. Left out: any value. */
  values?: readonly string[] | undefined;
}

/** The field types for grades at a vendor with a type for whole numbers alone: the type that `setup` creates, and another type that fits. */
export function gradeTypes<Type extends string>(
  grades: readonly number[],
  { whole, fraction }: { whole: Type; fraction: Type },
): readonly [made: Type, ...others: Type[]] {
  return fractionsIn(grades) === undefined ? [whole, fraction] : [fraction];
}

/** 'the grades 1.5, 2.5'; undefined where all are whole numbers. */
export function fractionsIn(grades: readonly number[]): string | undefined {
  const fractions = grades.filter((grade) => !Number.isInteger(grade));
  return fractions.length === 0 ? undefined : `the grades ${fractions.join(', ')}`;
}

type Types = NeededField['types'];

/**
 * The field types that fit each part of an answer, for `DeskFields.types`.
 * @param grade the types for whole numbers and for fractions, and further types that take any grade, as text or from a list
 */
export const typesByPart =
  ({
    grade,
    comment,
    others,
    answeredAt = others,
  }: {
    grade: { whole: string; fraction: string; any?: readonly string[] };
    comment: Types;
    others: Types;
    answeredAt?: Types;
  }) =>
  (part: PartName, grades: readonly number[]): Pick<NeededField, 'types' | 'neededBy' | 'values'> => {
    if (part === 'comment') return { types: comment };
    if (part === 'answeredAt') return { types: answeredAt };
    if (part !== 'grade') return { types: others };
    const [made, ...more] = gradeTypes(grades, grade);
    return { types: [made, ...more, ...(grade.any ?? [])], neededBy: fractionsIn(grades), values: grades.map(String) };
  };

/** One of the account's fields. */
export interface CurrentField {
  name: string;
  /** Left out where the vendor hides the type from this user: then the type is not compared. */
  type?: string | undefined;
  /** Whether people have to fill in the field. */
  required: boolean;
  /** The values of a list that allows one value; left out for other fields. */
  values?: readonly string[] | undefined;
  /** Another reason why the field can't take its part of answers: 'takes only short texts'. */
  problem?: string | undefined;
  /** A property of the field that people may not expect: 'hides 4 from them'. */
  drawback?: string | undefined;
  /** Whether the field was deleted: creating it restores it. */
  isArchived?: boolean | undefined;
}

export interface FieldWords<Item extends MissingItem> {
  /** The records that have the fields: 'conversations'. */
  of: string;
  /** The vendor's word for a field: 'attribute'. */
  field: string;
  /** Where a person finds the fields. */
  place: string;
  /** Whether `setup` creates the fields; otherwise people do. Default true. */
  isMade?: boolean;
  missing: (needed: NeededField) => Item;
  /** The item for values that the list of a field lacks, where `setup` adds them. Left out: people add them. */
  lacking?: (needed: NeededField, values: readonly string[]) => Item;
}

/** @param current the account's fields in use */
export function compareFields<Item extends MissingItem>(
  needed: readonly NeededField[],
  current: readonly CurrentField[],
  { of, field, place, isMade = true, missing, lacking }: FieldWords<Item>,
): Comparison<Item> {
  const missingItems: Item[] = [];
  const findings = needed.flatMap((one): Finding[] => {
    const { part, name, types, neededBy, values = [] } = one;
    const at = `writeBack.${part}`;
    const what = `the ${field} "${name}" of ${of}`;
    const [found, ...others] = current.filter((it) => it.name === name);
    if (found === undefined || found.isArchived) {
      if (isMade) missingItems.push(missing(one));
      const remedy = isMade ? 'Let "closeloop setup" create it' : `Create it, of type ${types[0]} (${place})`;
      return [errorAt(at, found ? `${what} is archived` : `${of} have no ${field} "${name}"`, remedy)];
    }
    if (others.length > 0)
      return [errorAt(at, `${of} have ${others.length + 1} of the name "${name}"`, `Rename all but one (${place})`)];
    if (found.type !== undefined && !types.includes(found.type)) {
      const needed = `${types.join(' or ')}${neededBy === undefined ? '' : `, which ${neededBy} need`}`;
      return [errorAt(at, `${what} is of type ${found.type}, not ${needed}`, `Name another ${field}`)];
    }
    if (found.problem !== undefined) return [errorAt(at, `${what} ${found.problem}`, `Change that (${place})`)];
    const lacks = found.values && values.filter((value) => !found.values?.includes(value));
    if (lacks !== undefined && lacks.length > 0) {
      if (lacking !== undefined) missingItems.push(lacking(one, lacks));
      const remedy = lacking === undefined ? `Add them (${place})` : 'Let "closeloop setup" add them';
      return [errorAt(at, `${what} lacks the values ${lacks.join(', ')}`, remedy)];
    }
    if (found.drawback !== undefined)
      return [warningAt(at, `${what} ${found.drawback}`, `Name another ${field}, or change that (${place})`)];
    return found.required ? [warningAt(at, `${what} is required of people`, `Switch that off (${place})`)] : [];
  });
  return { findings, missing: missingItems };
}
