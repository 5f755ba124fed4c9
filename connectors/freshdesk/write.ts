import { z } from 'zod';
import { cut, isSameText, noteHtml } from '../../core/connector/answer.ts';
import type { Cached } from '../../core/connector/cached.ts';
import { VendorError } from '../../core/connector/classify.ts';
import { type DeskAction, doing, isReopened, noSuch } from '../../core/connector/desk/act.ts';
import { holdsValue, inPlainForm } from '../../core/connector/desk/write.ts';
import type { ChangedRow, DeskWriting } from '../../core/connector/desk/writing.ts';
import type { Account } from './api.ts';
import { isId, stateOf, Ticket } from './record.ts';
import type { FreshdeskSettings } from './settings.ts';

type Value = string | number;

const mostOfLine = 250;
const inTrash = 'it is in the trash, or marked as spam';

/** Freshdesk refuses the whole call if it refuses one value, or if any other field that agents have to fill in is empty. */
async function put(account: Account, { id, change: { values, tags } }: ChangedRow<Ticket, Value>): Promise<Ticket> {
  const types = new Map((await account.fields()).map(({ name, type }) => [name, type]));
  const inForm = ([name, value]: [string, Value | null]) => {
    if (value === null || /number|decimal/.test(types.get(name) ?? '')) return [name, value];
    return [name, types.get(name) === 'custom_paragraph' ? String(value) : cut(String(value), mostOfLine)];
  };
  const body = {
    ...(values.size > 0 && { custom_fields: Object.fromEntries([...values].map(inForm)) }),
    ...(tags && { tags }),
  };
  return await account.send('PUT', `/tickets/${id}`, body, Ticket, { endpoint: 'update' });
}

const Conversation = z.object({
  id: z.int().transform(String),
  body: z.string().catch(''),
  private: z.boolean().catch(false),
});

export const writing = (account: Account, settings: FreshdeskSettings['writeBack']): DeskWriting<Ticket, Value> => ({
  settings,
  rows: {
    isId,
    // An archived ticket has an address of its own, and takes no more changes.
    async one(id) {
      const ticket = await account.find({ method: 'GET', path: `/tickets/${id}` }, Ticket);
      return ticket ?? (await account.find({ method: 'GET', path: `/tickets/archived/${id}` }, Ticket));
    },
  },
  blank: (id) => Ticket.parse({ id: Number(id), status: 0 }),
  written: inPlainForm,
  at: ({ custom_fields }, name) => custom_fields[name],
  // A one-line field holds the beginning of a long text; a dropdown holds the grade as text.
  holds: (current, value) =>
    holdsValue(current, value) || (value !== null && isSameText(String(current ?? ''), cut(String(value), mostOfLine))),
  tags: ({ tags }) => tags,
  closed(of) {
    if (of instanceof VendorError) return of.status === 405 ? inTrash : undefined;
    if (of.archived) return 'it is archived';
    return of.deleted || of.spam ? inTrash : undefined;
  },
  put: (changed) => put(account, changed),
  notes: {
    async list({ id }) {
      const all = await account.all(`/tickets/${id}/conversations?per_page=100`, Conversation);
      return all.flatMap(({ id, body: text, private: isPrivate }) => (isPrivate ? [{ id, text }] : []));
    },
    add: ({ id }, item) => {
      const body = { body: noteHtml(item, 60_000), private: true };
      return account.send('POST', `/tickets/${id}/notes`, body, z.unknown());
    },
    remove: (_, id) => account.find({ method: 'DELETE', path: `/conversations/${id}` }, z.unknown()),
  },
});

const priorities = ['low', 'medium', 'high', 'urgent'] as const;

export const Reopen = z
  .strictObject({
    status: z.int().min(2).default(2).describe('The number of an open status: 2 is Open'),
    group: z.string().min(1).optional().describe('The name of the group that gets the ticket'),
    agent: z.string().min(1).optional().describe('The name of the agent who gets the ticket'),
    priority: z.enum(priorities).optional().describe('Its new priority'),
  })
  .prefault({})
  .describe('Opens the ticket again');

/** Finds the id of the group or agent with this name. */
async function idOf(names: Cached<ReadonlyMap<string, string>>, wanted: string | undefined, loadedAfter?: 'now') {
  return [...(await names(loadedAfter))].find(([, name]) => name === wanted)?.[0];
}

export const reopen = (settings: FreshdeskSettings, { groups, agents, send }: Account): DeskAction<Ticket> =>
  doing<Ticket, typeof Reopen>(
    Reopen,
    async (ticket, { status, group, agent, priority }, request) => {
      if (isReopened(stateOf(ticket, settings), request)) return 'it was open already';
      const groupId = group && (await idOf(groups, group));
      const agentId = agent && (await idOf(agents, agent));
      const body = {
        status,
        ...(groupId && { group_id: Number(groupId) }),
        ...(agentId && { responder_id: Number(agentId) }),
        ...(priority && { priority: priorities.indexOf(priority) + 1 }),
      };
      await send('PUT', `/tickets/${ticket.id}`, body, Ticket, { endpoint: 'update' });
      return group === undefined ? 'reopened' : `reopened, in the group ${group}`;
    },
    async ({ status, group, agent }) => {
      const lacking = (what: string, name: string) => noSuch(what, name, `Name a ${what} as Freshdesk does`);
      if (settings.closedStatuses.includes(status))
        return { problem: `status ${status} counts as closed`, remedy: 'Name an open one' };
      if (group !== undefined && !(await idOf(groups, group, 'now'))) return lacking('group', group);
      return agent !== undefined && !(await idOf(agents, agent, 'now')) ? lacking('agent', agent) : undefined;
    },
  );
