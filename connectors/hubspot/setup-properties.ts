import { z } from 'zod';
import type { SetupStep } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import { statusValues } from './answer.ts';
import {
  type CrmObject,
  Definition,
  DefinitionList,
  missingOptions,
  pluralOf,
  type Role,
  type Target,
} from './check-targets.ts';
import type { HubSpotApi } from './client.ts';
import { inWords } from './failure.ts';
import { paths } from './objects.ts';

const group = { name: 'customer_feedback', label: 'Customer feedback' };

/** What we create. Source: HubSpot, properties guide (every part is required). */
const made: Record<Role, { label: string; type: string; fieldType: string; kind: string }> = {
  grade: { label: 'Feedback grade', type: 'number', fieldType: 'number', kind: 'number' },
  comment: { label: 'Feedback comment', type: 'string', fieldType: 'textarea', kind: 'multi-line text' },
  answeredAt: { label: 'Feedback answered at', type: 'datetime', fieldType: 'date', kind: 'date and time' },
  answer: { label: 'Feedback answer', type: 'string', fieldType: 'textarea', kind: 'multi-line text' },
  status: { label: 'Feedback status', type: 'enumeration', fieldType: 'select', kind: 'answered or no_answer' },
};

const optionLabels: Readonly<Record<string, string>> = {
  [statusValues.answered]: 'Answered',
  [statusValues['no-answer']]: 'No answer',
};

/** The group, the properties and the options that are missing, by kind of record. */
export async function propertySteps(targets: readonly Target[], api: HubSpotApi): Promise<SetupStep[]> {
  const steps: SetupStep[] = [];
  for (const object of new Set(targets.map((target) => target.object))) {
    const path = paths.properties(pluralOf(object));
    const { results } = await api.call('GET', path, DefinitionList);
    const defined = new Map(results.map((one) => [one.name, one]));
    const own = firstOfEachName(targets.filter((target) => target.object === object));
    const missing = own.filter(({ name }) => !defined.has(name));
    if (missing.length > 0 && !(await hasGroup(api, path))) steps.push(groupStep(api, object, path));
    steps.push(
      ...missing.map((target) => propertyStep(api, target, path)),
      ...own.flatMap((target) => optionSteps(api, target, defined.get(target.name), path)),
    );
  }
  return steps;
}

function firstOfEachName(targets: readonly Target[]): Target[] {
  return targets.filter((target, index) => targets.findIndex(({ name }) => name === target.name) === index);
}

const Groups = z.object({ results: z.array(z.object({ name: z.string() })) });

async function hasGroup(api: HubSpotApi, path: string): Promise<boolean> {
  const { results } = await api.call('GET', `${path}/groups`, Groups);
  return results.some(({ name }) => name === group.name);
}

const groupStep = (api: HubSpotApi, object: CrmObject, path: string): SetupStep => ({
  what: `create the ${object} property group "${group.label}"`,
  async apply() {
    await create(api, `${path}/groups`, group, z.unknown());
    return {};
  },
});

const Made = z.object({ type: z.string(), fieldType: z.string() });

/** The name of a deleted property brings that one back, of whatever type it was: said, never hidden. */
function propertyStep(api: HubSpotApi, { object, role, name }: Target, path: string): SetupStep {
  const { kind, ...common } = made[role];
  // Several of these, told apart by their labels.
  const definition = role === 'answer' ? { ...common, label: `${common.label} (${name})` } : common;
  return {
    what: `create the ${object} property ${name} "${definition.label}" (${kind})`,
    async apply() {
      // both values, whether or not `no_answer` is written today: later is only a setting away
      const options = role === 'status' ? { options: Object.values(statusValues).map(newOption) } : {};
      const body = { name, ...definition, groupName: group.name, ...options };
      const { type, fieldType } = (await create(api, path, body, Made)) ?? definition;
      if (type === definition.type && fieldType === definition.fieldType) return {};
      return {
        note: `HubSpot brought back a deleted property ${name} of type ${type}/${fieldType}: run \`closeloop check\` to see whether it will do, or name another one`,
      };
    },
  };
}

const newOption = (value: string, displayOrder: number) => ({
  label: optionLabels[value] ?? value,
  value,
  displayOrder,
  hidden: false,
});

function optionSteps(api: HubSpotApi, target: Target, defined: Definition | undefined, path: string): SetupStep[] {
  const { object, name } = target;
  if (defined?.type !== 'enumeration' || defined.modificationMetadata?.readOnlyDefinition) return [];
  const missing = missingOptions(target, defined);
  if (missing.length === 0) return [];
  const property = `${path}/${name}`;
  return [
    {
      what: `add ${missing.join(', ')} to the options of the ${object} property ${name}`,
      async apply() {
        // HubSpot takes the whole list for the new one: read now, so that nothing added since is lost
        const now = await api.call('GET', property, Definition);
        const lacking = missingOptions(target, now);
        if (lacking.length === 0) return {};
        const last = Math.max(-1, ...now.options.map(({ displayOrder }) => displayOrder));
        const labels = new Set(now.options.map(({ label }) => label.toLowerCase()));
        const added = lacking
          .map((value, index) => newOption(value, last + 1 + index))
          // people tell options apart by their labels
          .map((one) => (labels.has(one.label.toLowerCase()) ? { ...one, label: `${one.label} (feedback)` } : one));
        await api.call('PATCH', property, z.unknown(), { body: { options: [...now.options, ...added] } });
        return {};
      },
    },
  ];
}

/** What exists already is as good as made: undefined. */
async function create<S extends z.ZodType>(
  api: HubSpotApi,
  path: string,
  body: object,
  schema: S,
): Promise<z.output<S> | undefined> {
  const answer = await api.attempt('POST', path, schema, { body });
  if (answer.ok) return answer.body;
  if (answer.refusal.status === 409) return undefined;
  throw new CloseloopError(`HubSpot POST ${path}: ${inWords(answer.refusal)}`, { kind: 'permanent' });
}
