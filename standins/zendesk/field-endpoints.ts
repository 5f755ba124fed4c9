import { z } from 'zod';
import { ok, type StandinResponse } from '../kit/message.ts';
import { type Route, route } from '../kit/router.ts';
import { adminOnly, bodyOf, type Context, paged, recordInvalid, there } from './context.ts';
import { type Admin, fieldTypes, type KeyedField, keyedFieldTypes } from './definitions.ts';
import { viewField, viewSystemFields } from './views.ts';

export interface Option {
  id: number;
  name: string;
  value: string;
}

export const optionBody = z.object({
  id: z.number().int().nullish(),
  name: z.string().min(1),
  value: z.string().regex(/^\S+$/),
});
type GivenOption = z.output<typeof optionBody>;

/** `raw_name` and the like are shown and not taken. */
export const options = z.array(optionBody);

/**
 * Tags that options and checkboxes of other fields have, of tickets and of users: no option may have one of them.
 * Records of custom objects have no tags.
 */
export function tagsBesides({ store }: Context, held?: readonly Option[]): ReadonlySet<string> {
  const tickets = [...store.fields.values()];
  const others = [...tickets, ...store.admin.userFields.values()].filter((field) => field.options !== held);
  return new Set([
    ...others.flatMap((field) => field.options.map(({ value }) => value)),
    ...tickets.flatMap(({ tag }) => tag ?? []),
  ]);
}

/** The list as given; an option that was there, by id or tag, keeps its id. @throws Problem 422 */
export function replaceOptions(
  { store }: Context,
  held: readonly Option[],
  given: readonly GivenOption[],
  besides: ReadonlySet<string> = new Set(),
): Option[] {
  if (new Set(given.map(({ value }) => value)).size < given.length) throw taken();
  if (given.some(({ value }) => besides.has(value))) throw taken();
  if (given.length > 2_000) throw invalid('Custom field options: too many', 'TooLong');
  return given.map(({ id, name, value }) => {
    const before = held.find((one) => one.id === id) ?? held.find((one) => one.value === value);
    return { id: before?.id ?? store.nextId(), name, value };
  });
}

/** Changes the option of that id, or adds one. @throws Problem 422 for a tag that another option has */
export function addOption(
  { store }: Context,
  held: Option[],
  { id, name, value }: GivenOption,
  besides: ReadonlySet<string>,
): { option: Option; isNew: boolean } {
  const before = held.find((one) => one.id === id);
  if (besides.has(value) || held.some((one) => one.value === value && one !== before)) throw taken();
  if (before !== undefined) return { option: Object.assign(before, { name, value }), isNew: false };
  if (held.length >= 2_000) throw invalid('Custom field options: too many', 'TooLong');
  const option = { id: store.nextId(), name, value };
  held.push(option);
  return { option, isNew: true };
}

/** `name` in the caller's language, `raw_name` as it was given. */
export function viewOptions(options: readonly Option[], { dynamicContent }: Admin): object[] {
  return options.map(({ id, name, value }, position) => {
    const shown = name.replace(/\{\{dc\.(\w+)\}\}/g, (raw, key: string) => dynamicContent.get(key) ?? raw);
    return { id, name: shown, raw_name: name, position, value };
  });
}

/** A dropdown can't be without options. @throws Problem 422 */
export function needOptions(isChoice: boolean, given: readonly object[]): void {
  if (isChoice && given.length === 0) throw invalid('Custom field options: cannot be blank', 'BlankValue');
}

const taken = () => invalid('Custom field options: tag has already been taken', 'DuplicateValue');
const invalid = (description: string, error: string) =>
  recordInvalid({ custom_field_options: [{ description, error }] });

const ticketField = z.object({
  type: z.enum(fieldTypes).default('text'),
  title: z.string().min(1),
  active: z.boolean().default(true),
  required: z.boolean().default(false),
  regexp_for_validation: z.string().nullable().default(null),
  tag: z.string().nullable().default(null),
  custom_field_options: options.optional(),
});
/** Letters, numbers and underscores; not only numbers. */
export const fieldKey = z.string().regex(/^(?!\d+$)\w+$/);
export const keyedType = z.enum(keyedFieldTypes);

const userField = z.object({
  type: keyedType.default('text'),
  key: fieldKey,
  title: z.string().min(1),
  active: z.boolean().default(true),
  regexp_for_validation: z.string().nullable().default(null),
  custom_field_options: options.optional(),
});

export const fieldRoutes: Route<Context>[] = [
  route('GET', '/api/v2/ticket_fields', (context) => {
    const custom = [...context.store.fields.values()].map((field) => viewField(field, context.base));
    const all = [...viewSystemFields(context.base), ...custom];
    return ok(paged(context, 'ticket_fields', all, true));
  }),
  route('POST', '/api/v2/ticket_fields', createTicketField),
  route('POST', '/api/v2/ticket_fields/{id:\\d+}/options', (context, { id }) =>
    createOption(context, there(context.store.fields.get(Number(id))).options),
  ),
  route('GET', '/api/v2/user_fields', (context) => {
    const all = [...context.store.admin.userFields.values()].map((field) => viewKeyedField(field, context));
    return ok(paged(context, 'user_fields', all));
  }),
  route('POST', '/api/v2/user_fields', createUserField),
  route('POST', '/api/v2/user_fields/{key}/options', (context, { key }) => {
    const all = [...context.store.admin.userFields.values()];
    return createOption(context, there(all.find((one) => one.key === key || String(one.id) === key)).options);
  }),
];

function createTicketField(context: Context): StandinResponse {
  adminOnly(context);
  const given = bodyOf(context, 'ticket_field', ticketField);
  const { type, title, active, required, regexp_for_validation, tag, custom_field_options = [] } = given;
  needOptions(type === 'tagger' || type === 'multiselect', custom_field_options);
  if (type === 'regexp' && regexp_for_validation === null) {
    throw recordInvalid({ regexp_for_validation: [{ description: 'Regexp: cannot be blank', error: 'BlankValue' }] });
  }
  const field = context.store.addField({
    title,
    type,
    active,
    required,
    regexp: regexp_for_validation,
    tag,
    agentCanEdit: true,
    options: replaceOptions(context, [], custom_field_options, tagsBesides(context)),
  });
  return { status: 201, body: { ticket_field: viewField(field, context.base) } };
}

function createUserField(context: Context): StandinResponse {
  adminOnly(context);
  const given = bodyOf(context, 'user_field', userField);
  const { store } = context;
  if ([...store.admin.userFields.values()].some(({ key }) => key === given.key)) {
    throw recordInvalid({ key: [{ description: 'Key: has already been taken', error: 'DuplicateValue' }] });
  }
  needOptions(given.type === 'dropdown' || given.type === 'multiselect', given.custom_field_options ?? []);
  const { key, title, type, active, regexp_for_validation, custom_field_options = [] } = given;
  const field = store.addUserField({
    key,
    title,
    type,
    active,
    regexp: regexp_for_validation,
    options: replaceOptions(context, [], custom_field_options, tagsBesides(context)),
  });
  return { status: 201, body: { user_field: viewKeyedField(field, context) } };
}

function createOption(context: Context, held: Option[]): StandinResponse {
  adminOnly(context);
  context.limit([
    { key: 'field-options', limit: 100, windowMs: 60_000, name: 'ticket-field-options', what: 'field options' },
  ]);
  const given = bodyOf(context, 'custom_field_option', optionBody);
  const { option, isNew } = addOption(context, held, given, tagsBesides(context, held));
  return { status: isNew ? 201 : 200, body: { custom_field_option: option } };
}

export function viewKeyedField(
  { id, key, title, type, active, regexp, options }: KeyedField,
  { store }: Context,
): object {
  return {
    id,
    key,
    title,
    raw_title: title,
    type,
    active,
    system: false,
    position: id,
    regexp_for_validation: regexp,
    ...(type === 'dropdown' || type === 'multiselect'
      ? { custom_field_options: viewOptions(options, store.admin) }
      : {}),
  };
}
