import type { Finding } from '../../core/connector/contract.ts';
import { type CrmObject, type Definition, missingOptions, pluralOf, type Role, type Target } from './check-targets.ts';
import { objectTypes } from './objects.ts';

/** Types of property, by `type` or `type/fieldType`, that a part of an answer fits into. Source: HubSpot, properties guide. */
const fits: Record<Role, { kind: string; well: readonly string[]; poorly: Readonly<Record<string, string>> }> = {
  grade: {
    kind: 'a number (or a choice that has every grade)',
    well: ['number', 'enumeration'],
    poorly: { string: 'reports can neither sum nor average text' },
  },
  comment: {
    kind: 'multi-line text',
    well: ['string/textarea'],
    poorly: {
      'string/text': 'a single line runs a longer comment together',
      'string/html': 'rich text takes < and & in a comment for markup',
    },
  },
  answeredAt: {
    kind: 'date and time (a plain date refuses the time)',
    well: ['datetime'],
    poorly: { string: 'reports can neither sort nor group text by time' },
  },
  answer: {
    kind: 'text',
    well: ['string'],
    poorly: Object.fromEntries(
      ['number', 'enumeration', 'bool', 'date', 'datetime'].map((type) => [
        type,
        'HubSpot refuses an answer of another kind, and the grade with it',
      ]),
    ),
  },
  status: {
    kind: 'a choice with the internal values answered and no_answer',
    well: ['enumeration', 'string'],
    poorly: {},
  },
};

const whereIn = ({ object, name }: Target) => `HubSpot: Settings > Properties > ${pluralOf(object)} > ${name}`;
const another = 'Name another property, and run `closeloop setup` to create it';

/** @param defined What HubSpot has by that name; `archived`: deleted, and can be brought back. */
export function targetFindings(target: Target, defined: Definition | 'archived' | undefined): Finding[] {
  const { at, object, name } = target;
  const plural = pluralOf(object);
  const error = (problem: string, remedy: string): Finding[] => [{ level: 'error', at, problem, remedy }];
  if (defined === undefined) {
    const remedy = 'Run `closeloop setup`, which creates it; or correct the internal name (not the label)';
    return error(`${plural} have no property ${name}`, remedy);
  }
  if (defined === 'archived') {
    const remedy = `Restore it (${whereIn(target)}), or run \`closeloop setup\`, which brings it back as it was`;
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
  const unfit = typeFindings(target, defined);
  return unfit.length > 0 || defined.type !== 'enumeration' ? unfit : optionFindings(target, defined);
}

function typeFindings({ at, object, role, name }: Target, { type, fieldType }: Definition): Finding[] {
  const { kind, well, poorly } = fits[role];
  const kinds = [`${type}/${fieldType}`, type];
  if (kinds.some((one) => well.includes(one))) return [];
  const poor = kinds.flatMap((one) => poorly[one] ?? [])[0];
  const problem = `the property ${name} of ${pluralOf(object)} is of type ${type}/${fieldType}: ${poor ?? 'it refuses what is written'}`;
  return [{ level: poor ? 'warning' : 'error', at, problem, remedy: `It needs ${kind}. ${another}` }];
}

/** HubSpot takes an option's internal value only, capital letters and all. */
function optionFindings(target: Target, defined: Definition): Finding[] {
  const { at, object, name, values } = target;
  const choice = `the choice ${name} of ${pluralOf(object)}`;
  const missing = missingOptions(target, defined);
  if (missing.length > 0) {
    const near = defined.options.find(({ value }) => missing.some((one) => one.toLowerCase() === value.toLowerCase()));
    const hint = near ? ` (it has ${near.value}: small and capital letters count)` : '';
    const remedy = defined.modificationMetadata?.readOnlyDefinition
      ? `HubSpot lets nobody change its options. ${another}`
      : 'Run `closeloop setup`, which adds them; or name a number property';
    const problem = `${choice} lacks the internal value${missing.length > 1 ? 's' : ''} ${missing.join(', ')}${hint}: HubSpot refuses what is written`;
    return [{ level: 'error', at, problem, remedy }];
  }
  const hidden = defined.options.filter((option) => option.hidden && values.includes(option.value));
  if (hidden.length === 0) return [];
  const problem = `${choice} hides ${hidden.map(({ value }) => value).join(', ')}: people can't choose or filter by it`;
  return [{ level: 'warning', at, problem, remedy: `Show the option again (${whereIn(target)})` }];
}

/** Two parts of an answer in one property: the later would overwrite the earlier. */
export function sharedTargets(targets: readonly Target[]): Finding[] {
  const first = new Map<string, Target>();
  return targets.flatMap((target): Finding[] => {
    const key = `${target.object} ${target.name}`;
    const other = first.get(key);
    if (other === undefined) first.set(key, target);
    if (other === undefined) return [];
    const problem = `${other.at} and ${target.at} are the same ${target.object} property, ${target.name}: one overwrites the other`;
    return [{ level: 'error', at: target.at, problem, remedy: 'Give each a property of its own' }];
  });
}

/** What HubSpot has, by kind of record; a kind that couldn't be read isn't there. */
export type Definitions = ReadonlyMap<CrmObject, ReadonlyMap<string, Definition>>;
