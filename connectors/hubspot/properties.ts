import { z } from 'zod';
import { type AnswerPlaces, isSurveyPart, placesOf } from '../../core/connector/answer.ts';
import { errorAt, warningAt } from '../../core/connector/check.ts';
import type { Finding } from '../../core/connector/contract.ts';
import { listOf } from '../../core/entries.ts';
import { statusValues } from './answer.ts';
import { type CrmObject, objectTypes, pluralOf } from './objects.ts';
import type { HubSpotSettings } from './settings.ts';

/* The properties that answers go to: what each has to be, for `check` and `setup`, and whether the account's is that. */

/** The parts of an answer. */
type Role = 'grade' | 'comment' | 'answeredAt' | 'status' | 'answer';

interface PropertySpec {
  /** As `setup` makes it. `what`: in words. */
  made: { label: string; type: string; fieldType: string; what: string };
  /** The remedy for another type: "It needs …". */
  needs: string;
  /** By `type` or `type/fieldType`. */
  fits: readonly string[];
  /** Types that take what is written, with a drawback. */
  poorly: Readonly<Record<string, string>>;
}

/** Source: HubSpot, properties guide (in which every part of `made` is required). */
export const specs: Record<Role, PropertySpec> = {
  grade: {
    made: { label: 'Feedback grade', type: 'number', fieldType: 'number', what: 'number' },
    needs: 'a number (or a choice that has every grade)',
    fits: ['number', 'enumeration'],
    poorly: { string: 'reports can neither sum nor average text' },
  },
  comment: {
    made: { label: 'Feedback comment', type: 'string', fieldType: 'textarea', what: 'multi-line text' },
    needs: 'multi-line text',
    fits: ['string/textarea'],
    poorly: {
      'string/text': 'a single line runs a longer comment together',
      'string/html': 'rich text takes < and & in a comment for markup',
    },
  },
  answeredAt: {
    made: { label: 'Feedback answered at', type: 'datetime', fieldType: 'date', what: 'date and time' },
    needs: 'date and time (a plain date refuses the time)',
    fits: ['datetime'],
    poorly: { string: 'reports can neither sort nor group text by time' },
  },
  status: {
    made: { label: 'Feedback status', type: 'enumeration', fieldType: 'select', what: 'answered or no_answer' },
    needs: 'a choice with the internal values answered and no_answer',
    fits: ['enumeration', 'string'],
    poorly: {},
  },
  answer: {
    made: { label: 'Feedback answer', type: 'string', fieldType: 'textarea', what: 'multi-line text' },
    needs: 'text',
    fits: ['string'],
    poorly: Object.fromEntries(
      ['number', 'enumeration', 'bool', 'date', 'datetime'].map((type) => [
        type,
        'HubSpot refuses an answer of another kind, and the grade with it',
      ]),
    ),
  },
};

/** A property that takes a part of each answer. */
export interface WantedProperty {
  /** Place in the settings. */
  at: string;
  object: CrmObject;
  role: Role;
  /** Internal name. */
  name: string;
  /** What will be written in it, as far as that is known: a choice must have them all. */
  values: string[];
}

/** @param grades Those that the rules' campaigns can give. */
export function wantedProperties({ objects, writeBack }: HubSpotSettings, grades: readonly number[]): WantedProperty[] {
  const values: Record<Role, string[]> = {
    grade: grades.map(String),
    comment: [],
    answeredAt: [],
    answer: [],
    status: [statusValues.answered, ...(writeBack.noAnswer ? [statusValues['no-answer']] : [])],
  };
  const on = (object: CrmObject, prefix: string, places: AnswerPlaces<string>): WantedProperty[] =>
    [...placesOf(places)].map(([part, name]) => {
      const role = isSurveyPart(part) ? 'answer' : part;
      return { at: `${prefix}.${part}`, object, role, name, values: values[role] };
    });
  return [
    ...objects.flatMap((type) => on(type, 'writeBack', writeBack)),
    ...on('contact', 'writeBack.contact', writeBack.contact),
  ];
}

/** A property's definition. Options keep all of HubSpot's fields, as a change of the list sends the whole list. */
export const Definition = z.object({
  name: z.string(),
  type: z.string(),
  fieldType: z.string(),
  options: listOf(
    z
      .object({
        label: z.string(),
        value: z.string(),
        displayOrder: z.number().default(-1),
        hidden: z.boolean().default(false),
        description: z.string().nullish(),
      })
      .transform(({ description, ...option }) => (description ? { ...option, description } : option)),
  )
    .nullish()
    .transform((options) => options ?? []),
  calculated: z.boolean().nullish(),
  modificationMetadata: z
    .object({ readOnlyValue: z.boolean().nullish(), readOnlyDefinition: z.boolean().nullish() })
    .nullish(),
});
export type Definition = z.output<typeof Definition>;

export const DefinitionList = z.object({ results: listOf(Definition) });

/** The definitions by kind of record and name, without kinds that couldn't be read. */
export type Definitions = ReadonlyMap<CrmObject, ReadonlyMap<string, Definition>>;

export const missingOptions = ({ values }: WantedProperty, { options }: Definition): string[] =>
  values.filter((value) => options.every((option) => option.value !== value));

const placeOf = ({ object, name }: WantedProperty) => `HubSpot: Settings > Properties > ${pluralOf(object)} > ${name}`;
const another = 'Name another property, and run `closeloop setup` to create it';

/** @param defined the property of that name; `archived`: deleted, but restorable */
export function propertyFindings(wanted: WantedProperty, defined: Definition | 'archived' | undefined): Finding[] {
  const { at, object, name } = wanted;
  const plural = pluralOf(object);
  const error = (problem: string, remedy: string): Finding[] => [errorAt(at, problem, remedy)];
  if (defined === undefined) {
    const remedy = 'Run `closeloop setup`, which creates it; or correct the internal name (not the label)';
    return error(`${plural} have no property ${name}`, remedy);
  }
  if (defined === 'archived') {
    const remedy = `Restore it (${placeOf(wanted)}), or run \`closeloop setup\`, which brings it back as it was`;
    return error(`the property ${name} of ${plural} is archived`, remedy);
  }
  if (object !== 'contact' && [objectTypes[object].stage, objectTypes[object].pipeline].some((own) => own === name)) {
    const problem = `${name} is where HubSpot keeps the ${object}'s stage: writing it would move the ${object}, and come back as an event`;
    return error(problem, another);
  }
  if (defined.calculated || defined.modificationMetadata?.readOnlyValue) {
    const why = defined.calculated ? 'HubSpot calculates it' : 'it is read-only';
    return error(`nobody can write the property ${name} of ${plural}: ${why}`, another);
  }
  const unfit = typeFindings(wanted, defined);
  return unfit.length > 0 || defined.type !== 'enumeration' ? unfit : optionFindings(wanted, defined);
}

function typeFindings({ at, object, role, name }: WantedProperty, { type, fieldType }: Definition): Finding[] {
  const { needs, fits, poorly } = specs[role];
  const kinds = [`${type}/${fieldType}`, type];
  if (kinds.some((one) => fits.includes(one))) return [];
  const drawback = kinds.flatMap((one) => poorly[one] ?? [])[0];
  const problem = `the property ${name} of ${pluralOf(object)} is of type ${type}/${fieldType}: ${drawback ?? 'it refuses what is written'}`;
  return [(drawback ? warningAt : errorAt)(at, problem, `It needs ${needs}. ${another}`)];
}

/** HubSpot accepts only an option's exact internal value. */
function optionFindings(wanted: WantedProperty, defined: Definition): Finding[] {
  const { at, object, name, values } = wanted;
  const choice = `the choice ${name} of ${pluralOf(object)}`;
  const missing = missingOptions(wanted, defined);
  if (missing.length > 0) {
    const near = defined.options.find(({ value }) => missing.some((one) => one.toLowerCase() === value.toLowerCase()));
    const hint = near ? ` (it has ${near.value}: small and capital letters count)` : '';
    const remedy = defined.modificationMetadata?.readOnlyDefinition
      ? `HubSpot lets nobody change its options. ${another}`
      : 'Run `closeloop setup`, which adds them; or name a number property';
    const problem = `${choice} lacks the internal value${missing.length > 1 ? 's' : ''} ${missing.join(', ')}${hint}: HubSpot refuses what is written`;
    return [errorAt(at, problem, remedy)];
  }
  const hidden = defined.options.filter((option) => option.hidden && values.includes(option.value));
  if (hidden.length === 0) return [];
  const problem = `${choice} hides ${hidden.map(({ value }) => value).join(', ')}: people can't choose or filter by it`;
  return [warningAt(at, problem, `Show the option again (${placeOf(wanted)})`)];
}

/** Errors for two parts of an answer in one property, where the later would overwrite the earlier. */
export function sharedProperties(wanted: readonly WantedProperty[]): Finding[] {
  return wanted.flatMap((one, index): Finding[] => {
    const { at, object, name } = one;
    const other = wanted.slice(0, index).find((earlier) => earlier.object === object && earlier.name === name);
    if (other === undefined) return [];
    const problem = `${other.at} and ${at} are the same ${object} property, ${name}: one overwrites the other`;
    return [errorAt(at, problem, 'Give each a property of its own')];
  });
}
