import type { Finding, GoingLive } from '../../core/connector/contract.ts';
import type { AdminField } from './admin.ts';
import { catalogueOf } from './fields.ts';
import type { ZendeskShape } from './record.ts';

/** What `record.ts` presents, by name; the compiler keeps it complete. */
type Names<T> = Readonly<Record<keyof NonNullable<T>, true>>;
const ticket: Names<ZendeskShape['ticket']> = {
  id: true,
  subject: true,
  status: true,
  customStatus: true,
  priority: true,
  type: true,
  channel: true,
  brand: true,
  form: true,
  tags: true,
  fields: true,
  labels: true,
  createdAt: true,
  solvedAt: true,
  group: true,
  organization: true,
};
const assignee: Names<ZendeskShape['assignee']> = { id: true, name: true, email: true };
const requester: Names<ZendeskShape['requester']> = {
  ...assignee,
  phone: true,
  locale: true,
  timeZone: true,
  fields: true,
};
const shape: Readonly<Record<keyof ZendeskShape, object>> = { ticket, requester, assignee };
const namesOf = new Map(Object.entries(shape).map(([root, names]) => [root, Object.keys(names)]));

/** Names that no record has. */
export function nameFindings(reads: GoingLive['reads']): Finding[] {
  return reads.flatMap(({ at, path: [root = '', name] }): Finding[] => {
    const names = namesOf.get(root);
    if (names !== undefined && (name === undefined || names.includes(name))) return [];
    const unknown = names === undefined ? `record has no ${root}` : `${root} has no ${name}`;
    const remedy = `There are: ${(names ?? [...namesOf.keys()]).join(', ')}; custom fields are under fields`;
    return [{ level: 'warning', at, problem: `a Zendesk ${unknown}: it is always empty`, remedy }];
  });
}

const place = 'Admin Center > Objects and rules > Tickets > Fields';

/** Ticket fields that rules read (`ticket.fields.store`, `ticket.labels.store`): an expression with a wrong name is silently empty. */
export function readFindings(reads: GoingLive['reads'], fields: readonly AdminField[]): Finding[] {
  const { byId, slugs } = catalogueOf(fields);
  const idOf = new Map([...slugs].map(([id, slug]) => [slug, id]));
  const isMeant = (path: readonly string[]) => path[0] === 'ticket' && (path[1] === 'fields' || path[1] === 'labels');
  return reads.flatMap(({ at, path }) => {
    const [, kind, name] = path;
    if (!isMeant(path) || name === undefined) return [];
    const id = idOf.get(name) ?? name;
    const field = fields.find((one) => one.id === byId.get(id)?.id);
    const why = whyEmpty(field, kind === 'labels');
    if (why === undefined) return [];
    const remedy = `Names are titles in small letters with "_" between words, or the id in backticks; see ${place}`;
    return [{ level: 'error', at, problem: `reads ticket.${kind}.${name}, but ${why}`, remedy }];
  });
}

function whyEmpty(field: AdminField | undefined, isLabel: boolean): string | undefined {
  if (field === undefined) return 'no ticket field has that name or id';
  if (field.removable === false) return "that is one of Zendesk's own fields, which are not among `fields`";
  if (field.active === false) return 'that ticket field is inactive';
  if (isLabel && (field.custom_field_options ?? []).length === 0) return 'only dropdowns and multi-selects have labels';
  return undefined;
}
