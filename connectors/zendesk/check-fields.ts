import type { Finding } from '../../core/connector/contract.ts';
import type { AdminField } from './admin.ts';
import { valueFindings } from './check-values.ts';
import { catalogueOf } from './fields.ts';
import type { ZendeskSettings } from './settings.ts';
import { type TagOwners, ticketFieldName } from './tags.ts';
import { fieldFor, type Part, partsOf, resolveFields } from './targets.ts';

const place = 'Admin Center > Objects and rules > Tickets > Fields';

/** Can the ticket fields that `writeBack` names take what we write? `grades` is empty where nobody knows them. */
export function fieldFindings(
  settings: ZendeskSettings['writeBack'],
  fields: readonly AdminField[],
  grades: readonly number[],
  owners: TagOwners,
): Finding[] {
  const { targets, problems } = resolveFields(settings, catalogueOf(fields));
  const byId = new Map(fields.map((field) => [field.id, field]));
  const users = new Map<string, Part>();
  const found: Finding[] = problems.flatMap(({ why, part, ...finding }) => {
    const named = byId.get(fieldFor(settings, part) ?? '');
    // That it is Zendesk's own says more than that its type doesn't fit.
    return why === 'type' && named?.removable === false ? system(finding.at, named) : [finding];
  });
  for (const part of partsOf(settings)) {
    const field = byId.get(targets[part]?.id ?? '');
    if (field === undefined) continue;
    const at = `writeBack.${part}`;
    const name = ticketFieldName(field);
    found.push(...valueFindings({ part, at, name, place }, field, settings, grades, owners));
    found.push(...(field.removable === false ? system(at, field) : []), ...agentFindings(at, field));
    const other = users.get(field.id);
    if (other !== undefined) {
      const problem = `${name} is also writeBack.${other}: one value overwrites the other`;
      found.push({ level: 'error', at, problem, remedy: 'Name another field' });
    }
    users.set(field.id, part);
  }
  return found;
}

function system(at: string, field: AdminField): Finding[] {
  const problem = `${ticketFieldName(field)} is one of Zendesk's own fields, which has its own meaning`;
  const remedy = `Create a field for it (${place}), or give a title and run "closeloop setup"`;
  return [{ level: 'error', at, problem, remedy }];
}

function agentFindings(at: string, field: AdminField): Finding[] {
  const warning = (problem: string, remedy: string): Finding => ({ level: 'warning', at, problem, remedy });
  const name = ticketFieldName(field);
  return [
    ...(field.agent_can_edit === false
      ? [warning(`${name} may not be edited by agents, so perhaps not by us`, `Allow agents to edit it (${place})`)]
      : []),
    ...(field.required === true
      ? [
          warning(
            `${name} is required to solve a ticket: agents have to make up the customer's answer`,
            `Make it optional (${place})`,
          ),
        ]
      : []),
  ];
}
