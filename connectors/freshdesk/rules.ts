import { z } from 'zod';
import { type Comparison, isSameUrl, type SetupItem } from '../../core/connector/check.ts';
import { comparedHooks } from '../../core/connector/desk/preflight.ts';
import { listOf, mapOf, orElse } from '../../core/entries.ts';
import type { Account } from './api.ts';
import type { FreshdeskSettings } from './settings.ts';

/* The automation rules that deliver here. */

/** Freshdesk signs nothing: the rules send the secret in this header. */
export const secretHeader = 'x-closeloop-secret';

const flag = orElse(z.boolean(), false);
const Action = z.object({ url: z.string(), custom_headers: mapOf(z.string()).catch({}) });
const Rule = z.object({
  id: z.int(),
  active: flag,
  outdated: flag,
  performer: orElse(z.object({ type: z.int() }), { type: 0 }),
  actions: orElse(listOf(orElse(Action, undefined)), []),
});
const Rules = z.union([listOf(Rule), z.object({ rules: listOf(Rule) }).transform(({ rules }) => rules)]);
/** Of ticket updates. */
const path = '/automations/4/rules';
/** By Freshdesk's numbers of who changes a ticket: what closes resolved tickets after a while is the system. */
const wanted = [
  { id: 'people', performer: 3, what: 'the rule "closeloop: ticket closed or reopened"' },
  { id: 'system', performer: 4, what: 'the rule "closeloop: ticket closed or reopened by a rule"' },
] as const;

function bodyOf({ performer, what }: (typeof wanted)[number], url: string, settings: FreshdeskSettings) {
  const either = (status: number) => [
    { field_name: 'status', from: '--', to: String(status) },
    { field_name: 'status', from: String(status), to: '--' },
  ];
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
    events: settings.closedStatuses.flatMap(either),
    actions: [{ ...action, custom_headers, content: { v: '1', kind: 'status', ...ticket } }],
  };
}

export const comparedRules =
  (settings: FreshdeskSettings, { admin }: Account) =>
  (hookUrl: string): Promise<Comparison<SetupItem>> =>
    comparedHooks<z.output<typeof Rule>, (typeof wanted)[number]>(
      {
        list: () => admin.call({ method: 'GET', path }, Rules),
        wanted: () => wanted,
        is: ({ performer, actions }, { performer: type }) =>
          performer.type === type && actions.some((action) => action && isSameUrl(action.url, hookUrl)),
        flaws: ({ active, outdated, actions }) => [
          ...(active ? [] : ['is switched off']),
          ...(outdated ? ['names a field that is gone'] : []),
          ...(actions.every((action) => action?.custom_headers[secretHeader] === undefined) ? ['sends no secret'] : []),
        ],
        async make(one, there) {
          const body = bodyOf(one, hookUrl, settings);
          const to = there
            ? ({ method: 'PUT', path: `${path}/${there.id}` } as const)
            : ({ method: 'POST', path } as const);
          await admin.call({ ...to, body }, z.unknown());
          return {};
        },
      },
      hookUrl,
    );
