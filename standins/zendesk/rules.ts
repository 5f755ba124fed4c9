import type { Happening, Ticket } from './model.ts';

interface Condition {
  field: string;
  operator: string;
  value: string | number | boolean | null | (string | number)[];
}

export interface Action {
  field: string;
  value: string | number | boolean | null | (string | number)[];
}

/** A trigger or an automation. */
export interface Rule {
  id: number;
  title: string;
  active: boolean;
  conditions: { all: Condition[]; any: Condition[] };
  actions: Action[];
}

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
