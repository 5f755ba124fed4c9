import { z } from 'zod';
import { cut, isSameText, noteHtml } from '../../core/connector/answer.ts';
import { VendorError } from '../../core/connector/classify.ts';
import { type DeskAction, doing, isReopened, noSuch } from '../../core/connector/desk/act.ts';
import {
  type ChangedRow,
  type DeskWriting,
  holdsValue,
  inPlainForm,
  Refusal,
} from '../../core/connector/desk/write.ts';
import { linkedPages } from '../../core/connector/pages.ts';
import { listOf } from '../../core/entries.ts';
import { type Account, errorsIn } from './api.ts';
import { isId, stateOf, Ticket } from './record.ts';
import type { FreshdeskSettings } from './settings.ts';

type Value = string | number;

const mostOfLine = 250;
const inTrash = 'it is in the trash, or marked as spam';

/** Freshdesk refuses the whole call if it refuses one value, or if any other field that agents have to fill in is empty. */
async function put(account: Account, { id, change }: ChangedRow<Ticket, Value>): Promise<Ticket | Refusal> {
  const types = new Map((await account.fields()).map(({ name, type }) => [name, type]));
  const inForm = ([name, value]: [string, Value | null]) => {
    if (value === null || /number|decimal/.test(types.get(name) ?? '')) return [name, value];
    return [name, types.get(name) === 'custom_paragraph' ? String(value) : cut(String(value), mostOfLine)];
  };
  const { values, tags } = change;
  const body = {
    ...(values.size > 0 && { custom_fields: Object.fromEntries([...values].map(inForm)) }),
    ...(tags && { tags }),
  };
  const call = { method: 'PUT', path: `/tickets/${id}`, body, endpoint: 'update' } as const;
  const response = await account.exchange(call);
  const refused = response.status === 400 ? errorsIn(response.json).filter(({ code }) => code !== 'invalid_field') : [];
  const ours = refused.map(({ field }) => field.replace(/^custom_fields\./, '')).filter((name) => values.has(name));
  // Findings may name a grade, but never a text, which is the customer's.
  const told = (name: string) => {
    const value = values.get(name);
    return `"${name}" does not take ${typeof value === 'number' ? value : 'its text'}: look at its type and its choices`;
  };
  if (ours.length > 0) return new Refusal(ours, ours.map(told));
  if (refused.length > 0)
    return new Refusal('all', [`ticket ${id} takes no answer, as another required field is empty: fill it in`]);
  await account.accept(call, response);
  return account.parse(call, response, Ticket);
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
      const found: { id: string; text: string }[] = [];
      const call = { method: 'GET', path: `/tickets/${id}/conversations?per_page=100` } as const;
      for await (const page of linkedPages(account, account.account, call, listOf(Conversation)))
        for (const { id, body: text, private: isPrivate } of page) if (isPrivate) found.push({ id, text });
      return found;
    },
    add: ({ id }, item) => {
      const body = { body: noteHtml(item, 60_000), private: true };
      return account.call({ method: 'POST', path: `/tickets/${id}/notes`, body }, z.unknown());
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

/** The id of the agent or group with this name; undefined if there is none. */
const idOf = (names: ReadonlyMap<string, string>, wanted: string | undefined): string | undefined =>
  [...names].find(([, name]) => name === wanted)?.[0];

export const reopen = (settings: FreshdeskSettings, account: Account): DeskAction<Ticket> =>
  doing<Ticket, typeof Reopen>(
    Reopen,
    async (ticket, { status, group, agent, priority }, request) => {
      if (isReopened(stateOf(ticket, settings), request)) return 'it was open already';
      const groupId = group && idOf(await account.groups(), group);
      const agentId = agent && idOf(await account.agents(), agent);
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
      const lacking = (what: string, name: string) => noSuch(what, name, `Name a ${what} as Freshdesk does`);
      if (settings.closedStatuses.includes(status))
        return { problem: `status ${status} counts as closed`, remedy: 'Name an open one' };
      if (group !== undefined && idOf(await account.groups('now'), group) === undefined) return lacking('group', group);
      if (agent !== undefined && idOf(await account.agents('now'), agent) === undefined) return lacking('agent', agent);
      return undefined;
    },
  );
