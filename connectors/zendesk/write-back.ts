import { notOverNewer } from '../../core/connector/answer.ts';
import { writeInBatches } from '../../core/connector/batches.ts';
import type { Cached } from '../../core/connector/cached.ts';
import type { ConnectorPorts, Source, WriteBack, WriteResult } from '../../core/connector/contract.ts';
import { adviceOf, CloseloopError } from '../../core/errors.ts';
import { changeFor, holdsNewer, mayHaveNote, sizeOf, valuesOf, wantedOf } from './answer.ts';
import type { ZendeskApi } from './api.ts';
import { answersOnly, closedEdits, fallBack } from './closed.ts';
import { recordWriter } from './custom-object.ts';
import type { Catalogue } from './fields.ts';
import { jobWatch } from './jobs.ts';
import { hasNote } from './note.ts';
import type { ZendeskSettings } from './settings.ts';
import { refuseRetired, resolveFields, type Targets, writableTargets } from './targets.ts';
import { batchSize, isTicketId, showMany, type TicketResult } from './ticket.ts';
import { notFound, type Order, ticketUpdater } from './ticket-update.ts';
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
 * Every attempt may be repeated. Fields and tags can be set twice; a note can't, so
 * - the first read tells whether an earlier attempt arrived, and only then (`mayHaveNote`) the note is looked for;
 * - an update with a note names the state it was read in (`updated_stamp`), so that a job that was still in Zendesk's
 *   queue when we gave it up, or died, makes the second one a conflict instead of a second note.
 */
export function writer(
  settings: ZendeskSettings,
  api: ZendeskApi,
  catalogue: Cached<Catalogue>,
  ports: Pick<ConnectorPorts, 'sleep' | 'now'>,
): Source['writeBack'] {
  const { subdomain, writeBack } = settings;
  const resolve = async (loaded?: 'now') => resolveFields(writeBack, await catalogue(loaded));
  const finished = jobWatch(api, ports.sleep);
  const updateTickets = ticketUpdater(api, finished);
  const writeUserFields = userFieldWriter(settings, api, finished, ports);
  const writeRecords = recordWriter(settings, api, ports);

  async function writeBatch(items: readonly WriteBack[]): Promise<WriteResult[]> {
    const ids = items.map(({ recordId }) => recordId).filter(isTicketId);
    if (ids.length === 0) return items.map(notFound);
    const targets = await writableTargets(resolve, subdomain);
    const before = await showMany(api, ids, writeBack.userFields === undefined ? [] : ['users']);
    const plans: Plan[] = [];
    for (const item of items)
      plans.push(await planFor(item, before.tickets.get(item.recordId), targets, writeBack, api));

    const orders = plans.flatMap(({ ticket }) => ('change' in ticket ? [ticket] : []));
    const open = orders.filter(({ ticket }) => ticket.status !== 'closed');
    const asked = plans.flatMap(({ item, userId }) => (userId === undefined ? [] : [{ item, userId }]));
    // Together, so that one call reads the status of both jobs.
    const [updated, onPeople] = await both(updateTickets(open), writeUserFields(asked, before.users));
    const results = new Map(open.map(({ item }, index) => [item, updated[index]?.result]));
    await refuseRetired([...results.values()], () => resolve('now'), subdomain);

    const shut = orders.filter(({ item, ticket }) => {
      const result = results.get(item);
      return ticket.status === 'closed' || (result?.ok === false && result.why === 'closed');
    });
    const placed = await fallBack(writeBack.whenClosed, shut, {
      edit: closedEdits(updateTickets),
      userFields: answersOnly(async (some) => some.map(({ item }) => onPeople.get(item) ?? notFound(item))),
      customObject: answersOnly((some) => writeRecords(some.map(({ item }) => item))),
    });
    for (const [index, { item }] of shut.entries()) results.set(item, placed[index]);

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
  if (!withNote && sizeOf(change) === 0) return plan({ ok: true, findings: [] });
  return plan({ item, ticket, wanted, change, withNote });
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
