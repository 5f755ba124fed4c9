import { z } from 'zod';
import { ok, type StandinResponse } from '../kit/message.ts';
import { type Params, type Route, route } from '../kit/router.ts';
import type { Context } from './context.ts';
import type { CrmRecord, ObjectType } from './model.ts';
import { invalid, notFound } from './problem.ts';
import { bodyOf, scopeFor, typeOf } from './request-body.ts';
import { checkRequired, checkValues } from './values.ts';
import { shuffled, viewRecord } from './views.ts';

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
const patchBody = z.object({ properties: values });

export const objectRoutes: Route<Context>[] = [
  route('POST', `${objects}/batch/read`, batchRead),
  route('POST', `${objects}/batch/update`, batchUpdate),
  route('GET', `${objects}/{id}`, read),
  route('PATCH', `${objects}/{id}`, update),
];

function batchRead(context: Context, params: Params): StandinResponse {
  const type = typeOf(params.type);
  context.need(scopeFor(type, 'read'));
  const { inputs, properties, propertiesWithHistory } = bodyOf(context, readBody);
  const most = propertiesWithHistory.length > 0 ? 50 : 100;
  checkSize(inputs.length, most);
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
  return batchAnswer(context, results, missing, type);
}

/** Unknown ids fail alone (207); one bad value fails everything (400), nothing written. */
function batchUpdate(context: Context, params: Params): StandinResponse {
  const type = typeOf(params.type);
  context.need(scopeFor(type, 'write'));
  const { inputs } = bodyOf(context, updateBody);
  checkSize(inputs.length, 100);
  const ids = inputs.map((input) => input.id);
  if (new Set(ids).size < ids.length) throw invalid('Duplicate IDs found in batch input');
  if (inputs.some((input) => input.idProperty !== undefined)) throw invalid('idProperty is not allowed here');
  const missing: string[] = [];
  const writes: { record: CrmRecord; checked: Record<string, string> }[] = [];
  for (const { id, properties } of inputs) {
    const checked = checkValues(context.store, type, properties, context.portalId);
    const record = find(context, type, id);
    if (record === undefined) missing.push(id);
    else writes.push({ record, checked });
  }
  for (const { record, checked } of writes) checkRequired(record, checked, context.settings.requiredOnWrite);
  for (const { record, checked } of writes) write(context, record, checked);
  const results = writes.map(({ record, checked }) =>
    viewRecord(context.store, record, { properties: Object.keys(checked) }, context.random),
  );
  return batchAnswer(context, results, missing, type);
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

function update(context: Context, params: Params): StandinResponse {
  const type = typeOf(params.type);
  context.need(scopeFor(type, 'write'));
  const { properties } = bodyOf(context, patchBody);
  const record = find(context, type, params.id ?? '');
  if (record === undefined) throw notFound();
  const checked = checkValues(context.store, type, properties, context.portalId);
  checkRequired(record, checked, context.settings.requiredOnWrite);
  write(context, record, checked);
  return ok(viewRecord(context.store, record, { properties: Object.keys(checked) }, context.random));
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

function checkSize(size: number, most: number): void {
  if (size === 0) throw invalid('inputs must not be empty');
  if (size > most) throw invalid(`The maximum number of inputs is ${most}, got ${size}`);
}

/** Results come in no particular order. */
function batchAnswer(
  { now, random }: Context,
  results: object[],
  missing: string[],
  type: ObjectType,
): StandinResponse {
  const at = new Date(now).toISOString();
  const body = { status: 'COMPLETE', results: shuffled(results, random), startedAt: at, completedAt: at };
  if (missing.length === 0) return ok(body);
  const error = {
    status: 'error',
    category: 'OBJECT_NOT_FOUND',
    message: `Could not get some ${type} objects, they may be deleted or not exist. Check that ids are valid.`,
    context: { ids: missing },
  };
  return { status: 207, body: { ...body, numErrors: 1, errors: [error] } };
}
