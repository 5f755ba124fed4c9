import { z } from 'zod';
import { errorAt, warningAt } from '../../core/connector/check.ts';
import type { DeskFields, DeskPreflight } from '../../core/connector/desk/preflight.ts';
import { typesByPart } from '../../core/connector/fields.ts';
import { listOf, orElse } from '../../core/entries.ts';
import type { Account } from './api.ts';
import { comparedRules } from './rules.ts';
import type { FreshdeskSettings } from './settings.ts';
import { shapeNames } from './ticket.ts';

const Field = z.object({
  name: z.string(),
  type: z.string(),
  required_for_agents: orElse(z.boolean(), false),
  /** A list, or, of the statuses, an object by their numbers. */
  choices: orElse(z.union([listOf(z.string()), z.looseObject({}).transform(Object.keys)]), undefined),
});
export const fieldsOf = (account: Account) => account.call({ method: 'GET', path: '/ticket_fields' }, listOf(Field));

const fields = (account: Account): DeskFields => ({
  ...{ of: 'tickets', field: 'ticket field', place: 'Admin > Workflows > Ticket Fields' },
  async list() {
    const all = await fieldsOf(account);
    return all.map(({ required_for_agents: required, choices, ...field }) => ({
      ...{ ...field, required },
      ...(field.type === 'custom_dropdown' && { values: choices }),
    }));
  },
  types: typesByPart({
    grade: { whole: 'custom_number', fraction: 'custom_decimal', any: ['custom_dropdown', 'custom_text'] },
    comment: ['custom_paragraph', 'custom_text'],
    others: ['custom_text', 'custom_paragraph'],
  }),
  async make({ part, name, types: [type] }) {
    const label = name.slice('cf_'.length).replaceAll('_', ' ');
    const hidden = { displayed_to_customers: false, customers_can_edit: false, required_for_customers: false };
    const optional = { required_for_agents: false, required_for_closure: false };
    const body = { label, label_for_customers: label, type, ...hidden, ...optional };
    const made = await account.admin.call({ method: 'POST', path: '/admin/ticket_fields', body }, Field);
    return made.name === name ? {} : { note: `Freshdesk calls it "${made.name}": set writeBack.${part} to that` };
  },
});

export function preflight(settings: FreshdeskSettings, account: Account): DeskPreflight {
  const { closedStatuses, ratings, baseUrl } = settings;

  async function ofStatuses() {
    const known = (await fieldsOf(account)).find(({ type }) => type === 'default_status')?.choices ?? [];
    const odd = closedStatuses.filter((status) => !known.includes(String(status)));
    return odd.map((status) =>
      errorAt('closedStatuses', `there is no status ${status}`, `There are: ${known.join(', ')}`),
    );
  }

  /** A plan without surveys refuses the call. */
  async function ofSurveys() {
    const { json } = await account.exchange({ method: 'GET', path: '/surveys?state=active' });
    if (ratings !== undefined || !Array.isArray(json) || json.length === 0) return [];
    const remedy = "Switch Freshdesk's own off, or pass its ratings on (ratings)";
    return [warningAt('ratings', 'Freshdesk asks for ratings as well: two surveys for one ticket', remedy)];
  }

  return {
    credential: 'apiKey',
    shape: { names: shapeNames, hint: 'custom fields are under ticket.fields' },
    isStandin: baseUrl !== undefined,
    probes: [
      { at: 'apiKey', what: 'the statuses', read: ofStatuses },
      { at: 'apiKey', what: 'the agents', tries: () => account.agents('now') },
      { at: 'apiKey', what: 'the tickets', tries: () => account.changedSince(new Date(), 1, 'work') },
      { at: 'ratings', what: 'the surveys', read: ofSurveys },
    ],
    fields: fields(account),
    hooks: comparedRules(settings, account),
  };
}
