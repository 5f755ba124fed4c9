import { z } from 'zod';
import { toSecond } from '../kit/message.ts';
import type { DeliveryResult, Message, RetryPolicy, WebhookSender } from '../kit/webhook-sender.ts';
import type { Settings, Ticket } from './definitions.ts';

/** After 5, 30 and 60 minutes; then a mail to the administrators. */
export const freshdeskRetries: RetryPolicy = {
  timeoutMs: 10_000,
  pauseMs: ({ length }) => [5, 30, 60].map((minutes) => minutes * 60_000)[length - 1],
};

/** 3: hourly; 4: of ticket updates. The stand-in carries out only the latter. */
export const ruleTypes = '1|3|4';
const either = z.union([z.string(), z.int()]).transform(String);
const Webhook = z.looseObject({
  field_name: z.literal('trigger_webhook'),
  request_type: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  content_type: z.enum(['JSON', 'XML', 'X-FORM-URLENCODED']),
  content_layout: z.enum(['1', '2']),
  url: z.url(),
  custom_headers: z.record(z.string(), z.string()).default({}),
  content: z.record(z.string(), z.string()),
});
export const ruleBody = z.strictObject({
  name: z.string().min(1),
  active: z.boolean().default(true),
  performer: z.strictObject({ type: z.literal([1, 2, 3, 4]), members: z.array(z.int()).exactOptional() }),
  events: z.array(z.strictObject({ field_name: z.string(), from: either, to: either })).min(1),
  conditions: z.array(z.unknown()).default([{ name: 'condition_set_1', match_type: 'all', properties: [] }]),
  actions: z.array(z.union([Webhook, z.looseObject({ field_name: z.string() })])).min(1),
});
export type RuleBody = z.output<typeof ruleBody>;
export interface Rule extends RuleBody {
  id: number;
  type: number;
  /** A field that the rule names is gone: the rule no longer runs, and nobody is told. */
  outdated: boolean;
}

export interface FieldMove {
  field: string;
  from: number;
  to: number;
}
export type Performer = 'agent' | 'requester' | 'system';
const performers: Record<Performer, number[]> = { agent: [1, 3], requester: [2, 3], system: [4] };

function listens({ active, outdated, type, performer, events }: Rule, moves: readonly FieldMove[], by: Performer) {
  const is = (wanted: string, value: number) => wanted === '--' || wanted === String(value);
  const isMeant = moves.some(({ field, from, to }) =>
    events.some((event) => event.field_name === field && is(event.from, from) && is(event.to, to)),
  );
  return active && !outdated && type === 4 && isMeant && performers[by].includes(performer.type);
}

/** Takes a credit of the account for each delivery; without one a delivery waits for the next hour. */
export interface RulePorts {
  sender: WebhookSender;
  settings: () => Settings;
  takes: () => boolean;
}

export class Rules {
  readonly all = new Map<number, Rule>();
  /** Deliveries that wait for the next hour. */
  waiting: (() => Promise<DeliveryResult>)[] = [];
  readonly #ports: RulePorts;

  constructor(ports: RulePorts) {
    this.#ports = ports;
  }

  /** @param moves in order: only the first is told */
  async tell(ticket: Ticket, moves: readonly FieldMove[], by: Performer): Promise<DeliveryResult[]> {
    const rules = [...this.all.values()].filter((rule) => listens(rule, moves, by));
    const messages = rules.flatMap(({ actions }) =>
      actions.flatMap((action) => {
        const { data } = Webhook.safeParse(action);
        return data ? [this.#message(data, ticket, moves[0])] : [];
      }),
    );
    return await Promise.all(
      messages.map(async (message): Promise<DeliveryResult> => {
        const send = () => this.#ports.sender.send(() => message);
        if (this.#ports.takes()) return await send();
        this.waiting.push(send);
        return { attempts: [], delivered: false };
      }),
    );
  }

  #message(webhook: z.output<typeof Webhook>, ticket: Ticket, move: FieldMove | undefined): Message {
    const { url, request_type: method, custom_headers: headers, content, content_layout } = webhook;
    const { statuses } = this.#ports.settings();
    const told: Record<string, string> = {
      'ticket.id': String(ticket.id),
      'ticket.status': statuses[ticket.status] ?? '',
      triggered_event: move === undefined ? '' : `{${move.field}:{from:${move.from},to:${move.to}}}`,
      'ticket.modified_on': toSecond(ticket.updatedAt),
    };
    const filled = Object.entries(content).map(([name, text]): [string, string | number] => {
      const value = text.replace(/\{\{([\w.]+)\}\}/g, (whole, key: string) => told[key] ?? whole);
      return [name, content_layout === '1' && name === 'ticket_id' ? Number(value) : value];
    });
    const body = Object.fromEntries(filled);
    return {
      ...{ method, url, headers: { 'content-type': 'application/json', ...headers } },
      body: JSON.stringify(content_layout === '1' ? { freshdesk_webhook: body } : body),
    };
  }
}

const anyEvent = (status: string) => [
  { field_name: 'status', from: '--', to: status },
  { field_name: 'status', from: status, to: '--' },
];

/** As an administrator makes it by the manual. */
export const handmadeRule = (url: string, secret: string, type: 3 | 4): RuleBody => ({
  ...{ name: `closeloop ${type}`, active: true, performer: { type }, conditions: [] },
  events: ['4', '5'].flatMap(anyEvent),
  actions: [
    {
      ...{ field_name: 'trigger_webhook', request_type: 'POST', content_type: 'JSON', content_layout: '2', url },
      custom_headers: { 'x-closeloop-secret': secret },
      content: {
        ...{ v: '1', kind: 'status', ticket_id: '{{ticket.id}}' },
        ...{ event: '{{triggered_event}}', at: '{{ticket.modified_on}}' },
      },
    },
  ],
});
