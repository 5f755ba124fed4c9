import type { WriteBack, WriteResult } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import { type Change, findingsOn, remarksOn, type Wanted } from './answer.ts';
import type { ZendeskApi } from './api.ts';
import { JobResponse, type JobResult, type JobWatch, resultsOf } from './jobs.ts';
import { noteMetadata, noteText } from './note.ts';
import { ticketUpdates } from './quota.ts';
import { errorName } from './responses.ts';
import { showMany, type Ticket, type TicketResult } from './ticket.ts';

/** The update of one ticket. */
export interface Order {
  item: WriteBack;
  /** As it was read. */
  ticket: Ticket;
  wanted: Wanted;
  change: Change;
  withNote: boolean;
}

export interface Updated {
  result: WriteResult;
  /** As it is now. */
  ticket?: Ticket;
}

/** Updates up to 100 tickets in three calls (update, status of the job, read again); one result per order, in order. */
export type UpdateTickets = (orders: readonly Order[]) => Promise<Updated[]>;

export function ticketUpdater(api: ZendeskApi, finished: JobWatch): UpdateTickets {
  return async (orders) => {
    if (orders.length === 0) return [];
    const body = { tickets: orders.map(bodyOf) };
    const via = ticketUpdates;
    const { job_status } = await api.send('PUT', '/api/v2/tickets/update_many.json', body, JobResponse, via);
    const outcomes = resultsOf(await finished(job_status));
    const ids = orders.map(({ ticket }) => ticket.id);
    const after = (await showMany(api, ids)).tickets;
    return orders.map((order) => outcomeOf(order, outcomes.get(order.ticket.id), after.get(order.ticket.id)));
  };
}

function bodyOf({ item, ticket, change, withNote }: Order): object {
  return {
    id: Number(ticket.id),
    ...(change.fields.length === 0
      ? {}
      : { custom_fields: change.fields.map(({ id, value }) => ({ id: Number(id), value })) }),
    ...(change.addTags.length === 0 ? {} : { additional_tags: change.addTags }),
    ...(change.removeTags.length === 0 ? {} : { remove_tags: change.removeTags }),
    ...(withNote
      ? {
          comment: { body: noteText(item), public: false },
          metadata: noteMetadata(item),
          safe_update: true,
          updated_stamp: ticket.updated_at,
        }
      : {}),
  };
}

/** The result for one ticket, by the job's status and by the ticket that was read again. */
function outcomeOf({ item, wanted }: Order, result: JobResult | undefined, now: TicketResult | undefined): Updated {
  const failed = (message: string, transient: boolean, outcome: 'refused' | 'unknown' = 'refused'): Updated => {
    const advice = transient ? ({ kind: 'transient' } as const) : ({ kind: 'permanent' } as const);
    const error = new CloseloopError(`Zendesk ticket ${item.recordId}: ${message}`, advice, { outcome });
    return { result: { ok: false, why: 'error', error } };
  };
  if (result === undefined) {
    return failed('the job ended without a word on it; it is read before the next attempt.', true, 'unknown');
  }
  if (now === undefined) return { result: notFound(item) };
  if (!now.ok) return { result: { ok: false, why: 'error', error: now.error } };
  const { ticket } = now;
  if (result.success) {
    const remarks = remarksOn(wanted, ticket);
    return {
      result: { ok: true, findings: findingsOn(wanted, ticket), ...(remarks.length > 0 && { remarks }) },
      ticket,
    };
  }
  // Zendesk's message is in the API user's language, so the ticket itself decides.
  if (ticket.status === 'closed') return { result: closed(item), ticket };
  const name = errorName(result) ?? 'refused';
  if (/conflict/i.test(name)) return failed(`${name}: somebody changed it at the same time; it is tried again.`, true);
  return failed(
    `${name}. If a field that is required to solve is empty on it, an agent must fill that in; else check that the ` +
      'integration user may edit this ticket and that triggers and field rules allow the values.',
    false,
  );
}

export function notFound({ recordId }: WriteBack): WriteResult {
  return { ok: false, why: 'not-found', message: `Zendesk ticket ${recordId} does not exist any more.` };
}

/** @param tried the other places that were tried, and why they failed */
export function closed({ recordId }: WriteBack, tried: readonly string[] = []): WriteResult {
  const message = [
    `Zendesk ticket ${recordId} is closed and can't be changed; a longer time before closing (automation "Close ticket") leaves room for late answers, writeBack.whenClosed names other places.`,
    ...tried,
  ].join(' ');
  return { ok: false, why: 'closed', message };
}
