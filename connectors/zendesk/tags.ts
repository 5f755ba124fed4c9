import type { AdminField } from './admin.ts';
import type { KeyedField } from './keyed-fields.ts';

/** Tag → the field that has it, in words. */
export type TagOwners = ReadonlyMap<string, string>;

/**
 * Who has which tag, of the options of dropdowns and multi-selects and of checkboxes, also where they are inactive. A tag
 * belongs to one option of one field: put on a ticket it chooses that option, and people's tags come onto their tickets.
 * Records of custom objects have no tags, so their fields are not among them.
 * Source: support.zendesk.com, "Understanding tags and ticket fields" and "Adding tags to users and organizations".
 */
export function tagOwners(ticketFields: readonly AdminField[], userFields: readonly KeyedField[]): TagOwners {
  return new Map([
    ...userFields.flatMap((field) => tagsOf(field).map((tag): [string, string] => [tag, `user field "${field.key}"`])),
    ...ticketFields.flatMap((field) => tagsOf(field).map((tag): [string, string] => [tag, ticketFieldName(field)])),
  ]);
}

export const ticketFieldName = ({ id, title }: Pick<AdminField, 'id' | 'title'>): string =>
  `ticket field ${id}${title == null || title === '' ? '' : ` "${title}"`}`;

/** Why no option with this tag can be added to a field that lacks it; undefined: it can. */
export function obstacle(tag: string, owners: TagOwners): string | undefined {
  if (/\s/.test(tag)) return `"${tag}" has a space, which no tag has`;
  const owner = owners.get(tag);
  return owner === undefined ? undefined : `"${tag}" belongs to ${owner}, and Zendesk gives a tag to one field only`;
}

function tagsOf({ tag, custom_field_options: options }: AdminField | KeyedField): string[] {
  return [...(options ?? []).map(({ value }) => value), ...(tag == null || tag === '' ? [] : [tag])];
}
