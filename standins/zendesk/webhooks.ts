import { createHmac, randomUUID } from 'node:crypto';
import { toSecond } from '../kit/message.ts';
import type { Attempt, DeliveryResult, Message, RetryPolicy, WebhookSender } from '../kit/webhook-sender.ts';
import type { Happening, Invocation, Rule, Ticket, Webhook } from './definitions.ts';

/** base64(HMAC-SHA256(secret text, timestamp + body)), no separator; the secret is never base64-decoded. */
export function signZendesk(secret: string, timestamp: string, body: string | Uint8Array): string {
  return createHmac('sha256', secret).update(timestamp, 'utf8').update(body).digest('base64');
}

type Condition = Rule['conditions']['all'][number];

/** The webhooks a rule calls, each with the body it sends. */
export function callsOf(rule: Pick<Rule, 'actions'>): { webhookId: string; body: string }[] {
  return rule.actions.flatMap(({ field, value }) =>
    field === 'notification_webhook' && Array.isArray(value)
      ? [{ webhookId: String(value[0]), body: String(value[1] ?? '') }]
      : [],
  );
}

/** Whether a trigger runs after this event: where all conditions of `all` are true, and one of `any`, if it has some. */
export function matches({ active, conditions: { all, any } }: Rule, ticket: Ticket, happened: readonly Happening[]) {
  const holds = (condition: Condition): boolean => holdsFor(condition, ticket, happened);
  return active && all.every(holds) && (any.length === 0 || any.some(holds));
}

const order = ['new', 'open', 'pending', 'hold', 'solved', 'closed'];

/** Conditions on status and tags; others are taken as met. */
function holdsFor({ field, operator, value }: Condition, ticket: Ticket, happened: readonly Happening[]): boolean {
  if (field === 'current_tags') {
    const found = String(value)
      .split(/\s+/)
      .some((tag) => ticket.tags.includes(tag));
    return operator === 'includes' ? found : !found;
  }
  if (field !== 'status') return true;
  const change = happened.find((one) => one.type === 'status_changed')?.event;
  const is = (word: unknown): boolean => String(word ?? '').toLowerCase() === String(value);
  switch (operator) {
    case 'is':
      return ticket.status === value;
    case 'is_not':
      return ticket.status !== value;
    case 'less_than':
      return order.indexOf(ticket.status) < order.indexOf(String(value));
    case 'greater_than':
      return order.indexOf(ticket.status) > order.indexOf(String(value));
    case 'changed':
      return change !== undefined;
    case 'not_changed':
      return change === undefined;
    case 'value':
      return change !== undefined && is(change.current);
    case 'value_previous':
      return change !== undefined && is(change.previous);
    case 'not_value':
      return change === undefined || !is(change.current);
    default:
      return change === undefined || !is(change.previous);
  }
}

export const eventPrefix = 'zen:event-type:';

/**
 * Narrow on purpose: 409 three times; 429 and 503 only with Retry-After under 60 s; time-outs five times; nothing else,
 * so neither a 500, a 401 nor a refused connection. The spacing is not documented; Retry-After is kept, else 5 s.
 */
export const zendeskRetries: RetryPolicy = {
  timeoutMs: 12_000,
  pauseMs(attempts) {
    const last = attempts.at(-1);
    if (last === undefined || last.met === 'no-connection') return undefined;
    const alike = attempts.filter((one) => isSameFailure(one, last)).length;
    if (last.met === 'timeout') return alike <= 5 ? 5_000 : undefined;
    if (last.status === 409) return alike <= 3 ? 5_000 : undefined;
    const wait = last.retryAfterSeconds;
    const asked = last.status === 429 || last.status === 503;
    // The facts name no end; five alike failures, as with time-outs, so that a receiver that is down for good is given up.
    return asked && wait !== undefined && wait < 60 && alike <= 5 ? wait * 1000 : undefined;
  },
};

function isSameFailure(one: Attempt, other: Attempt): boolean {
  return one.met === other.met && (one.met !== 'answer' || other.met !== 'answer' || one.status === other.status);
}

export interface WebhookPorts {
  sender: WebhookSender;
  accountId: number;
  random: () => number;
  /** For the signature's timestamp; real time even where the account's clock is not. */
  wallClock: () => Date;
}

export interface Occasion {
  ticket: Ticket;
  actorId: number;
  at: number;
  happened: readonly Happening[];
  /** Tags as the payload shows them, where they lag behind the ticket's. */
  tags?: string[];
  eventId?: string;
}

/** Sends what happened to every webhook that wants it, or whose trigger runs. Results in the order of webhooks and events. */
export function fire(
  { webhooks, triggers }: { webhooks: readonly Webhook[]; triggers: readonly Rule[] },
  occasion: Occasion,
  ports: WebhookPorts,
): Promise<DeliveryResult>[] {
  const sequence = randomUUID().replaceAll('-', '').slice(0, 26).toUpperCase();
  const deliveries: Promise<DeliveryResult>[] = [];
  for (const webhook of webhooks.filter((one) => one.active)) {
    if (webhook.subscriptions.includes('conditional_ticket_events')) {
      const running = triggers.filter((trigger) => matches(trigger, occasion.ticket, occasion.happened));
      const bodies = running.flatMap(callsOf).filter(({ webhookId }) => webhookId === webhook.id);
      for (const { body } of bodies) deliveries.push(send(webhook, filled(body, occasion.ticket), ports));
      continue;
    }
    occasion.happened.forEach((happening, index) => {
      if (!webhook.subscriptions.includes(`${eventPrefix}ticket.${happening.type}`)) return;
      deliveries.push(
        send(webhook, eventBody(happening, occasion, { id: sequence, position: index + 1 }, ports), ports),
      );
    });
  }
  return deliveries;
}

/** Signed for every attempt afresh; all attempts of one delivery share the invocation id. */
async function send(webhook: Webhook, body: string, ports: WebhookPorts): Promise<DeliveryResult> {
  const invocation = `01${randomUUID().replaceAll('-', '').slice(0, 24).toUpperCase()}`;
  const secret = webhook.secrets[webhook.turn % webhook.secrets.length] ?? '';
  webhook.turn += 1;
  const result = await ports.sender.send((): Message => {
    const timestamp = toSecond(ports.wallClock().getTime());
    return {
      method: 'POST',
      url: webhook.url,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Zendesk Webhook',
        'x-zendesk-account-id': String(ports.accountId),
        'x-zendesk-webhook-id': webhook.id,
        'x-zendesk-webhook-invocation-id': invocation,
        'x-zendesk-webhook-signature-timestamp': timestamp,
        'x-zendesk-webhook-signature': signZendesk(secret, timestamp, body),
      },
      body,
    };
  });
  webhook.invocations.push({ id: invocation, status: outcomeOf(result), at: ports.wallClock().getTime() });
  return result;
}

function outcomeOf({ delivered, attempts }: DeliveryResult): Invocation['status'] {
  if (delivered) return 'success';
  const last = attempts.at(-1);
  if (last?.met === 'timeout') return 'timeout';
  if (last?.met !== 'answer') return 'failed';
  return last.status >= 500 ? 'server error' : 'client error';
}

function filled(template: string, ticket: Ticket): string {
  const display = `${ticket.status.charAt(0).toUpperCase()}${ticket.status.slice(1)}`;
  return template.replaceAll(/\{\{\s*ticket\.(id|status)\s*\}\}/g, (_all, name: string) =>
    name === 'id' ? String(ticket.id) : display,
  );
}

function eventBody(
  { type, event }: Happening,
  { ticket, actorId, at, tags, eventId }: Occasion,
  sequence: { id: string; position: number },
  { accountId, random }: WebhookPorts,
): string {
  const text = (id: number | null): string | null => (id === null ? null : String(id));
  const nanos = String(Math.floor(random() * 1e6)).padStart(6, '0');
  return JSON.stringify({
    type: `${eventPrefix}ticket.${type}`,
    account_id: accountId,
    id: eventId ?? randomUUID(),
    subject: `zen:ticket:${ticket.id}`,
    time: `${new Date(at).toISOString().slice(0, 23)}${nanos}Z`,
    zendesk_event_version: '2022-11-06',
    event: { ...event, meta: { sequence } },
    detail: {
      id: String(ticket.id),
      actor_id: String(actorId),
      assignee_id: text(ticket.assigneeId),
      brand_id: String(ticket.brandId),
      created_at: toSecond(ticket.createdAt),
      custom_status: String(ticket.customStatusId),
      description: ticket.description,
      external_id: ticket.externalId,
      form_id: String(ticket.formId),
      group_id: text(ticket.groupId),
      is_public: ticket.isPublic,
      organization_id: text(ticket.organizationId),
      priority: ticket.priority?.toUpperCase() ?? null,
      requester_id: String(ticket.requesterId),
      status: ticket.gone === 'no' ? ticket.status.toUpperCase() : 'DELETED',
      subject: ticket.subject,
      submitter_id: String(ticket.submitterId),
      tags: tags ?? ticket.tags,
      type: ticket.type?.toUpperCase() ?? null,
      updated_at: toSecond(ticket.updatedAt),
      via: { channel: ticket.channel },
    },
  });
}
