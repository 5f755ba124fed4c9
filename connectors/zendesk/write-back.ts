import { noteText, notOverNewer } from '../../core/connector/answer.ts';
import { writeInBatches } from '../../core/connector/batches.ts';
import type { Cached } from '../../core/connector/cached.ts';
import { aboutRecords } from '../../core/connector/calls.ts';
import type { ConnectorPorts, Source, WriteBack, WriteResult } from '../../core/connector/contract.ts';
import { adviceOf, CloseloopError } from '../../core/errors.ts';
import {
  changeFor,
  closed,
  findingsOn,
  holdsNewer,
  mayHaveNote,
  mostTextUnits,
  notFound,
  type Order,
  remarksOn,
  sizeOf,
  type Updated,
  type UpdateTickets,
  valuesOf,
  wantedOf,
} from './answer.ts';
import type { ZendeskApi } from './api.ts';
import { answersOnly, closedEdits, fallBack } from './closed.ts';
import { recordWriter } from './custom-object.ts';
import type { Catalogue } from './fields.ts';
import { type JobResult, type JobWatch, updateMany } from './jobs.ts';
import { hasNote, noteMetadata } from './note.ts';
import { errorName } from './responses.ts';
import type { ZendeskSettings } from './settings.ts';
import { refuseRetired, resolveFields, type Targets, writableTargets } from './targets.ts';
import { batchSize, isTicketId, showMany, type TicketResult } from './ticket.ts';
import { userFieldWriter } from './user-fields.ts';

/** The work for one item, after its ticket was read. */
interface Plan {
  item: WriteBack;
  /** The requester gets the answer too. */
  userId?: string;
  /** The result for the ticket, or the update to send. */
  ticket: WriteResult | Order;
}

/**
 * Writes answers on tickets: four calls per hundred (read, update, status of the job, read again), three more where the requesters
 * get them too.
 *
 * Every attempt may be repeated:
 * - an update names the state of its ticket that it was made for (`updated_stamp`). Zendesk refuses a job that was still in its queue when
 *   closeloop gave the job up, or died, if the ticket has changed meanwhile: no older answer and no second note is put on it;
 * - the first read tells whether an earlier attempt arrived, and only then (`mayHaveNote`) the note is looked for.
 */
export function writer(
  settings: ZendeskSettings,
  api: ZendeskApi,
  catalogue: Cached<Catalogue>,
  finished: JobWatch,
  ports: Pick<ConnectorPorts, 'sleep' | 'now'>,
): Source['writeBack'] {
  const { subdomain, writeBack } = settings;
  const resolve = async (loaded?: 'now') => resolveFields(writeBack, await catalogue(loaded));
  const updateTickets = ticketUpdater(api, finished);
  const writeUserFields = userFieldWriter(settings, api, finished, ports);
  const writeRecords = recordWriter(settings, api, ports);

  async function writeBatch(items: readonly WriteBack[]): Promise<WriteResult[]> {
    const ids = items.map(({ recordId }) => recordId).filter(isTicketId);
    if (ids.length === 0) return items.map(notFound);
    const targets = await writableTargets(resolve, subdomain);
    const before = await showMany(api, ids, writeBack.userFields === undefined ? [] : ['users']);
    const plans: Plan[] = [];
    for (const item of items) {
      const read = before.tickets.get(item.recordId);
      plans.push(await aboutRecords([item.recordId], () => planFor(item, read, targets, writeBack, api)));
    }

    const orders = plans.flatMap(({ ticket }) => ('change' in ticket ? [ticket] : []));
    const open = orders.filter(({ ticket }) => ticket.status !== 'closed');
    const asked = plans.flatMap(({ item, userId }) => (userId === undefined ? [] : [{ item, userId }]));
    // Together, so that one call reads the status of both jobs.
    const [updated, onPeople] = await both(
      updateTickets(open),
      asked.length === 0 ? Promise.resolve(new Map<WriteBack, WriteResult>()) : writeUserFields(asked, before.users),
    );
    const results = new Map(open.map(({ item }, index) => [item, updated[index]?.result]));
    await refuseRetired([...results.values()], () => resolve('now'), subdomain);

    const shut = orders.filter(({ item, ticket }) => {
      const result = results.get(item);
      return ticket.status === 'closed' || (result?.ok === false && result.why === 'closed');
    });
    if (shut.length > 0) {
      const placed = await fallBack(writeBack.whenClosed, shut, {
        edit: closedEdits(updateTickets),
        userFields: answersOnly(async (some) => some.map(({ item }) => onPeople.get(item) ?? notFound(item))),
        customObject: answersOnly((some) => writeRecords(some.map(({ item }) => item))),
      });
      for (const [index, { item }] of shut.entries()) results.set(item, placed[index]);
    }

    return plans.map(({ item, ticket }) =>
      together('change' in ticket ? (results.get(item) ?? notFound(item)) : ticket, onPeople.get(item)),
    );
  }

  return (items) => writeInBatches(items, batchSize, writeBatch);
}

/** Reads the ticket's history only where an earlier attempt may have written the note. */
async function planFor(
  item: WriteBack,
  read: TicketResult | undefined,
  targets: Targets,
  writeBack: ZendeskSettings['writeBack'],
  api: ZendeskApi,
): Promise<Plan> {
  if (read === undefined) return { item, ticket: notFound(item) };
  if (!read.ok) return { item, ticket: { ok: false, why: 'error', error: read.error } };
  const { ticket } = read;
  if (ticket.status === 'deleted') return { item, ticket: notFound(item) };

  // The person who was asked, even if the ticket has another requester now.
  const person = item.personId ?? ticket.requester_id;
  const isForPerson = writeBack.userFields !== undefined && item.status === 'answered' && person != null;
  const plan = (one: Plan['ticket']): Plan => ({ item, ticket: one, ...(isForPerson && { userId: person }) });

  if (holdsNewer(item, targets, valuesOf(ticket))) {
    return plan(notOverNewer('ticket'));
  }
  const wanted = wantedOf(item, writeBack, targets);
  const change = changeFor(wanted, ticket);
  let withNote = writeBack.note && item.status === 'answered';
  if (withNote && mayHaveNote(wanted, ticket, item.answeredAt)) {
    try {
      withNote = !(await hasNote(api, ticket.id, item.marker));
    } catch (error) {
      // The other tickets are not affected: this one may have been deleted since it was read.
      if (!(error instanceof CloseloopError) || error.advice.kind !== 'permanent') throw error;
      return plan({ ok: false, why: 'error', error });
    }
  }
  if (!withNote && sizeOf(change) === 0) return plan({ ok: true, findings: wanted.unfit });
  return plan({ item, ticket, wanted, change, withNote });
}

export function ticketUpdater(api: ZendeskApi, finished: JobWatch): UpdateTickets {
  return async (orders) => {
    if (orders.length === 0) return [];
    const outcomes = await updateMany(api, finished, 'tickets', orders.map(bodyOf));
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
      ? { comment: { body: noteText(item, mostTextUnits), public: false }, metadata: noteMetadata(item) }
      : {}),
    safe_update: true,
    updated_stamp: ticket.updated_at,
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

/** The result of a ticket and its requester. A deleted requester does not fail a ticket that has its answer. */
function together(ticket: WriteResult, person: WriteResult | undefined): WriteResult {
  if (person === undefined) return ticket;
  if (!person.ok && person.why === 'error' && adviceOf(person.error).kind !== 'permanent') return person;
  if (!ticket.ok) return ticket;
  if (!person.ok && person.why !== 'error') return { ...ticket, remarks: [...(ticket.remarks ?? []), person.message] };
  const said = person.ok ? person.findings : [person.error.message];
  return { ...ticket, findings: [...new Set([...ticket.findings, ...said])] };
}

/** Waits for both before it throws the failure of one, so that the next attempt finds no update in progress. */
async function both<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([one, other]);
  return [await one, await other];
}
