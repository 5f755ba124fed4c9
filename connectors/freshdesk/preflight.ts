import { z } from 'zod';
import { type Comparison, errorAt, isSameUrl, twoSurveys } from '../../core/connector/check.ts';
import { comparedHooks, type DeskFields, type DeskPreflight } from '../../core/connector/desk/preflight.ts';
import { typesByPart } from '../../core/connector/fields.ts';
import { flag, listOf, mapOf, orElse } from '../../core/entries.ts';
import { type Account, Field } from './api.ts';
import { shapeNames } from './record.ts';
import type { FreshdeskSettings } from './settings.ts';

const fields = (account: Account): DeskFields => ({
  ...{ of: 'tickets', field: 'ticket field', place: 'Admin > Workflows > Ticket Fields' },
  async list() {
    const all = await account.fields('now');
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
    const made = await account.admin.send('POST', '/admin/ticket_fields', body, Field);
    return made.name === name ? {} : { note: `Freshdesk calls it "${made.name}": set writeBack.${part} to that` };
  },
});

/** The header in which the rules send the secret, because Freshdesk signs nothing. */
export const secretHeader = 'x-closeloop-secret';

const Action = z.object({ url: z.string(), custom_headers: mapOf(z.string()).catch({}) });
/** Freshdesk's documents do not say whether a status is a number or a text. */
const number = orElse(z.union([z.string(), z.int().transform(String)]), '');
const Rule = z.object({
  id: z.int(),
  active: flag,
  outdated: flag,
  performer: orElse(z.object({ type: z.int() }), { type: 0 }),
  events: orElse(listOf(z.object({ field_name: z.string(), from: number, to: number })), []),
  actions: orElse(listOf(orElse(Action, undefined)), []),
});
const Rules = z.union([listOf(Rule), z.object({ rules: listOf(Rule) }).transform(({ rules }) => rules)]);
/** The path of the rules that Freshdesk runs when a ticket is updated. */
const path = '/automations/4/rules';
/** The wanted rules, by Freshdesk's numbers of performers. Freshdesk's system is the performer that closes resolved tickets after a while. */
const wanted = [
  { id: 'people', performer: 3, what: 'the rule "closeloop: ticket closed or reopened"' },
  { id: 'system', performer: 4, what: 'the rule "closeloop: ticket closed or reopened by a rule"' },
] as const;

const anyMove = { field_name: 'status', from: '--', to: '--' };
const movesOf = (status: number) => [
  { ...anyMove, to: String(status) },
  { ...anyMove, from: String(status) },
];

function bodyOf({ performer, what }: (typeof wanted)[number], url: string, settings: FreshdeskSettings) {
  const ticket = { ticket_id: '{{ticket.id}}', event: '{{triggered_event}}', at: '{{ticket.modified_on}}' };
  const action = {
    field_name: 'trigger_webhook',
    request_type: 'POST',
    content_type: 'JSON',
    content_layout: '2',
    url,
  };
  const custom_headers = { [secretHeader]: settings.webhookSecrets[0] ?? '' };
  return {
    name: what.replace(/^[^"]*"|"$/g, ''),
    active: true,
    performer: { type: performer },
    events: settings.closedStatuses.flatMap(movesOf),
    actions: [{ ...action, custom_headers, content: { v: '1', kind: 'status', ...ticket } }],
  };
}

const comparedRules =
  (settings: FreshdeskSettings, { admin }: Account) =>
  (hookUrl: string): Promise<Comparison> => {
    const { closedStatuses, webhookSecrets } = settings;
    return comparedHooks<z.output<typeof Rule>, (typeof wanted)[number]>(
      {
        list: () => admin.get(path, Rules),
        wanted: () => wanted,
        is: ({ performer, actions }, { performer: type }) =>
          performer.type === type && actions.some((action) => action && isSameUrl(action.url, hookUrl)),
        flaws({ active, outdated, events, actions }) {
          const sent = actions.find((action) => action && isSameUrl(action.url, hookUrl))?.custom_headers[secretHeader];
          const isOurs = sent !== undefined && (webhookSecrets.includes(sent) || /^\*+$/.test(sent));
          const listensTo = ({ from, to }: (typeof events)[number]) =>
            events.some((event) => event.field_name === 'status' && event.from === from && event.to === to);
          const isDeaf = !closedStatuses.flatMap(movesOf).every(listensTo) && !listensTo(anyMove);
          return [
            ...(active ? [] : ['is switched off']),
            ...(outdated ? ['names a field that is gone'] : []),
            ...(isDeaf ? ['does not listen to every status of closedStatuses'] : []),
            ...(isOurs ? [] : [sent === undefined ? 'sends no secret' : 'sends another secret']),
          ];
        },
        async make(one, there) {
          const body = bodyOf(one, hookUrl, settings);
          if (there === undefined) await admin.send('POST', path, body, z.unknown());
          else await admin.send('PUT', `${path}/${there.id}`, body, z.unknown());
          return {};
        },
      },
      hookUrl,
    );
  };

export function preflight(settings: FreshdeskSettings, account: Account): DeskPreflight {
  const { closedStatuses, ratings, baseUrl } = settings;

  async function ofStatuses() {
    const known = (await account.fields('now')).find(({ type }) => type === 'default_status')?.choices ?? [];
    const odd = closedStatuses.filter((status) => !known.includes(String(status)));
    return odd.map((status) =>
      errorAt('closedStatuses', `there is no status ${status}`, `There are: ${known.join(', ')}`),
    );
  }

  /** A plan without surveys refuses the call. */
  async function ofSurveys() {
    const { json } = await account.exchange({ method: 'GET', path: '/surveys?state=active' });
    const asks = Array.isArray(json) && json.length > 0;
    return asks && ratings === undefined ? [twoSurveys('Freshdesk', 'ticket')] : [];
  }

  return {
    credential: 'apiKey',
    shape: { names: shapeNames, hint: 'custom fields are under ticket.fields' },
    isStandin: baseUrl !== undefined,
    probes: [
      { what: 'the statuses', read: ofStatuses },
      { what: 'the agents', tries: () => account.agents('now') },
      { what: 'the tickets', tries: () => account.changes('work').page(new Date(), 1) },
      { at: 'ratings', what: 'the surveys', read: ofSurveys },
    ],
    fields: fields(account),
    hooks: comparedRules(settings, account),
  };
}
