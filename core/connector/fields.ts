import type { PartName } from './answer.ts';
import { type Comparison, errorAt, type MissingItem, warningAt } from './check.ts';
import type { Finding } from './contract.ts';

/* The fields that `writeBack` names, compared with the vendor's fields by name. Names need not be unique. */

/** The field that a part of an answer is written to. */
export interface NeededField {
  part: PartName;
  name: string;
  /** The vendor's types: the type that `setup` creates, and others that fit. */
  types: readonly [made: string, ...others: string[]];
  /** What needs these types: 'the grades 1.5, 2.5'. */
  neededBy?: string | undefined;
  /** What a field with a list of values has to have there: every grade. Left out: anything may be written. */
  values?: readonly string[] | undefined;
}

/** The types of a field for grades, where the vendor has one for whole numbers alone: the type that `setup` creates, and another that fits. */
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
 * The types that each part of an answer fits into, for `DeskFields.types`.
 * @param grade the types for whole numbers and for fractions alone, and further ones that take any grade, as text or from a list
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

/** A field of the vendor. */
export interface CurrentField {
  name: string;
  /** Left out where the vendor does not tell it to this user: not compared. */
  type?: string | undefined;
  /** People have to fill it in. */
  required: boolean;
  /** The values of a list from which one is taken; left out for other fields. */
  values?: readonly string[] | undefined;
  /** What else keeps it from taking its part of answers: 'takes only short texts'. */
  problem?: string | undefined;
  /** What people may not expect of it: 'hides 4 from them'. */
  drawback?: string | undefined;
  /** It was deleted: its creation brings it back. */
  isArchived?: boolean | undefined;
}

export interface FieldWords<Item extends MissingItem> {
  /** Whose fields: 'conversations'. */
  of: string;
  /** The vendor's word for a field: 'attribute'. */
  field: string;
  /** Where a person finds the fields. */
  place: string;
  /** Whether `setup` creates them; otherwise people do. Default true. */
  isMade?: boolean;
  missing: (needed: NeededField) => Item;
  /** Values that the list of a field lacks, where `setup` adds them. Left out: people do. */
  lacking?: (needed: NeededField, values: readonly string[]) => Item;
}

/** @param current the vendor's fields in use */
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
