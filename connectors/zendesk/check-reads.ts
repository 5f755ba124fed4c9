import { errorAt, unknownReads } from '../../core/connector/check.ts';
import type { Finding, PreflightContext } from '../../core/connector/contract.ts';
import { catalogueOf, type KeyedField, type TicketField } from './fields.ts';
import { shapeNames } from './record.ts';
import { ticketField, userField } from './targets.ts';

/** Names that no record has. */
export const nameFindings = (reads: PreflightContext['reads']): Finding[] =>
  unknownReads('Zendesk', shapeNames, 'custom fields are under `fields`', reads);

/** Ticket fields that rules read (`ticket.fields.store`, `ticket.labels.store`): an expression with a wrong name is silently empty. */
export function readFindings(reads: PreflightContext['reads'], fields: readonly TicketField[]): Finding[] {
  const { byId, slugs } = catalogueOf(fields);
  const idOf = new Map([...slugs].map(([id, slug]) => [slug, id]));
  const isField = (path: readonly string[]) => path[0] === 'ticket' && (path[1] === 'fields' || path[1] === 'labels');
  return reads.flatMap(({ at, path }) => {
    const [, kind, name] = path;
    if (!isField(path) || name === undefined) return [];
    const id = idOf.get(name) ?? name;
    const field = fields.find((one) => one.id === byId.get(id)?.id);
    const why = whyEmpty(field, kind === 'labels');
    if (why === undefined) return [];
    const remedy = `Names are titles in small letters with "_" between words, or the id in backticks; see ${ticketField.place}`;
    return [errorAt(at, `reads ticket.${kind}.${name}, but ${why}`, remedy)];
  });
}

function whyEmpty(field: TicketField | undefined, isLabel: boolean): string | undefined {
  if (field === undefined) return 'no ticket field has that name or id';
  if (field.removable === false) return "that is one of Zendesk's own fields, which are not among `fields`";
  if (field.active === false) return 'that ticket field is inactive';
  if (isLabel && (field.custom_field_options ?? []).length === 0) return 'only dropdowns and multi-selects have labels';
  return undefined;
}

/** User fields that rules read (`requester.fields.plan`). */
export function userReadFindings(reads: PreflightContext['reads'], fields: readonly KeyedField[]): Finding[] {
  return reads.flatMap(({ at, path: [top, next, key] }) => {
    if (top !== 'requester' || next !== 'fields' || !key) return [];
    const field = fields.find((one) => one.key === key);
    if (field !== undefined && field.active !== false) return [];
    const why = field === undefined ? `there is no user field with the key "${key}"` : 'that user field is inactive';
    return [errorAt(at, `reads requester.fields.${key}, but ${why}`, `Take the field key from ${userField.place}`)];
  });
}
