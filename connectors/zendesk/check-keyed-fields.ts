import type { Finding, GoingLive } from '../../core/connector.ts';
import { type Look, statusOf } from './check-look.ts';
import { valueFindings } from './check-values.ts';
import type { ZendeskApi } from './client.ts';
import { type KeyedField, objectFields, userFields } from './keyed-fields.ts';
import type { ZendeskSettings } from './settings.ts';
import { parts, type Resolved, resolveObjectFields, resolveUserFields } from './targets.ts';

type WriteBackSettings = ZendeskSettings['writeBack'];

const places = {
  users: 'Admin Center > People > Configuration > User fields',
  objects: 'Admin Center > Objects and rules > Custom objects',
};

/** User fields that are written or read, and the custom object. Only what the configuration names is looked at. */
export async function keyedFieldFindings(
  settings: WriteBackSettings,
  api: ZendeskApi,
  about: GoingLive,
  look: Look,
): Promise<Finding[]> {
  const found: Finding[] = [];
  const reads = about.reads.filter(({ path: [top, next, key] }) => top === 'requester' && next === 'fields' && key);
  if (settings.userFields !== undefined || reads.length > 0) {
    const fields = await look({ at: 'writeBack.userFields', what: 'the user fields' }, () => userFields(api));
    if (fields !== undefined) {
      const taken = fitFindings(settings, resolveUserFields(settings, fields), fields, about.grades, 'userFields');
      found.push(...taken, ...readFindings(reads, fields));
    }
  }
  const { object } = settings.customObject ?? {};
  if (object !== undefined) found.push(...(await objectFindings(settings, object, api, about, look)));
  return found;
}

async function objectFindings(
  settings: WriteBackSettings,
  object: string,
  api: ZendeskApi,
  about: GoingLive,
  look: Look,
): Promise<Finding[]> {
  const at = 'writeBack.customObject';
  const fields = await look({ at, what: 'the custom object' }, async () => {
    try {
      return await objectFields(api, object);
    } catch (error) {
      if (statusOf(error) === 404) return 'absent';
      throw error;
    }
  });
  if (fields === undefined) return [];
  if (fields === 'absent') {
    const problem = `there is no custom object with the key "${object}"`;
    return [
      { level: 'error', at: `${at}.object`, problem, remedy: `Create it, or take its key from ${places.objects}` },
    ];
  }
  const found = fitFindings(settings, resolveObjectFields(settings, fields), fields, about.grades, 'customObject');
  const ticket = settings.customObject?.ticket;
  if (ticket !== undefined && !fields.some(({ key, active }) => key === ticket && active !== false)) {
    const problem = `the custom object "${object}" has no active field "${ticket}"`;
    found.push({ level: 'error', at: `${at}.ticket`, problem, remedy: `Take its field key from ${places.objects}` });
  }
  return found;
}

function fitFindings(
  settings: WriteBackSettings,
  { targets, problems }: Resolved,
  fields: readonly KeyedField[],
  grades: readonly number[],
  where: 'userFields' | 'customObject',
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
    found.push(...valueFindings(spot, field, settings, grades));
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
