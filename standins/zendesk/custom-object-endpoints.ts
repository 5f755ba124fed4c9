import { z } from 'zod';
import { ok, type StandinResponse, toSecond } from '../kit/message.ts';
import { type Route, route } from '../kit/router.ts';
import {
  adminOnly,
  badRequest,
  bodyOf,
  type Context,
  objectOf,
  paged,
  recordInvalid,
  recordNotFound,
  there,
} from './context.ts';
import type { CustomObject, ObjectRecord } from './definitions.ts';
import { fieldKey, keyedType, needOptions, options, replaceOptions, viewKeyedField } from './field-endpoints.ts';
import { keyedValue } from './other-endpoints.ts';

const customObject = z.object({
  key: fieldKey,
  title: z.string().min(1),
  title_pluralized: z.string().min(1),
});

const objectField = z.object({
  type: keyedType.default('text'),
  key: fieldKey,
  title: z.string().min(1),
  active: z.boolean().default(true),
  regexp_for_validation: z.string().nullable().default(null),
  custom_field_options: options.default([]),
});
/** The key can't be changed. */
const objectFieldChange = z.object({
  title: z.string().min(1).optional(),
  active: z.boolean().optional(),
  custom_field_options: options.optional(),
});

/** Custom objects and their fields: agents look, admins set up. They have no scope of their own. */
export const customObjectRoutes: Route<Context>[] = [
  route('POST', '/api/v2/custom_objects', createObject),
  route('GET', '/api/v2/custom_objects/{key}/fields', (context, { key }) => {
    const fields = definitionOf(context, key).fields.map((field) => viewKeyedField(field, context));
    return ok(paged(context, 'custom_object_fields', fields));
  }),
  route('POST', '/api/v2/custom_objects/{key}/fields', createField),
  route('PATCH', '/api/v2/custom_objects/{key}/fields/{field}', updateField),
  // Finds and sets records by the caller's own ids (`external_id`).
  route('GET', '/api/v2/custom_objects/{key}/records', (context, { key }) => list(context, key)),
  route('PATCH', '/api/v2/custom_objects/{key}/records', (context, { key }) => set(context, key)),
  route('DELETE', '/api/v2/custom_objects/{key}/records', (context, { key }) => remove(context, key)),
];

function createObject(context: Context): StandinResponse {
  adminOnly(context);
  const { key, title } = bodyOf(context, 'custom_object', customObject);
  const { customObjects, settings } = context.store.admin;
  if (customObjects.has(key)) throw taken();
  if (customObjects.size >= settings.customObjects) {
    throw recordInvalid({ base: [{ description: 'The maximum number of custom objects has been reached' }] });
  }
  const object: CustomObject = { key, title, fields: [] };
  customObjects.set(key, object);
  return { status: 201, body: { custom_object: viewObject(object) } };
}

function createField(context: Context, params: Readonly<Record<string, string>>): StandinResponse {
  adminOnly(context);
  const { fields } = definitionOf(context, params.key);
  const given = bodyOf(context, 'custom_object_field', objectField);
  const { key, title, type, active, regexp_for_validation, custom_field_options } = given;
  if (fields.some((field) => field.key === key)) throw taken();
  if (fields.length >= 100) {
    throw recordInvalid({ base: [{ description: 'The maximum number of fields has been reached' }] });
  }
  needOptions(type === 'dropdown' || type === 'multiselect', custom_field_options);
  const held = replaceOptions(context, [], custom_field_options);
  const field = context.store.numbered({ key, title, type, active, regexp: regexp_for_validation, options: held });
  fields.push(field);
  return { status: 201, body: { custom_object_field: viewKeyedField(field, context) } };
}

/** Options that aren't named are removed; an option without an id is a new option, whatever its tag. */
function updateField(context: Context, params: Readonly<Record<string, string>>): StandinResponse {
  adminOnly(context);
  const field = there(
    definitionOf(context, params.key).fields.find(({ id, key }) => key === params.field || String(id) === params.field),
  );
  const { title, active, custom_field_options } = bodyOf(context, 'custom_object_field', objectFieldChange);
  if (custom_field_options !== undefined) {
    needOptions(true, custom_field_options);
    const named = field.options.filter(({ id }) => custom_field_options.some((option) => option.id === id));
    field.options = replaceOptions(context, named, custom_field_options);
  }
  if (title !== undefined) field.title = title;
  if (active !== undefined) field.active = active;
  return ok({ custom_object_field: viewKeyedField(field, context) });
}

const viewObject = ({ key, title }: CustomObject): object => ({
  key,
  title,
  title_pluralized: `${title}s`,
  include_in_list_view: true,
});

const taken = () => recordInvalid({ key: [{ description: 'Key: has already been taken', error: 'DuplicateValue' }] });

const body = z.object({
  custom_object_record: z.object({
    name: z.string().optional(),
    custom_object_fields: z.record(z.string(), z.unknown()).default({}),
  }),
});

function list(context: Context, key: string | undefined): StandinResponse {
  const object = definitionOf(context, key);
  const wanted = context.req.query.get('filter[external_ids]')?.split(',');
  const records = [...context.store.records.values()].filter(
    (record) => record.object === object.key && (wanted === undefined || wanted.includes(record.externalId)),
  );
  const meta = { has_more: false, after_cursor: null, before_cursor: null };
  const custom_object_records = records.map(view);
  return ok({ custom_object_records, count: records.length, meta, links: { next: null, prev: null } });
}

function remove(context: Context, key: string | undefined): StandinResponse {
  const object = definitionOf(context, key);
  const externalId = externalIdOf(context);
  if (!context.store.records.delete(`${object.key}/${externalId}`)) throw recordNotFound();
  return { status: 204 };
}

function set(context: Context, key: string | undefined): StandinResponse {
  const { store, now } = context;
  const object = definitionOf(context, key);
  const externalId = externalIdOf(context);
  const parsed = body.safeParse(objectOf(context.req));
  if (!parsed.success) throw badRequest('custom_object_record must be an object');
  const { name, custom_object_fields } = parsed.data.custom_object_record;
  const place = `${object.key}/${externalId}`;
  const held = store.records.get(place);
  if (held === undefined && name === undefined) {
    throw recordInvalid({ name: [{ description: 'Name: cannot be blank', error: 'BlankValue' }] });
  }
  const record = held ?? {
    id: `01${String(store.nextId())}`,
    object: object.key,
    externalId,
    name: '',
    fields: Object.fromEntries(object.fields.map((field) => [field.key, null])),
    createdAt: now,
    updatedAt: now,
  };
  for (const field of object.fields) {
    const value = Object.hasOwn(custom_object_fields, field.key)
      ? keyedValue(field, custom_object_fields[field.key])
      : undefined;
    if (value !== undefined) record.fields[field.key] = value;
  }
  store.records.set(place, Object.assign(record, { name: name ?? record.name, updatedAt: now }));
  return ok({ custom_object_record: view(record) });
}

function externalIdOf({ req }: Context): string {
  const externalId = req.query.get('external_id') ?? '';
  if (externalId === '') throw badRequest('external_id or name is required');
  return externalId;
}

function definitionOf({ store }: Context, key: string | undefined): CustomObject {
  return there(store.admin.customObjects.get(key ?? ''));
}

function view({ id, object, externalId, name, fields, createdAt, updatedAt }: ObjectRecord): object {
  return {
    id,
    custom_object_key: object,
    external_id: externalId,
    name,
    custom_object_fields: fields,
    created_at: toSecond(createdAt),
    updated_at: toSecond(updatedAt),
  };
}
