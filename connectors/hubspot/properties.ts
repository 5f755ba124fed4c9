import { z } from 'zod';
import { isSurveyPart, type PartName } from '../../core/connector/answer.ts';
import { type Comparison, combined } from '../../core/connector/check.ts';
import { comparedFields, type DeskFields } from '../../core/connector/desk/preflight.ts';
import type { CurrentField, NeededField } from '../../core/connector/fields.ts';
import { listOf, orElse } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { HubSpotApi } from './api.ts';
import { type CrmObject, objectTypes, paths, pluralOf } from './objects.ts';
import { inWords } from './responses.ts';
import type { HubSpotSettings } from './settings.ts';
import { statusValues } from './write.ts';

/* The properties for answers: the required definition of each, for `check` and `setup`, and whether the account's property fits. */

/**
 * @param fits fitting types as `type` or `type/fieldType`; `setup` creates the first
 * @param drawbacks further types that can hold the value, each with its drawback
 */
function spec(label: string, fieldType: string, fits: NeededField['types'], drawbacks: Record<string, string> = {}) {
  const types: NeededField['types'] = [...fits, ...Object.keys(drawbacks)];
  return { label, fieldType, types, drawbacks };
}

const refusing = 'HubSpot refuses an answer of another kind, and the grade with it';
const others = ['number', 'enumeration', 'bool', 'date', 'datetime'].map((type) => [type, refusing]);

/** Source: HubSpot, properties guide. */
const specs = {
  grade: spec('Feedback grade', 'number', ['number', 'enumeration'], {
    string: 'reports can neither sum nor average text',
  }),
  comment: spec('Feedback comment', 'textarea', ['string/textarea'], {
    'string/text': 'a single line runs a longer comment together',
    'string/html': 'rich text takes < and & in a comment for markup',
  }),
  answeredAt: spec('Feedback answered at', 'date', ['datetime'], {
    string: 'reports can neither sort nor group text by time',
  }),
  status: spec('Feedback status', 'select', ['enumeration', 'string']),
  answer: spec('Feedback answer', 'textarea', ['string'], Object.fromEntries(others)),
};
const specOf = (part: PartName) => specs[isSurveyPart(part) ? 'answer' : part];

const Option = z.object({
  ...{ label: z.string(), value: z.string(), displayOrder: z.number().default(-1), hidden: z.boolean().default(false) },
  description: orElse(z.string().min(1), undefined),
});
const flag = z.boolean().nullish();

/** A property's definition. Options keep all of HubSpot's fields, as a change of the list sends the whole list. */
const Definition = z
  .object({
    ...{ name: z.string(), type: z.string(), fieldType: z.string(), calculated: flag },
    options: listOf(Option).nullish(),
    modificationMetadata: z.object({ readOnlyValue: flag, readOnlyDefinition: flag }).nullish(),
  })
  .transform(({ options, calculated, modificationMetadata, ...rest }) => ({
    ...{ ...rest, options: options ?? [] },
    isReadOnly: calculated === true || modificationMetadata?.readOnlyValue === true,
    isFixed: modificationMetadata?.readOnlyDefinition === true,
  }));
export type Definition = z.output<typeof Definition>;
const DefinitionList = z.object({ results: listOf(Definition) });

export async function definitionsOf(object: CrmObject, api: HubSpotApi, query?: { archived: 'true' }) {
  const path = paths.properties(pluralOf(object));
  return (await api.call('GET', path, DefinitionList, query && { query })).results;
}

/** Compares the properties that `writeBack` names with the properties of each kind of record, and of contacts. */
export async function comparedProperties(
  { objects, writeBack }: HubSpotSettings,
  api: HubSpotApi,
  grades: readonly number[],
): Promise<Comparison> {
  const all: Comparison[] = [];
  for (const object of [...objects, 'contact'] as const) {
    const places = object === 'contact' ? writeBack.contact : writeBack;
    const { findings, missing } = await comparedFields(fieldsOf(object, writeBack.noAnswer, api), places, grades);
    const at = (place: string) => (object === 'contact' ? place.replace('writeBack', 'writeBack.contact') : place);
    all.push({ missing, findings: findings.map((one) => ({ ...one, at: at(one.at) })) });
  }
  return combined(all);
}

function fieldsOf(object: CrmObject, noAnswer: boolean, api: HubSpotApi): DeskFields {
  const of = pluralOf(object);
  const path = paths.properties(of);
  const moves: readonly string[] =
    object === 'contact' ? [] : [objectTypes[object].stage, objectTypes[object].pipeline];
  return {
    ...{ of, field: 'property', place: `HubSpot: Settings > Properties > ${of}` },
    async list(needed) {
      const defined = await definitionsOf(object, api);
      const isThere = ({ name }: { name: string }) => defined.some((one) => one.name === name);
      // One more call shows whether missing properties were deleted.
      const archived = needed.every(isThere) ? [] : await definitionsOf(object, api, { archived: 'true' });
      return [
        ...defined.map((one) => currentOf(one, needed, moves)),
        ...archived
          .filter((one) => !isThere(one))
          .map((one) => ({ ...currentOf(one, needed, moves), isArchived: true })),
      ];
    },
    types(part, grades) {
      const statuses = [statusValues.answered, ...(noAnswer ? [statusValues['no-answer']] : [])];
      const values = part === 'grade' ? grades.map(String) : part === 'status' ? statuses : [];
      return { types: specOf(part).types, values };
    },
    make: (needed) => makeProperty(needed, path, api),
    async extend({ name }, values) {
      const { options = [] } = (await definitionsOf(object, api)).find((one) => one.name === name) ?? {};
      const last = Math.max(-1, ...options.map(({ displayOrder }) => displayOrder));
      const labels = new Set(options.map(({ label }) => label.toLowerCase()));
      const added = values
        .map((value, n) => newOption(value, last + 1 + n))
        // People distinguish options by their labels.
        .map((one) => (labels.has(one.label.toLowerCase()) ? { ...one, label: `${one.label} (feedback)` } : one));
      // HubSpot replaces the whole list by the list that is sent.
      await api.call('PATCH', `${path}/${name}`, z.unknown(), { body: { options: [...options, ...added] } });
      return {};
    },
  };
}

/** The property as far as its part of answers depends on it. */
function currentOf(
  { name, type, fieldType, options, isReadOnly, isFixed }: Definition,
  needed: readonly NeededField[],
  moves: readonly string[],
): CurrentField {
  const { part, types, values = [] } = needed.find((one) => one.name === name) ?? {};
  const whole = `${type}/${fieldType}`;
  const fitting = [whole, type].find((kind) => types?.includes(kind)) ?? whole;
  const isChoice = type === 'enumeration';
  const lacks = values.filter((value) => isChoice && options.every((option) => option.value !== value));
  const hidden = options.filter((option) => option.hidden && values.includes(option.value)).map(({ value }) => value);
  const drawback = part && specOf(part).drawbacks[fitting];
  return {
    ...{ name, type: fitting, required: false },
    ...(isChoice && { values: options.map(({ value }) => value) }),
    problem: moves.includes(name)
      ? 'is where HubSpot keeps the stage: an answer would move the record, and come back as an event'
      : isReadOnly
        ? "can't be written: HubSpot calculates it, or it is read-only"
        : lacks.length > 0 && isFixed
          ? `lacks the values ${lacks.join(', ')}, and HubSpot lets nobody add them`
          : undefined,
    drawback: drawback
      ? `is of type ${whole}: ${drawback}`
      : hidden.length > 0
        ? `hides ${hidden.join(', ')}: people can't choose or filter by it`
        : undefined,
  };
}

const group = { name: 'customer_feedback', label: 'Customer feedback' };
const Made = z.object({ type: z.string(), fieldType: z.string() });

/** Creates a property. If a deleted property has the name, HubSpot restores the deleted property with its type: the note says so. */
async function makeProperty({ part, name }: NeededField, path: string, api: HubSpotApi): Promise<{ note?: string }> {
  const { label, types, fieldType } = specOf(part);
  const type = types[0].replace(/\/.*/, '');
  // The status gets both options, because `noAnswer` may be switched on later.
  const options = part === 'status' ? { options: Object.values(statusValues).map(newOption) } : {};
  // Several properties may hold answers to a survey; people distinguish properties by their labels.
  const body = { name, label: isSurveyPart(part) ? `${label} (${name})` : label, type, fieldType, ...options };
  await create(api, `${path}/groups`, group, z.unknown());
  const made = (await create(api, path, { ...body, groupName: group.name }, Made)) ?? body;
  if (made.type === type && made.fieldType === fieldType) return {};
  return {
    note: `HubSpot brought back a deleted property ${name} of type ${made.type}/${made.fieldType}: run \`closeloop check\` to see whether it will do, or name another one`,
  };
}

const optionLabels: Readonly<Record<string, string>> = { answered: 'Answered', no_answer: 'No answer' };

const newOption = (value: string, displayOrder: number) => {
  return { label: optionLabels[value] ?? value, value, displayOrder, hidden: false };
};

/** Creates an object; undefined if the object exists already. */
async function create<S extends z.ZodType>(api: HubSpotApi, path: string, body: object, schema: S) {
  const answer = await api.attempt('POST', path, schema, { body });
  if (answer.ok) return answer.body;
  if (answer.refusal.status === 409) return undefined;
  throw new CloseloopError(`HubSpot: POST ${path}: ${inWords(answer.refusal)}`, { kind: 'permanent' });
}
