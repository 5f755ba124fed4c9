import type { PartName } from './answer.ts';

/* The fields that `writeBack` names, and the vendor's fields. */

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
