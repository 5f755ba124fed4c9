import { z } from 'zod';
import { ok, type StandinResponse } from '../kit/message.ts';
import { type Route, route } from '../kit/router.ts';
import type { Context } from './context.ts';
import type { ObjectRecord } from './model.ts';
import { badRequest, recordInvalid, recordNotFound } from './problem.ts';
import { objectOf } from './ticket-body.ts';
import { keyedValue } from './user-endpoints.ts';
import { iso } from './views.ts';

const body = z.object({
  custom_object_record: z.object({
    name: z.string().optional(),
    custom_object_fields: z.record(z.string(), z.unknown()).default({}),
  }),
});

/** Records of custom objects: found and set by the caller's own id for them. */
export const recordRoutes: Route<Context>[] = [
  route('GET', '/api/v2/custom_objects/{key}/records', (context, { key }) => list(context, key)),
  route('PATCH', '/api/v2/custom_objects/{key}/records', (context, { key }) => set(context, key)),
  route('DELETE', '/api/v2/custom_objects/{key}/records', (context, { key }) => remove(context, key)),
];

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
  const externalId = context.req.query.get('external_id');
  if (externalId === null || externalId === '') throw badRequest('external_id or name is required');
  if (!context.store.records.delete(`${object.key}/${externalId}`)) throw recordNotFound();
  return { status: 204 };
}

function set(context: Context, key: string | undefined): StandinResponse {
  const { store, now } = context;
  const object = definitionOf(context, key);
  const externalId = context.req.query.get('external_id');
  if (externalId === null || externalId === '') throw badRequest('external_id or name is required');
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

function definitionOf({ store }: Context, key: string | undefined) {
  const found = store.admin.customObjects.get(key ?? '');
  if (found === undefined) throw recordNotFound();
  return found;
}

function view({ id, object, externalId, name, fields, createdAt, updatedAt }: ObjectRecord): object {
  return {
    id,
    custom_object_key: object,
    external_id: externalId,
    name,
    custom_object_fields: fields,
    created_at: iso(createdAt),
    updated_at: iso(updatedAt),
  };
}
