import { z } from 'zod';
import { type Cached, cached } from '../../core/connector/cached.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import type { FieldSuggestion } from '../../core/connector/onboarding.ts';
import { listOf, orElse } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { readPages, type ZendeskApi } from './api.ts';

/* The fields that an account adds to its tickets, its users and the records of a custom object. */

const FieldOption = z.object({
  id: orElse(z.number(), null).optional(),
  name: z.string(),
  /** The name as it was set: of dynamic content its placeholder, where `name` is its text in our user's language. */
  raw_name: orElse(z.string(), null).optional(),
  /** The tag. */
  value: z.string(),
});
export type FieldOption = z.output<typeof FieldOption>;

const isSet = orElse(z.boolean(), null).optional();

const Field = z.object({
  type: z.string(),
  title: z.string().nullish(),
  active: z.boolean().nullish(),
  /** A checkbox's, where it has one. */
  tag: orElse(z.string(), null).optional(),
  custom_field_options: listOf(FieldOption).nullish(),
});

const TicketField = Field.extend({
  id: z.union([z.number(), z.string()]).transform(String),
  /** False: one of Zendesk's own, which every account has. */
  removable: isSet,
  agent_can_edit: isSet,
  /** Agents can't solve a ticket without it. */
  required: isSet,
  regexp_for_validation: orElse(z.string(), null).optional(),
});
export type TicketField = z.output<typeof TicketField>;

/** A field of users or of a custom object's records: known by its key. */
const KeyedField = Field.extend({ key: z.string().nullish() });
export type KeyedField = z.output<typeof KeyedField>;

export const ticketFields = (api: ZendeskApi): Promise<TicketField[]> => api.listTicketFields(listOf(TicketField));

/** All user fields, however many. */
export const userFields = (api: ZendeskApi): Promise<KeyedField[]> => keyedFields(api, '/api/v2/user_fields.json');

/** All fields of a custom object's records. */
export const objectFields = (api: ZendeskApi, object: string): Promise<KeyedField[]> =>
  keyedFields(api, `/api/v2/custom_objects/${object}/fields.json`);

/** The same; undefined where there is no such object. */
export async function objectFieldsIfAny(api: ZendeskApi, object: string): Promise<KeyedField[] | undefined> {
  try {
    return await objectFields(api, object);
  } catch (error) {
    if (error instanceof VendorError && error.status === 404) return undefined;
    throw error;
  }
}

const Page = z.object({
  user_fields: listOf(KeyedField).default([]),
  custom_object_fields: listOf(KeyedField).default([]),
});

async function keyedFields(api: ZendeskApi, path: string): Promise<KeyedField[]> {
  const fields: KeyedField[] = [];
  await readPages(api, path, Page, ({ user_fields, custom_object_fields }) => {
    fields.push(...user_fields, ...custom_object_fields);
    return false;
  });
  return fields;
}

/** How long the cached fields may be outdated. */
export const cacheMs = 15 * 60_000;

/** The account's ticket fields as the rest of the connector needs them. */
export interface Catalogue {
  byId: ReadonlyMap<string, TicketField>;
  /** Field id → name in expressions, for fields that have one of their own. */
  slugs: ReadonlyMap<string, string>;
}

export function fieldCatalogue(api: ZendeskApi, ports: Pick<ConnectorPorts, 'now'>): Cached<Catalogue> {
  return cached(async () => catalogueOf(await ofAccount(ticketFields(api))), cacheMs, ports.now);
}

/** A failure to read the fields concerns the account, not one ticket. */
async function ofAccount<T>(fields: Promise<T>): Promise<T> {
  try {
    return await fields;
  } catch (error) {
    if (!(error instanceof CloseloopError) || error.advice.kind !== 'permanent') throw error;
    const { message, outcome, reference } = error;
    throw new CloseloopError(message, { kind: 'config', doubtful: true }, { outcome, reference, cause: error });
  }
}

/**
 * A field's name in expressions is its title in small letters with `_` between words: "Order No." is `order_no`.
 * Where two titles give the same name an active field wins over an inactive one, then the older one (the lower id):
 * a field that is added later can't take the name away from a rule in use. Every field has its id as a name as well.
 */
export function catalogueOf(fields: readonly TicketField[]): Catalogue {
  const inactive = (field: TicketField): number => (field.active === false ? 1 : 0);
  const oldestFirst = [...fields].sort((a, b) => inactive(a) - inactive(b) || Number(a.id) - Number(b.id));
  const owners = new Map<string, string>();
  for (const { id, title } of oldestFirst) {
    const slug = slugOf(title ?? '');
    if (slug !== '' && !owners.has(slug)) owners.set(slug, id);
  }
  return {
    byId: new Map(fields.map((field) => [field.id, field])),
    slugs: new Map([...owners].map(([slug, id]) => [id, slug])),
  };
}

/** The fields that the account has added, as expressions read them. */
export function suggestionsOf({ byId, slugs }: Catalogue): FieldSuggestion[] {
  const own = [...byId.values()].filter(({ active, removable }) => active !== false && removable !== false);
  return own.flatMap(({ id, title }) => {
    const slug = slugs.get(id);
    const name = slug !== undefined && /^[a-z]\w*$/.test(slug) ? slug : `\`${id}\``;
    return [{ name: `ticket field "${title ?? id}"`, expression: `ticket.fields.${name}` }];
  });
}

/** Longer than Zendesk's titles. Normalising many accents takes quadratic time. */
const longestTitle = 1_000;

/** Keeps letters of every script and drops accents, which people type in different ways: "Größe (cm)" is `grosse_cm`. */
export function slugOf(title: string): string {
  return title
    .slice(0, longestTitle)
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '');
}

/** Tag → the description of the field that has it. */
export type TagOwners = ReadonlyMap<string, string>;

/**
 * The owners of the tags of dropdowns, multi-selects and checkboxes, also of inactive ones. A tag
 * belongs to one option of one field: put on a ticket it chooses that option, and people's tags come onto their tickets.
 * Records of custom objects have no tags, so their fields are not among them.
 * Source: support.zendesk.com, "Understanding tags and ticket fields" and "Adding tags to users and organizations".
 */
export function tagOwners(ticket: readonly TicketField[], users: readonly KeyedField[]): TagOwners {
  return new Map([
    ...users.flatMap((field) => tagsOf(field).map((tag): [string, string] => [tag, `user field "${field.key}"`])),
    ...ticket.flatMap((field) => tagsOf(field).map((tag): [string, string] => [tag, ticketFieldName(field)])),
  ]);
}

export const ticketFieldName = ({ id, title }: Pick<TicketField, 'id' | 'title'>): string =>
  `ticket field ${id}${title == null || title === '' ? '' : ` "${title}"`}`;

/** Why no option with this tag can be added to a field; undefined if it can. */
export function obstacle(tag: string, owners: TagOwners): string | undefined {
  if (/\s/.test(tag)) return `"${tag}" has a space, which no tag has`;
  const owner = owners.get(tag);
  return owner === undefined ? undefined : `"${tag}" belongs to ${owner}, and Zendesk gives a tag to one field only`;
}

function tagsOf({ tag, custom_field_options: options }: z.output<typeof Field>): string[] {
  return [...(options ?? []).map(({ value }) => value), ...(tag == null || tag === '' ? [] : [tag])];
}
