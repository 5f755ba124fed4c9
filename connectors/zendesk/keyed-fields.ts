import { z } from 'zod';
import { pageWatch } from '../../core/connector/pages.ts';
import type { ZendeskApi } from './client.ts';
import { ZendeskFailure } from './failure.ts';

const Option = z.object({
  id: z.number().nullish(),
  name: z.string(),
  /** The name as it was set: of dynamic content its placeholder, where `name` is its text in our user's language. */
  raw_name: z.string().nullish(),
  /** The tag. */
  value: z.string(),
});

/** A field that an account adds to its users or to the records of a custom object: known by its key. */
const KeyedField = z.object({
  key: z.string().nullish(),
  type: z.string(),
  title: z.string().nullish(),
  active: z.boolean().nullish(),
  /** A checkbox's, where it has one. */
  tag: z.string().nullish(),
  custom_field_options: z.array(Option).nullish(),
});
export type KeyedField = z.output<typeof KeyedField>;

const Page = z.object({
  user_fields: z.array(KeyedField).default([]),
  custom_object_fields: z.array(KeyedField).default([]),
  meta: z.object({ has_more: z.boolean(), after_cursor: z.string().nullish() }).nullish(),
});

/** All user fields, however many. */
export const userFields = (api: ZendeskApi): Promise<KeyedField[]> => all(api, '/api/v2/user_fields.json');

/** All fields of a custom object's records. */
export const objectFields = (api: ZendeskApi, object: string): Promise<KeyedField[]> =>
  all(api, `/api/v2/custom_objects/${object}/fields.json`);

/** The same; undefined where there is no such object. */
export async function objectFieldsIfAny(api: ZendeskApi, object: string): Promise<KeyedField[] | undefined> {
  try {
    return await objectFields(api, object);
  } catch (error) {
    if (error instanceof ZendeskFailure && error.statusCode === 404) return undefined;
    throw error;
  }
}

async function all(api: ZendeskApi, path: string): Promise<KeyedField[]> {
  const fields: KeyedField[] = [];
  let after = '';
  const watch = pageWatch(`Zendesk ${path}`);
  for (;;) {
    const { user_fields, custom_object_fields, meta } = await api.get(`${path}?page[size]=100${after}`, Page);
    fields.push(...user_fields, ...custom_object_fields);
    if (meta?.has_more !== true || meta.after_cursor == null) return fields;
    watch(meta.after_cursor);
    after = `&page[after]=${encodeURIComponent(meta.after_cursor)}`;
  }
}
