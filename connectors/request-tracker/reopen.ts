import { z } from 'zod';
import { present } from '../../core/connector/customer.ts';
import { type DeskAction, doing, isReopened, noSuch } from '../../core/connector/desk/act.ts';
import type { VendorApi } from '../../core/connector/vendor-api.ts';
import { CloseloopError } from '../../core/errors.ts';
import { closedBy, closingsOf, isClosed } from './changes.ts';
import { type Row, User } from './record.ts';
import type { RequestTrackerSettings } from './settings.ts';

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
