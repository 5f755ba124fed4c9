import { z } from 'zod';
import { errorAt, isSameUrl, warningAt } from '../../core/connector/check.ts';
import type { DeskPreflight } from '../../core/connector/desk/preflight.ts';
import { comparedHooks } from '../../core/connector/desk/preflight.ts';
import { typesByPart } from '../../core/connector/fields.ts';
import { listOf, orElse } from '../../core/entries.ts';
import type { Account } from './api.ts';
import type { FreshdeskSettings } from './settings.ts';
import { shapeNames } from './ticket.ts';

/** Freshdesk signs nothing: the rules send the secret in this header. */
export const secretHeader = 'x-closeloop-secret';

const flag = orElse(z.boolean(), false);
const Field = z.object({
  name: z.string(),
  type: z.string(),
  required_for_closure: flag,
  required_for_agents: flag,
  choices: orElse(z.union([z.array(z.string()), z.record(z.string(), z.unknown()).transform(Object.keys)]), undefined),
});
export const fieldsOf = (account: Account) => account.call({ method: 'GET', path: '/ticket_fields' }, listOf(Field));

const Action = z.object({ url: z.string(), custom_headers: z.record(z.string(), z.string()).catch({}) });
const Rule = z.object({
  id: z.int(),
  name: orElse(z.string(), ''),
  active: flag,
  outdated: flag,
  performer: orElse(z.object({ type: z.int() }), { type: 0 }),
  actions: orElse(z.array(orElse(Action, undefined)), []),
});
type Rule = z.output<typeof Rule>;
const Rules = z.union([listOf(Rule), z.object({ rules: listOf(Rule) }).transform(({ rules }) => rules)]);
/** Of ticket updates. */
const rulesPath = '/automations/4/rules';
/** Freshdesk's numbers of who changes a ticket: closing by the hourly rule is the system's. */
const wantedRules = [
  { id: 'people', performer: 3, what: 'the rule "closeloop: ticket closed or reopened"' },
  { id: 'system', performer: 4, what: 'the rule "closeloop: ticket closed or reopened by a rule"' },
] as const;

function bodyOf(
  { performer, what }: (typeof wantedRules)[number],
  url: string,
  secret: string,
  closed: readonly number[],
) {
  const [name] = what.match(/(?<=").*(?=")/) ?? [what];
  const events = closed.flatMap((status) => [
    { field_name: 'status', from: '--', to: String(status) },
    { field_name: 'status', from: String(status), to: '--' },
  ]);
  const content = {
    v: '1',
    kind: 'status',
    ticket_id: '{{ticket.id}}',
    event: '{{triggered_event}}',
    at: '{{ticket.modified_on}}',
  };
  const webhook = {
    field_name: 'trigger_webhook',
    request_type: 'POST',
    content_type: 'JSON',
    content_layout: '2',
    url,
    content,
  };
  return {
    name,
    active: true,
    performer: { type: performer },
    events,
    actions: [{ ...webhook, custom_headers: { [secretHeader]: secret } }],
  };
}

export function preflight(settings: FreshdeskSettings, account: Account): DeskPreflight {
  const {
    webhookSecrets: [secret = ''],
    closedStatuses,
    ratings,
    baseUrl,
  } = settings;
  const { admin } = account;
  const pointsTo = ({ actions }: Rule, url: string) => actions.some((action) => action && isSameUrl(action.url, url));

  async function ofStatuses() {
    const known = (await fieldsOf(account)).find(({ type }) => type === 'default_status')?.choices ?? [];
    const odd = closedStatuses.filter((status) => !known.includes(String(status)));
    return odd.map((status) =>
      errorAt('closedStatuses', `there is no status ${status}`, `There are: ${known.join(', ')}`),
    );
  }

  async function ofSurveys() {
    const response = await account.exchange({ method: 'GET', path: '/surveys?state=active' });
    const active = response.status === 200 ? z.array(z.unknown()).safeParse(response.json).data : [];
    if (ratings !== undefined || active === undefined || active.length === 0) return [];
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
    fields: {
      ...{ of: 'tickets', field: 'ticket field', place: 'Admin > Workflows > Ticket Fields' },
      list: async () =>
        (await fieldsOf(account)).map(({ name, type, choices, required_for_agents: required }) => ({
          name,
          type,
          required,
          values: type === 'custom_dropdown' ? choices : undefined,
        })),
      types: typesByPart({
        grade: { whole: 'custom_number', fraction: 'custom_decimal', any: ['custom_dropdown', 'custom_text'] },
        comment: ['custom_paragraph', 'custom_text'],
        others: ['custom_text', 'custom_paragraph'],
      }),
      async make({ part, name, types: [type] }) {
        const label = name.slice('cf_'.length).replaceAll('_', ' ');
        const hidden = { displayed_to_customers: false, customers_can_edit: false, required_for_customers: false };
        const body = {
          label,
          label_for_customers: label,
          type,
          ...hidden,
          required_for_agents: false,
          required_for_closure: false,
        };
        const made = await admin.call(
          { method: 'POST', path: '/admin/ticket_fields', body },
          z.object({ name: z.string() }),
        );
        return made.name === name ? {} : { note: `Freshdesk calls it "${made.name}": set writeBack.${part} to that` };
      },
    },
    hooks: (hookUrl) =>
      comparedHooks<Rule, (typeof wantedRules)[number]>(
        {
          list: () => admin.call({ method: 'GET', path: rulesPath }, Rules),
          wanted: () => wantedRules,
          is: (rule, { performer }) => rule.performer.type === performer && pointsTo(rule, hookUrl),
          flaws: ({ active, outdated, actions }) => [
            ...(active ? [] : ['is switched off']),
            ...(outdated ? ['names a field that is gone'] : []),
            ...(actions.some((action) => action && action.custom_headers[secretHeader] === undefined)
              ? ['sends no secret']
              : []),
          ],
          async make(wanted, there) {
            const body = bodyOf(wanted, hookUrl, secret, closedStatuses);
            const call = there
              ? ({ method: 'PUT', path: `${rulesPath}/${there.id}`, body } as const)
              : ({ method: 'POST', path: rulesPath, body } as const);
            await admin.call(call, z.unknown());
            return {};
          },
        },
        hookUrl,
      ),
  };
}
