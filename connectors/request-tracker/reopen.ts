import { z } from 'zod';
import { type DeskAction, doing, isReopened, noSuch } from '../../core/connector/desk/act.ts';
import type { VendorApi } from '../../core/connector/vendor-api.ts';
import { CloseloopError } from '../../core/errors.ts';
import { closingsOf, isClosed } from './changes.ts';
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
  return [
    ...(same(now.Status, status) ? [] : ['status']),
    ...(same(now.Queue.Name, queue) ? [] : ['queue']),
    ...(same(now.Owner.id, owner) ? [] : ['owner']),
    ...(priority === undefined || now.Priority === priority ? [] : ['priority']),
  ];
}

export const reopen = (settings: RequestTrackerSettings, api: VendorApi): DeskAction<Row> =>
  doing<Row, typeof Reopen>(
    Reopen,
    async (row, wanted, request) => {
      const { id: closing = 'created' } = (await closingsOf(settings, api, [row])).get(row.id) ?? {};
      const closed = { is: 'closed', closing, closedAt: new Date(0) } as const;
      if (isReopened(isClosed(settings, row.Status) ? closed : { is: 'open' }, request)) return 'it was open already';
      const { status: Status, queue: Queue, owner: Owner, priority: Priority } = wanted;
      const path = `/ticket/${row.id}`;
      const body = {
        Status,
        ...(Queue && { Queue }),
        ...(Owner && { Owner }),
        ...(Priority !== undefined && { Priority }),
      };
      await api.call({ method: 'PUT', path, body }, z.unknown());
      const refused = refusedIn(wanted, await api.call({ method: 'GET', path: `${path}?fields[Queue]=Name` }, Now));
      if (refused.length === 0) return Queue === undefined ? 'reopened' : `reopened, in the queue ${Queue}`;
      const rights =
        "closeloop's user has ModifyTicket, ReassignTicket and, in the queue, CreateTicket, and the owner OwnTicket";
      const told = `Request Tracker did not change ${refused.join(', ')} of ticket ${row.id}: look whether its lifecycle has the status, and whether ${rights}`;
      throw new CloseloopError(told, { kind: 'permanent' });
    },
    async ({ status, queue, owner }) => {
      if (isClosed(settings, status) || status.toLowerCase() === 'deleted')
        return { problem: `the status "${status}" counts as closed`, remedy: 'Name an open one' };
      const has = async (kind: string, one: string, schema: z.ZodType = z.unknown()) =>
        await api.find({ method: 'GET', path: `/${kind}/${encodeURIComponent(one)}` }, schema);
      if (queue !== undefined && (await has('queue', queue)) === undefined)
        return noSuch('queue', queue, "Name one that closeloop's user sees (SeeQueue)");
      if (owner !== undefined && User.safeParse(await has('user', owner)).data?.Privileged !== 1)
        return noSuch('agent', owner, 'Name a privileged user, by the user name (Admin > Users)');
      return undefined;
    },
  );
