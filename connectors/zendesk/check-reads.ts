import type { Finding, GoingLive } from '../../core/connector.ts';
import type { AdminField } from './admin.ts';
import { catalogueOf } from './fields.ts';

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
