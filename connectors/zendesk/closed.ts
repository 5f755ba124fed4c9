import type { WriteResult } from '../../core/connector/contract.ts';
import { adviceOf } from '../../core/errors.ts';
import { changeFor, closed, type Order, sizeOf, type UpdateTickets } from './answer.ts';
import type { ZendeskSettings } from './settings.ts';

type Step = ZendeskSettings['writeBack']['whenClosed'][number];

/** One step of `whenClosed`, for these tickets; one result per order, in order. */
export type Fallback = (orders: readonly Order[]) => Promise<WriteResult[]>;

/** For the trace: "written on …". */
const places: Readonly<Record<Step, string>> = {
  edit: 'the closed ticket, without a note',
  userFields: "the requester's user fields, as the ticket is closed",
  customObject: 'a record of the custom object, as the ticket is closed',
};

/**
 * Answers to closed tickets: each step of `whenClosed` gets the answers that the steps before it could not place; the rest is
 * `closed`. After a failure that is transient, or that a person can correct, the next attempt begins at the first step again.
 */
export async function fallBack(
  steps: readonly Step[],
  orders: readonly Order[],
  by: Readonly<Record<Step, Fallback>>,
): Promise<WriteResult[]> {
  const settled = new Map<Order, WriteResult>();
  const tried = new Map<Order, string[]>(orders.map((order) => [order, []]));
  for (const step of steps) {
    const open = orders.filter((order) => !settled.has(order));
    const results = open.length === 0 ? [] : await by[step](open);
    results.forEach((result, index) => {
      const order = open[index];
      if (order === undefined) return;
      if (result.ok) settled.set(order, { where: places[step], ...result });
      else if (result.why !== 'error') tried.get(order)?.push(`${step}: ${result.message}`);
      else if (adviceOf(result.error).kind === 'permanent') tried.get(order)?.push(`${step}: ${result.error.message}`);
      else settled.set(order, result);
    });
  }
  return orders.map((order) => settled.get(order) ?? closed(order.item, tried.get(order)));
}

/** `no-answer` is written on the ticket alone. */
export function answersOnly(fallback: Fallback): Fallback {
  return async (orders) => {
    const answers = orders.filter(({ item }) => item.status === 'answered');
    const results = answers.length === 0 ? [] : await fallback(answers);
    return orders.map((order) => results[answers.indexOf(order)] ?? notPlaced('only answers are written there.'));
  };
}

/** Writes fields and tags on closed tickets, never a note. A success if the ticket stored any of them; the rest are findings. */
export function closedEdits(update: UpdateTickets): Fallback {
  return async (orders) => {
    const bare = orders.map((order) => ({ ...order, withNote: false }));
    const due = bare.filter(({ change }) => sizeOf(change) > 0);
    const updated = await update(due);
    return bare.map((order) => {
      if (order.wanted.fields.length + order.wanted.tags.length === 0)
        return notPlaced('a note is all there is to write.');
      const one = updated[due.indexOf(order)];
      if (one === undefined) return { ok: true, findings: order.wanted.unfit };
      const isUntouched =
        one.ticket !== undefined && sizeOf(changeFor(order.wanted, one.ticket)) === sizeOf(order.change);
      return (one.result.ok ? isUntouched : one.result.why === 'closed') ? notPlaced(whyNoEdit) : one.result;
    });
  };
}

const whyNoEdit =
  'Zendesk did not take it; "Modify closed ticket" must be on (Admin Center > Objects and rules > Tickets > Settings), ' +
  'the integration user an admin, and the fields of a type that it may change.';

const notPlaced = (message: string): WriteResult => ({ ok: false, why: 'closed', message });
