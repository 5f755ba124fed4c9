import { z } from 'zod';
import { isSameText, noteText } from '../../core/connector/answer.ts';
import { present } from '../../core/connector/customer.ts';
import { type DeskAction, doing, isReopened, noSuch } from '../../core/connector/desk/act.ts';
import { holdsValue, inPlainForm } from '../../core/connector/desk/write.ts';
import type { DeskWriting } from '../../core/connector/desk/writing.ts';
import type { VendorApi } from '../../core/connector/vendor-api.ts';
import { CloseloopError } from '../../core/errors.ts';
import { closedBy, closingsOf, Id, isClosed, listed, sqlTime } from './changes.ts';
import { type Row, User } from './record.ts';
import type { RequestTrackerSettings } from './settings.ts';

const Attachment = z.object({ id: Id, Subject: z.string().nullish() });

export function writingOf({ writeBack }: RequestTrackerSettings, api: VendorApi): DeskWriting<Row, string | number> {
  return {
    settings: writeBack,
    // Request Tracker would silently drop the time of day from ISO 8601 with a "Z".
    written: (one, places) => (one.part === 'answeredAt' ? sqlTime(one.value) : inPlainForm(one, places)),
    at({ CustomFields }, place) {
      const value = CustomFields.find(({ name }) => name === place)?.values[0];
      if (place !== writeBack.answeredAt) return value;
      // The value in the form in which it was sent. A cleared time comes back as the epoch.
      return value?.startsWith('1970-01-01') ? undefined : value?.replace(/^(.{10})T(.{8})Z$/, '$1 $2');
    },
    holds: (current, value) =>
      value === null ? holdsValue(current, null) : isSameText(String(current ?? ''), String(value)),
    instantOf: (current) => Date.parse(`${String(current).replace(' ', 'T')}Z`),
    closed: (row) => ('out' in row ? row.out : undefined),
    /**
     * Writes by the row's id: under the id of a merged ticket Request Tracker writes the surviving ticket. The response is a success even for
     * refused values, so all tickets are read again.
     */
    async putMany(changed) {
      const body = changed.map(({ row, change }) => ({ id: +row.id, CustomFields: Object.fromEntries(change.values) }));
      await api.send('PUT', '/tickets/bulk', body, z.unknown());
      return new Map();
    },
    notKept: (place, value) =>
      `look whether "${place}" is on the tickets of its queue and takes ${typeof value === 'number' ? value : 'such values'}, and whether closeloop's user has ModifyTicket and ModifyCustomField`,
    // The marker of a note is its subject, so finding a note loads none of the customers' attachments. No call deletes a note.
    notes: {
      async list({ id }) {
        const all = await listed(api, `/ticket/${id}/attachments?fields=Subject`, Attachment);
        return all.map((one) => ({ id: one.id, text: one.Subject ?? '' }));
      },
      async add({ id }, item) {
        const Content = noteText(item);
        const body = { Subject: Content.split('\n').at(-1), Content, ContentType: 'text/plain' };
        await api.send('POST', `/ticket/${id}/comment`, body, z.unknown());
      },
    },
    leaves: (id) => `the history of ticket ${id}, with all that its fields held: Request Tracker deletes none`,
  };
}

const name = z.string().trim().min(1).max(200);

export const Reopen = z
  .strictObject({
    status: name.default('open').describe("An open status of the ticket's lifecycle"),
    queue: name.optional().describe('The name of the queue that gets the ticket'),
    owner: name.optional().describe('The user name of the agent who gets the ticket'),
    priority: z.int().min(0).max(1_000_000).optional().describe('Its new priority, a number'),
  })
  .prefault({})
  .describe('Opens the ticket again');
type Reopen = z.output<typeof Reopen>;

const Now = z.object({
  Status: z.string(),
  Priority: z.coerce.number(),
  Queue: z.object({ Name: z.string() }),
  Owner: z.object({ id: z.string() }),
});

/**
 * Compares the present ticket with the request, as Request Tracker answers a refused change with a success, and with a sentence in the
 * language of closeloop's user.
 * @returns the names of the refused changes
 */
function refusedIn({ status, queue, owner, priority }: Reopen, now: z.output<typeof Now>): string[] {
  // Ignores case, as Request Tracker does.
  const same = (one: string, other: string | undefined) =>
    other === undefined || one.toLowerCase() === other.toLowerCase();
  const kept = {
    status: same(now.Status, status),
    queue: same(now.Queue.Name, queue),
    owner: same(now.Owner.id, owner),
    priority: priority === undefined || now.Priority === priority,
  };
  return Object.entries(kept).flatMap(([name, isKept]) => (isKept ? [] : [name]));
}

export const reopen = (settings: RequestTrackerSettings, api: VendorApi): DeskAction<Row> =>
  doing<Row, typeof Reopen>(
    Reopen,
    async (row, wanted, request) => {
      const state = isClosed(settings, row.Status)
        ? closedBy(row, (await closingsOf(settings, api, [row])).get(row.id))
        : ({ is: 'open' } as const);
      if (isReopened(state, request)) return 'it was open already';
      const { status: Status, queue: Queue, owner: Owner, priority: Priority } = wanted;
      const path = `/ticket/${row.id}`;
      await api.send('PUT', path, present({ Status, Queue, Owner, Priority }), z.unknown());
      const refused = refusedIn(wanted, await api.get(`${path}?fields[Queue]=Name`, Now));
      if (refused.length === 0) return Queue === undefined ? 'reopened' : `reopened, in the queue ${Queue}`;
      const rights =
        "closeloop's user has ModifyTicket, ReassignTicket and, in the queue, CreateTicket, and the owner OwnTicket";
      const told = `Request Tracker did not change ${refused.join(', ')} of ticket ${row.id}: look whether its lifecycle has the status, and whether ${rights}`;
      throw new CloseloopError(told, { kind: 'permanent' });
    },
    async ({ status, queue, owner }) => {
      if (isClosed(settings, status) || status.toLowerCase() === 'deleted')
        return { problem: `the status "${status}" counts as closed`, remedy: 'Name an open one' };
      const found = async (kind: string, one: string, schema: z.ZodType = z.unknown()) =>
        await api.find({ method: 'GET', path: `/${kind}/${encodeURIComponent(one)}` }, schema);
      if (queue !== undefined && (await found('queue', queue)) === undefined)
        return noSuch('queue', queue, "Name one that closeloop's user sees (SeeQueue)");
      if (owner !== undefined && User.safeParse(await found('user', owner)).data?.Privileged !== 1)
        return noSuch('agent', owner, 'Name a privileged user, by the user name (Admin > Users)');
      return undefined;
    },
  );
