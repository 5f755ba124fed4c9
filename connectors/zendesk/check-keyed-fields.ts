import type { Finding, GoingLive } from '../../core/connector/contract.ts';
import type { Look } from './check-look.ts';
import { valueFindings } from './check-values.ts';
import type { ZendeskApi } from './client.ts';
import { type KeyedField, objectFieldsIfAny } from './keyed-fields.ts';
import type { ZendeskSettings } from './settings.ts';
import type { TagOwners } from './tags.ts';
import { parts, type Resolved, resolveObjectFields, resolveUserFields } from './targets.ts';

type WriteBackSettings = ZendeskSettings['writeBack'];

const places = {
  users: 'Admin Center > People > Configuration > User fields',
  objects: 'Admin Center > Objects and rules > Custom objects',
};

/** User fields that are written or read. */
export function userFieldFindings(
  settings: WriteBackSettings,
  fields: readonly KeyedField[],
  about: GoingLive,
  owners: TagOwners,
): Finding[] {
  const reads = about.reads.filter(({ path: [top, next, key] }) => top === 'requester' && next === 'fields' && key);
  const resolved = resolveUserFields(settings, fields);
  return [
    ...fitFindings(settings, resolved, fields, about.grades, 'userFields', owners),
    ...readFindings(reads, fields),
  ];
}

/** The custom object, where the configuration names one. */
export async function objectFindings(
  settings: WriteBackSettings,
  api: ZendeskApi,
  grades: readonly number[],
  look: Look,
): Promise<Finding[]> {
  const { object, ticket } = settings.customObject ?? {};
  if (object === undefined) return [];
  const at = 'writeBack.customObject';
  const error = (where: string, problem: string): Finding => {
    const remedy = `Let "closeloop setup" create it, or take its key from ${places.objects}`;
    return { level: 'error', at: `${at}.${where}`, problem, remedy };
  };
  const looked = await look({ at, what: 'the custom object' }, async () => {
    return { fields: await objectFieldsIfAny(api, object) };
  });
  if (looked === undefined) return [];
  const { fields } = looked;
  if (fields === undefined) return [error('object', `there is no custom object with the key "${object}"`)];
  const found = fitFindings(settings, resolveObjectFields(settings, fields), fields, grades, 'customObject', new Map());
  if (ticket === undefined) return found;
  const held = fields.find(({ key }) => key === ticket);
  if (held === undefined) found.push(error('ticket', `the custom object "${object}" has no field "${ticket}"`));
  if (held?.active === false) {
    const problem = `the field "${ticket}" of the custom object "${object}" is inactive`;
    found.push({ level: 'error', at: `${at}.ticket`, problem, remedy: `Activate it (${places.objects})` });
  }
  return found;
}

function fitFindings(
  settings: WriteBackSettings,
  { targets, problems }: Resolved,
  fields: readonly KeyedField[],
  grades: readonly number[],
  where: 'userFields' | 'customObject',
  owners: TagOwners,
): Finding[] {
  const found: Finding[] = problems.map(({ part: _part, why: _why, ...finding }) => finding);
  const byKey = new Map(fields.map((field) => [field.key, field]));
  for (const part of parts) {
    const key = targets[part]?.id;
    const field = byKey.get(key);
    if (key === undefined || field === undefined) continue;
    const spot = {
      part,
      at: `writeBack.${where}.${part}`,
      name: `field "${key}"`,
      place: where === 'userFields' ? places.users : places.objects,
    };
    found.push(...valueFindings(spot, field, settings, grades, owners));
  }
  return found;
}

function readFindings(reads: GoingLive['reads'], fields: readonly KeyedField[]): Finding[] {
  return reads.flatMap(({ at, path }) => {
    const key = path[2] ?? '';
    const field = fields.find((one) => one.key === key);
    if (field !== undefined && field.active !== false) return [];
    const problem =
      field === undefined
        ? `reads requester.fields.${key}, but there is no user field with the key "${key}"`
        : `reads requester.fields.${key}, but that user field is inactive`;
    return [{ level: 'error', at, problem, remedy: `Take the field key from ${places.users}` }];
  });
}
