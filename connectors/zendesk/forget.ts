import { isAnswerTag } from '../../core/connector/answer.ts';
import { chunks } from '../../core/connector/batches.ts';
import type { Cached } from '../../core/connector/cached.ts';
import type { ConnectorPorts, Source, WriteBack } from '../../core/connector/contract.ts';
import { type Change, missing, type Order, sizeOf, type Values, valuesOf, type WantedField } from './answer.ts';
import type { ZendeskApi } from './api.ts';
import { deleteRecords } from './custom-object.ts';
import { type Catalogue, userFields } from './fields.ts';
import { jobWatch } from './jobs.ts';
import type { ZendeskSettings } from './settings.ts';
import { type Resolved, resolveFields, resolveUserFields } from './targets.ts';
import { batchSize, isTicketId, showMany, type Ticket, type User } from './ticket.ts';
import { updateUsers, valuesOf as userValuesOf } from './user-fields.ts';
import { ticketUpdater } from './write-back.ts';

/**
 * Removes answers from tickets, also from closed ones where the account allows it: clears the configured fields, removes closeloop's
 * tags, clears the requesters' fields, deletes the records of the custom object. Four calls per hundred tickets, four more for their
 * requesters. Notes and the tickets' histories stay: notes can only be redacted by hand.
 */
export function forgetter(
  settings: ZendeskSettings,
  api: ZendeskApi,
  catalogue: Cached<Catalogue>,
  ports: Pick<ConnectorPorts, 'sleep'>,
): NonNullable<Source['forget']> {
  const { writeBack } = settings;
  const finished = jobWatch(api, ports.sleep);
  const updateTickets = ticketUpdater(api, finished);

  async function forgetBatch(ids: readonly string[]): Promise<string[]> {
    const resolved = resolveFields(writeBack, await catalogue());
    const fields = cleared(resolved);
    const page = await showMany(api, ids, writeBack.userFields === undefined ? [] : ['users']);
    const tickets = [...page.tickets.values()].flatMap((read) => (read.ok ? [read.ticket] : []));
    const there = tickets.filter(({ status }) => status !== 'deleted');
    const left = [...unfound(resolved), ...(await clearTickets(there, fields, updateTickets))];
    if (writeBack.userFields !== undefined) left.push(...(await forgetPeople([...page.users.values()])));
    if (writeBack.customObject !== undefined) await deleteRecords(settings, api, ids);
    if (there.length > 0)
      left.push("the internal notes, also those of answer rules (redact them), and the tickets' history");
    return left;
  }

  async function forgetPeople(users: readonly User[]): Promise<string[]> {
    const resolved = resolveUserFields(writeBack, await userFields(api));
    const fields = cleared(resolved);
    const orders = users
      .map((user) => ({ userId: user.id, wanted: missing(fields, userValuesOf(user)) }))
      .filter(({ wanted }) => wanted.length > 0);
    const results = [...(await updateUsers(api, finished, orders)).values()];
    const findings = results.flatMap((result) => {
      if (!result.ok && result.why === 'error') throw result.error;
      return result.ok ? result.findings : [];
    });
    return [...unfound(resolved), ...findings];
  }

  return async (recordIds) => {
    const ids = [...new Set(recordIds)].filter(isTicketId);
    const left: string[] = [];
    for (const some of chunks(ids, batchSize)) left.push(...(await forgetBatch(some)));
    return [...new Set(left)];
  };
}

/** @returns the tickets that still have an answer */
async function clearTickets(
  tickets: readonly Ticket[],
  fields: readonly WantedField[],
  updateTickets: ReturnType<typeof ticketUpdater>,
): Promise<string[]> {
  const orders = tickets
    .map((ticket): Order => {
      const change = removalFrom(ticket, fields);
      return {
        item: blank(ticket.id),
        ticket,
        wanted: { fields: change.fields, tags: [], unfit: [] },
        change,
        withNote: false,
      };
    })
    .filter(({ change }) => sizeOf(change) > 0);
  const updated = await updateTickets(orders);
  return updated.flatMap(({ result, ticket: now }, index) => {
    if (!result.ok && result.why === 'not-found') return [];
    if (!result.ok && result.why === 'error') throw result.error;
    const isBare = now !== undefined && sizeOf(removalFrom(now, fields)) === 0;
    const { id, status } = orders[index]?.ticket ?? { id: '', status: '' };
    return isBare ? [] : [`the answer on ticket ${id}${status === 'closed' ? ', which is closed' : ''}`];
  });
}

/** The fields that were found, each empty. */
const cleared = ({ targets }: Resolved): WantedField[] =>
  [...targets].map(([part, target]) => ({ part, ...target, value: target.type === 'checkbox' ? false : null }));

/** A field that isn't found any more may still hold answers. */
const unfound = ({ problems }: Resolved): string[] => problems.map(({ at, problem }) => `${at}: ${problem}`);

/** The changes that remove closeloop's values; a dropdown's tag goes with its value. */
function removalFrom(ticket: Ticket, fields: readonly WantedField[]): Change {
  const values: Values = valuesOf(ticket);
  return { fields: missing(fields, values), addTags: [], removeTags: ticket.tags.filter(isAnswerTag) };
}

const blank = (recordId: string): WriteBack => ({
  recordId,
  status: 'answered',
  marker: '',
  grade: null,
  comment: null,
  answeredAt: new Date(0),
  campaign: '',
});
