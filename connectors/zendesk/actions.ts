import { z } from 'zod';
import { noteText } from '../../core/connector/answer.ts';
import { type Cached, cached } from '../../core/connector/cached.ts';
import { aboutRecords } from '../../core/connector/calls.ts';
import type { ActionRequest, ConnectorPorts, RecordState, Source } from '../../core/connector/contract.ts';
import {
  type DeskAction,
  deskActor,
  doing,
  isReopened,
  noSuch,
  noteAction,
  tagAction,
} from '../../core/connector/desk/act.ts';
import { noneOf } from '../../core/connector/desk/in-turn.ts';
import { isFailure, ownError, type Rows } from '../../core/connector/desk/rows.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { mostTextUnits } from './answer.ts';
import { readPages, type ZendeskApi } from './api.ts';
import { closingOf, externalIdOf } from './closing.ts';
import { type JobResult, type JobWatch, updateMany } from './jobs.ts';
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

/** The ids of groups, by name. */
type Groups = Cached<ReadonlyMap<string, number>>;
/** Real time. */
const groupsKeptMs = 60_000;

async function readGroups(api: ZendeskApi): Promise<ReadonlyMap<string, number>> {
  const ids = new Map<string, number>();
  await readPages(api, '/api/v2/groups.json', z.object({ groups: listOf(Group) }), ({ groups }) => {
    for (const { id, name } of groups) ids.set(name, id);
    return false;
  });
  return ids;
}

const Anything = z.unknown();

/** An update names the state of the ticket that it was made for: it is not put over another change. */
function update(api: ZendeskApi, ticket: Ticket, change: object): Promise<unknown> {
  const body = { ticket: { ...change, safe_update: true, updated_stamp: ticket.updated_at } };
  return api.send('PUT', `/api/v2/tickets/${ticket.id}.json`, body, Anything, ticketUpdates);
}

/** @throws CloseloopError permanent where there is no such group any more */
async function assignment(groups: Groups, { group, assignee, priority }: Reopen): Promise<object> {
  const groupId = group === undefined ? undefined : (await groups()).get(group);
  if (group !== undefined && groupId === undefined)
    throw new CloseloopError(`Zendesk has no group "${group}" any more`, { kind: 'permanent' });
  return {
    ...(groupId && { group_id: groupId }),
    ...(assignee && { assignee_email: assignee }),
    ...(priority && { priority }),
  };
}

const Made = z.object({ ticket: z.object({ id: z.number() }) });

const followUpMade = (id: string | number): string => `follow-up ticket ${id}, as the ticket is closed`;

/** Zendesk keeps the key for two hours, in which a repetition makes no second ticket; later the ticket is found by its note. */
async function followUp(
  api: ZendeskApi,
  groups: Groups,
  { id, subject, followup_ids }: Ticket,
  params: Reopen,
  { marker, again }: ActionRequest,
  more: { texts: readonly string[]; tags: readonly string[] } = { texts: [], tags: [] },
): Promise<string> {
  if (again) for (const made of followup_ids) if (await hasNote(api, made, marker)) return followUpMade(made);
  const text = [`Follow-up of ticket ${id}`, ...more.texts].join('\n\n');
  const comment = { body: noteText({ text, marker }, mostTextUnits), public: false };
  const linked = { via_followup_source_id: Number(id), external_id: externalIdOf(marker) };
  const made = { subject: subject ?? '', ...linked, tags: more.tags, comment };
  const body = { ticket: { ...made, ...(await assignment(groups, params)) } };
  const via = { ...ticketUpdates, headers: { 'idempotency-key': marker } };
  const { ticket } = await api.send('POST', '/api/v2/tickets.json', body, Made, via);
  return followUpMade(ticket.id);
}

const openAlready = 'it was open already';
const reopened = ({ group }: Reopen): string => (group === undefined ? 'reopened' : `reopened, in the group ${group}`);
const noteAdded = 'a note is added';
const tagged = (tags: readonly string[]): string => `tagged ${tags.join(', ')}`;
const noteOf = (text: string, marker: string): object => ({
  comment: { body: noteText({ text, marker }, mostTextUnits), public: false },
  metadata: noteMetadata({ marker }),
});

const reopening = (api: ZendeskApi, groups: Groups): DeskAction<Row> =>
  doing(
    Reopen,
    async ({ ticket, state }, params, request) => {
      if (ticket.status === 'closed' && params.whenClosed === 'followUpTicket')
        return await followUp(api, groups, ticket, params, request);
      if (isReopened(state, request)) return openAlready;
      await update(api, ticket, { status: params.status, ...(await assignment(groups, params)) });
      return reopened(params);
    },
    async ({ group }) => {
      if (group === undefined || (await groups('now')).has(group)) return undefined;
      return noSuch('group', group, 'Name a group as the Admin Center does (People > Groups)');
    },
  );

const noting = (api: ZendeskApi): DeskAction<Row> =>
  doing(noteAction, async ({ ticket }, text, { marker, again }) => {
    if (!again || !(await hasNote(api, ticket.id, marker))) await update(api, ticket, noteOf(text, marker));
    return noteAdded;
  });

const tagging = (api: ZendeskApi): DeskAction<Row> =>
  doing(tagAction, async ({ ticket }, tags) => {
    await api.send('PUT', `/api/v2/tickets/${ticket.id}/tags.json`, { tags }, Anything, ticketUpdates);
    return tagged(tags);
  });

/** What one update changes of a ticket, and the actions which that does, each in words. */
interface Together {
  ticket: Ticket;
  change: { comment?: unknown; additional_tags?: string[] };
  done: Map<ActionRequest, string>;
}

/** Nobody can change a closed ticket: what follows its reopening goes on the follow-up ticket. */
async function onFollowUp(api: ZendeskApi, groups: Groups, ticket: Ticket, requests: readonly ActionRequest[]) {
  const done = new Map<ActionRequest, string>();
  const [first, ...others] = requests;
  const wanted = first?.name === 'reopen' ? Reopen.parse(first.params) : undefined;
  if (first === undefined || wanted?.whenClosed !== 'followUpTicket') return done;
  const texts = others.filter(({ name }) => name === 'note').map(({ params }) => noteAction.parse(params));
  const tags = others.filter(({ name }) => name === 'tag').flatMap(({ params }) => tagAction.parse(params));
  const made = await followUp(api, groups, ticket, wanted, first, { texts, tags }).catch(ownError);
  // Done alone, it says why it can't be done.
  if (made === undefined || isFailure(made)) return done;
  for (const request of others) {
    if (request.name === 'note') done.set(request, `a note is on the ${made}`);
    if (request.name === 'tag') done.set(request, `${tagged(tagAction.parse(request.params))}, on the ${made}`);
  }
  return done.set(first, made);
}

/** The first actions on a ticket that one update can do. An update adds one note, and only where none is to be looked for first. */
async function togetherOf(groups: Groups, { ticket, state }: Row, requests: readonly ActionRequest[]) {
  const one: Together = { ticket, change: {}, done: new Map() };
  if (ticket.status === 'deleted') return one;
  for (const request of requests) {
    const { name, params, marker, again } = request;
    if (name === 'reopen') {
      const wanted = Reopen.parse(params);
      const isOpen = isReopened(state, request);
      const to = isOpen ? {} : await assignment(groups, wanted).catch(ownError);
      // Done alone, it says why it can't be done.
      if (to === undefined || isFailure(to)) return one;
      if (!isOpen) Object.assign(one.change, { status: wanted.status, ...to });
      one.done.set(request, isOpen ? openAlready : reopened(wanted));
    } else if (name === 'tag') {
      const tags = tagAction.parse(params);
      one.change.additional_tags = [...(one.change.additional_tags ?? []), ...tags];
      one.done.set(request, tagged(tags));
    } else {
      if (again || one.change.comment !== undefined) return one;
      Object.assign(one.change, noteOf(noteAction.parse(params), marker));
      one.done.set(request, noteAdded);
    }
  }
  return one;
}

/**
 * Does as much as one update of each ticket can, a hundred tickets in a call.
 * @returns what is done, in words: what is missing was refused for some reason, and is done alone
 */
async function doTogether(
  api: ZendeskApi,
  groups: Groups,
  finished: JobWatch,
  requests: readonly ActionRequest[],
): Promise<Map<ActionRequest, string>> {
  const byTicket = Map.groupBy(requests, ({ recordId }) => recordId);
  const rows = await rowsOf(api, [...byTicket.keys()].filter(isTicketId));
  const all: Together[] = [];
  for (const [id, some] of byTicket) {
    const row = rows.get(id);
    if (row === undefined || isFailure(row)) continue;
    const { ticket } = row;
    if (ticket.status !== 'closed') all.push(await togetherOf(groups, row, some));
    else {
      const done = await aboutRecords([id], () => onFollowUp(api, groups, ticket, some));
      all.push({ ticket, change: {}, done });
    }
  }
  const tickets = all
    .filter(({ change }) => Object.keys(change).length > 0)
    .map(({ ticket, change }) => {
      return { id: Number(ticket.id), ...change, safe_update: true, updated_stamp: ticket.updated_at };
    });
  const updated = async () => (tickets.length === 0 ? new Map() : await updateAll(api, finished, tickets));
  // Follow-up tickets are made already: what is refused as a whole leaves them as they are.
  const results: ReadonlyMap<string, JobResult> = await updated().catch(refusedAsWhole);
  const taken = all.filter(({ ticket, change }) => results.get(ticket.id)?.success ?? Object.keys(change).length === 0);
  return new Map(taken.flatMap(({ done }) => [...done]));
}

/** @throws CloseloopError of unknown outcome where the job ended without a word on a ticket, which it may have changed */
async function updateAll(api: ZendeskApi, finished: JobWatch, tickets: readonly { id: number }[]) {
  const results = await updateMany(api, finished, 'tickets', tickets);
  if (tickets.some(({ id }) => !results.has(String(id)))) throw unknownEnd();
  return results;
}

function refusedAsWhole(error: unknown): ReadonlyMap<string, JobResult> {
  noneOf(error);
  return new Map();
}

const unknownEnd = (): CloseloopError =>
  new CloseloopError(
    'Zendesk: the job that was to act on tickets ended without a word on each of them; they are read before the next attempt.',
    { kind: 'transient' },
    { outcome: 'unknown' },
  );

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
export function actor(
  api: ZendeskApi,
  finished: JobWatch,
  { now }: Pick<ConnectorPorts, 'now'>,
): Required<Pick<Source, 'act' | 'checkActions'>> {
  const groups = cached(() => readGroups(api), groupsKeptMs, now);
  const own = { reopen: reopening(api, groups), note: noting(api), tag: tagging(api) };
  const rows = { isId: isTicketId, many: (ids: readonly string[]) => rowsOf(api, ids) };
  return deskActor({ vendor: 'Zendesk', record: 'ticket' }, rows, {}, own, {
    together: (requests) => doTogether(api, groups, finished, requests),
  });
}
