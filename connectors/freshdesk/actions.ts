import { z } from 'zod';
import { type DeskAction, doing, isReopened } from '../../core/connector/desk/act.ts';
import type { Account } from './api.ts';
import type { FreshdeskSettings } from './settings.ts';
import { stateOf, Ticket } from './ticket.ts';

const priorities = ['low', 'medium', 'high', 'urgent'] as const;

export const Reopen = z
  .strictObject({
    status: z.int().min(2).default(2).describe('The number of an open status: 2 is Open'),
    group: z.string().min(1).optional().describe('The name of the group that gets the ticket'),
    agent: z.string().min(1).optional().describe('The name of the agent who gets the ticket'),
    priority: z.enum(priorities).optional().describe('The priority that the ticket gets'),
  })
  .prefault({})
  .describe('Opens the ticket again');

/** The id by a name; undefined where nobody has it. */
const idOf = (names: ReadonlyMap<string, string>, wanted: string | undefined): string | undefined =>
  [...names].find(([, name]) => name === wanted)?.[0];

export function actions(settings: FreshdeskSettings, account: Account): Record<string, DeskAction<Ticket>> {
  const reopen = doing<Ticket, typeof Reopen>(
    Reopen,
    async (ticket, { status, group, agent, priority }, request) => {
      if (isReopened(stateOf(ticket, settings), request)) return 'it was open already';
      const [groupId, agentId] = [idOf(await account.groups(), group), idOf(await account.agents(), agent)];
      const body = {
        status,
        ...(groupId && { group_id: Number(groupId) }),
        ...(agentId && { responder_id: Number(agentId) }),
        ...(priority && { priority: priorities.indexOf(priority) + 1 }),
      };
      await account.call({ method: 'PUT', path: `/tickets/${ticket.id}`, body, endpoint: 'update' }, Ticket);
      return group === undefined ? 'reopened' : `reopened, in the group ${group}`;
    },
    async ({ status, group, agent }) => {
      const lacking = (what: string, name: string) => ({
        problem: `there is no ${what} "${name}"`,
        remedy: `Name a ${what} as Freshdesk does`,
      });
      if (settings.closedStatuses.includes(status))
        return { problem: `status ${status} counts as closed`, remedy: 'Name an open one' };
      if (group !== undefined && idOf(await account.groups('now'), group) === undefined) return lacking('group', group);
      if (agent !== undefined && idOf(await account.agents('now'), agent) === undefined) return lacking('agent', agent);
      return undefined;
    },
  );
  return { reopen };
}
