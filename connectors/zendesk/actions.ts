import { z } from 'zod';
import { noteText } from '../../core/connector/answer.ts';
import type { RecordState, Source } from '../../core/connector/contract.ts';
import {
  type DeskAction,
  deskActor,
  doing,
  isReopened,
  noSuch,
  noteAction,
  tagAction,
} from '../../core/connector/desk/act.ts';
import type { Rows } from '../../core/connector/desk/rows.ts';
import { listOf } from '../../core/entries.ts';
import type { CloseloopError } from '../../core/errors.ts';
import { mostTextUnits } from './answer.ts';
import { readPages, type ZendeskApi } from './api.ts';
import { closingOf } from './closing.ts';
import { hasNote, noteMetadata } from './note.ts';
import { ticketUpdates } from './quota.ts';
import { isTicketId, showMany, type Ticket } from './ticket.ts';

export const Reopen = z
  .strictObject({
    status: z.enum(['open', 'pending', 'hold']).default('open').describe('The status that the ticket gets'),
    group: z.string().min(1).optional().describe('The name of the group that gets the ticket'),
    assignee: z.email().optional().describe('The address of the agent who gets the ticket'),
    priority: z.enum(['low', 'normal', 'high', 'urgent']).optional().describe('The priority that the ticket gets'),
    whenClosed: z
      .enum(['followUpTicket', 'park'])
      .default('followUpTicket')
      .describe('Nobody can open a closed ticket: a follow-up ticket linked to it, or a word to a person'),
  })
  .prefault({})
  .describe('Opens the ticket again');
type Reopen = z.output<typeof Reopen>;

export const actions = { reopen: Reopen, note: noteAction, tag: tagAction };

interface Row {
  ticket: Ticket;
  state: RecordState;
}

const Group = z.object({ id: z.union([z.number(), z.string()]).transform(Number), name: z.string() });

async function groupIdOf(api: ZendeskApi, name: string): Promise<number | undefined> {
  let found: number | undefined;
  await readPages(api, '/api/v2/groups.json', z.object({ groups: listOf(Group) }), ({ groups }) => {
    found = groups.find((group) => group.name === name)?.id;
    return found !== undefined;
  });
  return found;
}

const Anything = z.unknown();

/** An update names the state of the ticket that it was made for: it is not put over another change. */
function update(api: ZendeskApi, ticket: Ticket, change: object): Promise<unknown> {
  const body = { ticket: { ...change, safe_update: true, updated_stamp: ticket.updated_at } };
  return api.send('PUT', `/api/v2/tickets/${ticket.id}.json`, body, Anything, ticketUpdates);
}

async function assignment(api: ZendeskApi, { group, assignee, priority }: Reopen): Promise<object> {
  const groupId = group === undefined ? undefined : await groupIdOf(api, group);
  return {
    ...(groupId && { group_id: groupId }),
    ...(assignee && { assignee_email: assignee }),
    ...(priority && { priority }),
  };
}

const Made = z.object({ ticket: z.object({ id: z.number() }) });

/** Zendesk keeps the key for two hours, in which a repetition makes no second ticket. */
async function followUp(api: ZendeskApi, { id, subject }: Ticket, params: Reopen, marker: string): Promise<string> {
  const comment = { body: noteText({ text: `Follow-up of ticket ${id}`, marker }), public: false };
  const made = { subject: subject ?? '', via_followup_source_id: Number(id), tags: [], comment };
  const body = { ticket: { ...made, ...(await assignment(api, params)) } };
  const via = { ...ticketUpdates, headers: { 'idempotency-key': marker } };
  const { ticket } = await api.send('POST', '/api/v2/tickets.json', body, Made, via);
  return `follow-up ticket ${ticket.id}, as the ticket is closed`;
}

const reopening = (api: ZendeskApi): DeskAction<Row> =>
  doing(
    Reopen,
    async ({ ticket, state }, params, request) => {
      if (ticket.status === 'closed' && params.whenClosed === 'followUpTicket')
        return await followUp(api, ticket, params, request.marker);
      if (isReopened(state, request)) return 'it was open already';
      await update(api, ticket, { status: params.status, ...(await assignment(api, params)) });
      return params.group === undefined ? 'reopened' : `reopened, in the group ${params.group}`;
    },
    async ({ group }) => {
      if (group === undefined || (await groupIdOf(api, group)) !== undefined) return undefined;
      return noSuch('group', group, 'Name a group as the Admin Center does (People > Groups)');
    },
  );

const noting = (api: ZendeskApi): DeskAction<Row> =>
  doing(noteAction, async ({ ticket }, text, { marker, again }) => {
    if (again && (await hasNote(api, ticket.id, marker))) return 'a note is added';
    const comment = { body: noteText({ text, marker }, mostTextUnits), public: false };
    await update(api, ticket, { comment, metadata: noteMetadata({ marker }) });
    return 'a note is added';
  });

const tagging = (api: ZendeskApi): DeskAction<Row> =>
  doing(tagAction, async ({ ticket }, tags) => {
    await api.send('PUT', `/api/v2/tickets/${ticket.id}/tags.json`, { tags }, Anything, ticketUpdates);
    return `tagged ${tags.join(', ')}`;
  });

async function rowsOf(api: ZendeskApi, ids: readonly string[]): Promise<Rows<Row>> {
  const { tickets, metrics } = await showMany(api, ids, ['metric_sets']);
  const rows = new Map<string, Row | CloseloopError>();
  for (const [id, read] of tickets) {
    if (!read.ok) {
      rows.set(id, read.error);
      continue;
    }
    const { status, tags, updated_at, metric_set } = read.ticket;
    const reopens = (metric_set ?? metrics.get(id))?.reopens ?? undefined;
    const facts = { status, tags, requester: 'unread', reopens, changedAt: new Date(updated_at) } as const;
    rows.set(id, { ticket: read.ticket, state: closingOf(facts) });
  }
  return rows;
}

/** What answers lead to at Zendesk. */
export function actor(api: ZendeskApi): Required<Pick<Source, 'act' | 'checkActions'>> {
  const own = { reopen: reopening(api), note: noting(api), tag: tagging(api) };
  const rows = { isId: isTicketId, many: (ids: readonly string[]) => rowsOf(api, ids) };
  return deskActor({ vendor: 'Zendesk', record: 'ticket' }, rows, {}, own);
}
