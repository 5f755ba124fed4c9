import { z } from 'zod';
import { ok, type StandinResponse } from '../kit/message.ts';
import { type Params, type Route, route } from '../kit/router.ts';
import {
  batchAnswer,
  bodyOf,
  type Context,
  checkSize,
  invalid,
  notFound,
  problem,
  scopeFor,
  typeOf,
} from './context.ts';
import { type CrmRecord, type ObjectType, type Property, pipelineProperty, stageProperty } from './definitions.ts';
import type { Store } from './store.ts';
import { viewRecord } from './views.ts';

const objects = '/crm/objects/{version:\\d{4}-\\d{2}}/{type:[a-z0-9-]+}';
// Sending both lists is required by the vendor's description, empty or not.
const readBody = z.object({
  inputs: z.array(z.object({ id: z.string() })),
  properties: z.array(z.string()),
  propertiesWithHistory: z.array(z.string()),
  idProperty: z.string().optional(),
});
const values = z.record(z.string(), z.string());
const updateBody = z.object({
  inputs: z.array(
    z.object({
      id: z.string(),
      properties: values,
      idProperty: z.string().optional(),
      objectWriteTraceId: z.string().optional(),
    }),
  ),
});

export const objectRoutes: Route<Context>[] = [
  route('POST', `${objects}/batch/read`, batchRead),
  route('POST', `${objects}/batch/update`, batchUpdate),
  route('GET', `${objects}/{id}`, read),
];

function batchRead(context: Context, params: Params): StandinResponse {
  const type = typeOf(params.type);
  context.need(scopeFor(type, 'read'));
  const { inputs, properties, propertiesWithHistory } = bodyOf(context, readBody);
  const most = propertiesWithHistory.length > 0 ? 50 : 100;
  checkSize(inputs, most);
  const found = new Map<number, CrmRecord>();
  const missing: string[] = [];
  for (const { id } of inputs) {
    const record = find(context, type, id);
    if (record === undefined) missing.push(id);
    else found.set(record.id, record);
  }
  const results = [...found.values()].map((record) =>
    viewRecord(context.store, record, { properties, propertiesWithHistory }, context.random),
  );
  return batchAnswer(context, results, missed(missing, type));
}

/** Unknown ids fail alone (207); one bad value fails everything (400), nothing written. */
function batchUpdate(context: Context, params: Params): StandinResponse {
  const type = typeOf(params.type);
  context.need(scopeFor(type, 'write'));
  const { inputs } = bodyOf(context, updateBody);
  checkSize(inputs, 100);
  const ids = inputs.map((input) => input.id);
  if (new Set(ids).size < ids.length) throw invalid('Duplicate IDs found in batch input');
  if (inputs.some((input) => input.idProperty !== undefined)) throw invalid('idProperty is not allowed here');
  const missing: string[] = [];
  const writes: { record: CrmRecord; checked: Record<string, string> }[] = [];
  for (const { id, properties } of inputs) {
    const checked = checkValues(context.store, type, properties, context.account.portalId);
    const record = find(context, type, id);
    if (record === undefined) missing.push(id);
    else writes.push({ record, checked });
  }
  for (const { record, checked } of writes) checkRequired(record, checked, context.settings.requiredOnWrite);
  for (const { record, checked } of writes) write(context, record, checked);
  const results = writes.map(({ record, checked }) =>
    viewRecord(context.store, record, { properties: Object.keys(checked) }, context.random),
  );
  return batchAnswer(context, results, missed(missing, type));
}

function read(context: Context, params: Params): StandinResponse {
  const type = typeOf(params.type);
  context.need(scopeFor(type, 'read'));
  const { query } = context.req;
  const list = (name: string): string[] =>
    query
      .getAll(name)
      .join(',')
      .split(',')
      .filter((one) => one !== '');
  const record = find(context, type, params.id ?? '', query.get('archived') === 'true');
  if (record === undefined) throw notFound();
  const view = viewRecord(
    context.store,
    record,
    { properties: list('properties'), propertiesWithHistory: list('propertiesWithHistory') },
    context.random,
  );
  const contacts = context.store.contactsHere(type, record.id).map(([id]) => id);
  const inline = list('associations').includes('contacts') && contacts.length > 0;
  const results = contacts.map((id) => ({ id: String(id), type: `${type.slice(0, -1)}_to_contact` }));
  return ok({ ...view, ...(inline ? { associations: { contacts: { results } } } : {}) });
}

function write({ store, now, source, changed }: Context, record: CrmRecord, checked: Record<string, string>): void {
  const names = Object.entries(checked).flatMap(([name, value]) =>
    store.write(record, name, value, source, now) ? [name] : [],
  );
  // Any write bumps the date of the last change, even one that changes nothing else.
  store.touch(record, source, now);
  changed(record, names, source);
}

function find(context: Context, type: ObjectType, id: string, archived = false): CrmRecord | undefined {
  return /^\d{1,15}$/.test(id) ? context.store.find(type, Number(id), archived) : undefined;
}

function missed(ids: readonly string[], type: ObjectType): object[] {
  if (ids.length === 0) return [];
  const message = `Could not get some ${type} objects, they may be deleted or not exist. Check that ids are valid.`;
  return [{ status: 'error', category: 'OBJECT_NOT_FOUND', message, context: { ids } }];
}

interface Fault {
  name: string;
  error: string;
  message: string;
}

/**
 * Checks values for a write and gives them the form in which they are stored. One bad value has all refused.
 * @throws Problem 400 VALIDATION_ERROR, with the vendor's JSON-in-a-message
 */
export function checkValues(
  store: Store,
  type: ObjectType,
  values: Readonly<Record<string, string>>,
  portalId: number,
): Record<string, string> {
  const checked: Record<string, string> = {};
  const faults: Fault[] = [];
  for (const [name, value] of Object.entries(values)) {
    const property = store.properties[type].get(name);
    if (property === undefined) {
      faults.push({ name, error: 'PROPERTY_DOESNT_EXIST', message: `Property "${name}" does not exist` });
      continue;
    }
    const result =
      property.readOnly || property.calculated
        ? fault('READ_ONLY_VALUE', `"${name}" is a read only property`)
        : normalise(store, type, property, value);
    if (typeof result === 'string') checked[name] = result;
    else faults.push({ name, ...result });
  }
  if (faults.length === 0) return checked;
  const items = faults.map((one) => ({
    isValid: false,
    message: one.message,
    error: one.error,
    name: one.name,
    localizedErrorMessage: one.message,
    portalId,
  }));
  throw invalid(`Property values were not valid: ${JSON.stringify(items)}`, {
    errors: faults.map((one) => ({ message: one.message, code: one.error, context: { propertyName: [one.name] } })),
  });
}

/** An admin's rule: this property must have a value after any write, the caller's own fields or not. @throws Problem 400 */
export function checkRequired(
  record: CrmRecord,
  values: Readonly<Record<string, string>>,
  required: string | null,
): void {
  if (required === null || (values[required] ?? record.properties.get(required) ?? '') !== '') return;
  throw problem(400, 'VALIDATION_ERROR', `"${required}" is required`, {
    errors: [
      {
        message: `"${required}" is required`,
        code: 'MISSING_CONDITIONAL_REQUIRED_PROPERTY',
        context: { propertyName: [required] },
      },
    ],
  });
}

function normalise(store: Store, type: ObjectType, property: Property, value: string): string | Omit<Fault, 'name'> {
  if (value === '') return value;
  const known = knownBy(store, type, property.name);
  if (known !== undefined)
    return known.includes(value) ? value : fault('INVALID_OPTION', `${value} was not one of the allowed options`);
  switch (property.type) {
    case 'number':
      return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value)
        ? value
        : fault('INVALID_LONG', `${value} was not a valid number.`);
    case 'bool':
      return value === 'true' || value === 'false'
        ? value
        : fault('INVALID_OPTION', `${value} was not one of the allowed options: [true, false]`);
    case 'enumeration':
      return checkOptions(property, value);
    case 'datetime':
      return instant(value)?.toISOString() ?? fault('INVALID_DATE', `${value} was not a valid date.`);
    case 'date': {
      const at = instant(/^\d{4}-\d{2}-\d{2}$/.test(value) ? `${value}T00:00:00Z` : value);
      const midnight = at !== undefined && at.getTime() % 86_400_000 === 0;
      return midnight ? at.toISOString().slice(0, 10) : fault('INVALID_DATE', `${value} is not midnight UTC of a day.`);
    }
    case 'string':
      return value.length <= 65_536 ? value : fault('INVALID_STRING', 'The value is longer than 65536 characters.');
  }
}

/** The values of a property whose options are kept elsewhere: ids of pipelines, stages, owners. */
function knownBy(store: Store, type: ObjectType, name: string): string[] | undefined {
  if (name === 'hubspot_owner_id') return [...store.owners.keys()];
  if (name === stageProperty[type]) return store.pipelines[type].flatMap(({ stages }) => stages.map(({ id }) => id));
  return name === pipelineProperty[type] ? store.pipelines[type].map(({ id }) => id) : undefined;
}

/** Options compare with case. */
function checkOptions({ options, fieldType }: Property, value: string): string | Omit<Fault, 'name'> {
  const given = fieldType === 'checkbox' ? value.split(';') : [value];
  const allowed = options.map((option) => option.value);
  if (given.every((one) => allowed.includes(one))) return value;
  return fault('INVALID_OPTION', `${value} was not one of the allowed options: [${allowed.join(', ')}]`);
}

/** Epoch milliseconds or ISO 8601 with a zone. */
function instant(value: string): Date | undefined {
  if (/^-?\d{1,15}$/.test(value)) return new Date(Number(value));
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/.test(value)) return undefined;
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

function fault(error: string, message: string): Omit<Fault, 'name'> {
  return { error, message };
}
