import type { PartName } from './answer.ts';
import { type Comparison, errorAt, type MissingItem, warningAt } from './check.ts';
import type { Finding } from './contract.ts';

/* Fields that settings name (`writeBack`), compared with those that a vendor has: by their names, which need not be unique. */

/** What a part of an answer has to be written to. */
export interface NeededField {
  part: PartName;
  name: string;
  /** Types as the vendor calls them: the one that `setup` makes, and others that do. */
  types: readonly [made: string, ...others: string[]];
}

/** One that the vendor has. */
export interface HeldField {
  name: string;
  type: string;
  /** Nobody gets on without filling it in. */
  required: boolean;
}

export interface FieldWords<Item extends MissingItem> {
  /** Whose fields: 'conversations'. */
  of: string;
  /** What the vendor calls one: 'attribute'. */
  field: string;
  /** Where a person finds them. */
  place: string;
  missing: (needed: NeededField) => Item;
}

/** @param held Those that are in use, without archived ones. */
export function compareFields<Item extends MissingItem>(
  needed: readonly NeededField[],
  held: readonly HeldField[],
  { of, field, place, missing }: FieldWords<Item>,
): Comparison<Item> {
  const lacking: Item[] = [];
  const findings = needed.flatMap((one): Finding[] => {
    const { part, name, types } = one;
    const at = `writeBack.${part}`;
    const what = `the ${field} "${name}" of ${of}`;
    const [found, ...others] = held.filter((it) => it.name === name);
    if (found === undefined) {
      lacking.push(missing(one));
      return [errorAt(at, `${of} have no ${field} "${name}"`, 'Let "closeloop setup" create it')];
    }
    if (others.length > 0)
      return [errorAt(at, `${of} have ${others.length + 1} of the name "${name}"`, `Rename all but one (${place})`)];
    if (!types.includes(found.type))
      return [errorAt(at, `${what} is of type ${found.type}, not ${types.join(' or ')}`, `Name another ${field}`)];
    return found.required ? [warningAt(at, `${what} is required of people`, `Switch that off (${place})`)] : [];
  });
  return { findings, missing: lacking };
}
