import { z } from 'zod';
import { noteText } from '../../core/connector/answer.ts';
import { type Cached, cached } from '../../core/connector/cached.ts';
import type { ActionRequest } from '../../core/connector/contract.ts';
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
import { isFailure, ownError } from '../../core/connector/desk/rows.ts';
import { isNoted } from '../../core/connector/desk/write.ts';
import { CloseloopError } from '../../core/errors.ts';
import { type Account, updateMany } from './account.ts';
import { readAll, ticketUpdates, type ZendeskApi } from './api.ts';
import { externalIdOf, isTicketId, stateOf, type Ticket, ticketRows } from './ticket.ts';
import { mostTextUnits } from './values.ts';
import { changeTicket, guarded, noteOn, ticketNotes } from './write.ts';

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

/** The ids of groups, by name. */
type Groups = Cached<ReadonlyMap<string, number>>;
const Group = z.object({ id: z.union([z.number(), z.string()]).transform(Number), name: z.string() });
const groupsOf = async (api: ZendeskApi): Promise<ReadonlyMap<string, number>> =>
  new Map((await readAll(api, '/api/v2/groups.json', 'groups', Group)).map(({ id, name }) => [name, id]));

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
  ticket: Ticket,
  params: Reopen,
  { marker, again }: ActionRequest,
  { texts, tags }: Record<'texts' | 'tags', readonly string[]> = { texts: [], tags: [] },
): Promise<string> {
  const { id, subject, followup_ids } = ticket;
  for (const recordId of again ? followup_ids : [])
    if (await isNoted({ recordId, marker }, { ...ticket, id: recordId }, ticketNotes(api)))
      return followUpMade(recordId);
  const text = [`Follow-up of ticket ${id}`, ...texts].join('\n\n');
  const comment = { body: noteText({ text, marker }, mostTextUnits), public: false };
  const linked = { via_followup_source_id: Number(id), external_id: externalIdOf(marker) };
  const body = { ticket: { subject: subject ?? '', ...linked, tags, comment, ...(await assignment(groups, params)) } };
  const via = { ...ticketUpdates, headers: { 'idempotency-key': marker } };
  return followUpMade((await api.send('POST', '/api/v2/tickets.json', body, Made, via)).ticket.id);
}

/** What an action changes of a ticket, and what is done by that, in words. */
interface Step {
  change: { status?: string; comment?: unknown; additional_tags?: readonly string[] };
  done: string;
}

const tagged = (tags: readonly string[]): Step => ({
  change: { additional_tags: tags },
  done: `tagged ${tags.join(', ')}`,
});

async function reopened(groups: Groups, ticket: Ticket, params: Reopen, request: ActionRequest): Promise<Step> {
  if (isReopened(stateOf(ticket, 'unread'), request)) return { change: {}, done: 'it was open already' };
  const done = params.group === undefined ? 'reopened' : `reopened, in the group ${params.group}`;
  return { change: { status: params.status, ...(await assignment(groups, params)) }, done };
}

const reopening = (api: ZendeskApi, groups: Groups): DeskAction<Ticket> =>
  doing(
    Reopen,
    async (ticket, params, request) => {
      if (ticket.status === 'closed' && params.whenClosed === 'followUpTicket')
        return await followUp(api, groups, ticket, params, request);
      const { change, done } = await reopened(groups, ticket, params, request);
      if (Object.keys(change).length > 0) await changeTicket(api, ticket, change);
      return done;
    },
    async ({ group }) => {
      if (group === undefined || (await groups('now')).has(group)) return undefined;
      return noSuch('group', group, 'Name a group as the Admin Center does (People > Groups)');
    },
  );

const tagging = (api: ZendeskApi): DeskAction<Ticket> =>
  doing(tagAction, async ({ id }, tags) => {
    await api.send('PUT', `/api/v2/tickets/${id}/tags.json`, { tags }, z.unknown(), ticketUpdates);
    return tagged(tags).done;
  });

/** What one update changes of a ticket, and the actions which that does, each in words. */
interface Together extends Pick<Step, 'change'> {
  ticket: Ticket;
  done: Map<ActionRequest, string>;
}

/** Nobody can change a closed ticket: what follows its reopening goes on the follow-up ticket. */
async function onFollowUp(api: ZendeskApi, groups: Groups, ticket: Ticket, requests: readonly ActionRequest[]) {
  const one: Together = { ticket, change: {}, done: new Map() };
  const [first, ...others] = requests;
  const wanted = first?.name === 'reopen' ? Reopen.parse(first.params) : undefined;
  if (first === undefined || wanted?.whenClosed !== 'followUpTicket') return one;
  const [notes, tags] = ['note', 'tag'].map((name) => others.filter((other) => other.name === name));
  const made = await followUp(api, groups, ticket, wanted, first, {
    texts: notes?.map(({ params }) => noteAction.parse(params)) ?? [],
    tags: tags?.flatMap(({ params }) => tagAction.parse(params)) ?? [],
  }).catch(ownError);
  // Done alone, it says why it can't be done.
  if (made === undefined || isFailure(made)) return one;
  one.done.set(first, made);
  for (const note of notes ?? []) one.done.set(note, `a note is on the ${made}`);
  for (const tag of tags ?? []) one.done.set(tag, `${tagged(tagAction.parse(tag.params)).done}, on the ${made}`);
  return one;
}

/** The first actions on a ticket that one update can do. An update adds one note, and only where none is to be looked for first. */
async function togetherOf(groups: Groups, ticket: Ticket, requests: readonly ActionRequest[]): Promise<Together> {
  const one: Together = { ticket, change: {}, done: new Map() };
  for (const request of requests) {
    const { name, params, marker, again } = request;
    if (name === 'note' && (again || one.change.comment !== undefined)) return one;
    const step: Step | CloseloopError | undefined =
      name === 'reopen'
        ? await reopened(groups, ticket, Reopen.parse(params), request).catch(ownError)
        : name === 'tag'
          ? tagged(tagAction.parse(params))
          : { change: noteOn({ text: noteAction.parse(params), marker }), done: 'a note is added' };
    // Done alone, it says why it can't be done.
    if (step === undefined || isFailure(step)) return one;
    const tags = [...(one.change.additional_tags ?? []), ...(step.change.additional_tags ?? [])];
    Object.assign(one.change, step.change, tags.length > 0 && { additional_tags: tags });
    one.done.set(request, step.done);
  }
  return one;
}

/**
 * Does as much as one update of each ticket can, a hundred tickets in a call.
 * @returns what is done, in words: what is missing was refused for some reason, and is done alone
 */
async function doTogether(account: Account, groups: Groups, requests: readonly ActionRequest[]) {
  const { api } = account;
  const byTicket = Map.groupBy(requests, ({ recordId }) => recordId);
  const rows = await ticketRows(api, 'metric_sets').many([...byTicket.keys()].filter(isTicketId));
  const all: Together[] = [];
  for (const [id, some] of byTicket) {
    const ticket = rows.get(id);
    if (ticket === undefined || isFailure(ticket)) continue;
    all.push(
      await (ticket.status === 'closed' ? onFollowUp(api, groups, ticket, some) : togetherOf(groups, ticket, some)),
    );
  }
  const changed = all.filter(({ change }) => Object.keys(change).length > 0);
  const updates = changed.map(({ ticket, change }) => ({ id: Number(ticket.id), ...guarded(ticket, change) }));
  // Follow-up tickets are made already: what is refused as a whole leaves them as they are.
  const results = updates.length === 0 ? undefined : await updateMany(account, 'tickets', updates).catch(refused);
  if (results && changed.some(({ ticket }) => !results.has(ticket.id))) throw unknownEnd();
  const taken = all.filter((one) => !changed.includes(one) || results?.get(one.ticket.id)?.success);
  return new Map(taken.flatMap(({ done }) => [...done]));
}

const refused = (error: unknown): undefined => void noneOf(error);

function unknownEnd(): CloseloopError {
  const message = 'Zendesk: the job that was to act on tickets ended without a word on each of them';
  const next = 'they are read before the next attempt';
  return new CloseloopError(`${message}; ${next}.`, { kind: 'transient' }, { outcome: 'unknown' });
}

/** What answers lead to at Zendesk. */
export function actor(account: Account) {
  const { api, ports } = account;
  const groups = cached(() => groupsOf(api), 60_000, ports.now);
  const own = { reopen: reopening(api, groups), tag: tagging(api) };
  const rows = ticketRows(api, 'metric_sets');
  return deskActor({ vendor: 'Zendesk', record: 'ticket' }, rows, { notes: ticketNotes(api) }, own, {
    together: (requests) => doTogether(account, groups, requests),
  });
}
