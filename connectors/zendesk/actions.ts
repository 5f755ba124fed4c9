import { z } from 'zod';
import { type Cached, cached } from '../../core/connector/cached.ts';
import { aboutRecords } from '../../core/connector/calls.ts';
import type { ActionRequest } from '../../core/connector/contract.ts';
import { deskActor, doing, isReopened, noSuch, noteAction, tagAction } from '../../core/connector/desk/act.ts';
import { noneOf } from '../../core/connector/desk/in-turn.ts';
import { isFailure, ownError } from '../../core/connector/desk/rows.ts';
import { isNoted } from '../../core/connector/desk/write.ts';
import { CloseloopError } from '../../core/errors.ts';
import { idText, readAll, ticketUpdates } from './api.ts';
import type { Account } from './fields.ts';
import { externalIdOf, isTicketId, stateOf, type Ticket, ticketRows } from './ticket.ts';
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

const Group = z.object({ id: idText.transform(Number), name: z.string() });
const Made = z.object({ ticket: z.object({ id: z.number() }) });

const followUpMade = (id: string | number): string => `follow-up ticket ${id}, as the ticket is closed`;
const tagged = (tags: readonly string[]): string => `tagged ${tags.join(', ')}`;

/** The changes that an action makes to a ticket, and the words for the trace. */
type Change = { status?: string; comment?: unknown; additional_tags?: readonly string[] };
type Step = { change: Change; done: string };

/** The changes of one update of a ticket, and the actions that the update does, each with its words for the trace. */
type Together = { ticket: Ticket; change: Change; done: Map<ActionRequest, string> };

class Actor {
  readonly #account: Account;
  /** The ids of groups, by name. */
  readonly #groups: Cached<ReadonlyMap<string, number>>;

  constructor(account: Account) {
    this.#account = account;
    const read = async () => await readAll(account.api, '/api/v2/groups.json', 'groups', Group);
    const byName = async () => new Map((await read()).map(({ id, name }) => [name, id]));
    this.#groups = cached(byName, 60_000, account.ports.now);
  }

  readonly reopen = doing<Ticket, typeof Reopen>(
    Reopen,
    async (ticket, params, request) => {
      if (ticket.status === 'closed' && params.whenClosed === 'followUpTicket')
        return await this.#followUp(ticket, params, request);
      const { change, done } = await this.#reopened(ticket, params, request);
      if (Object.keys(change).length > 0) await changeTicket(this.#account.api, ticket, change);
      return done;
    },
    async ({ group }) => {
      if (group === undefined || (await this.#groups('now')).has(group)) return undefined;
      return noSuch('group', group, 'Name a group as the Admin Center does (People > Groups)');
    },
  );

  readonly tag = doing<Ticket, typeof tagAction>(tagAction, async ({ id }, tags) => {
    const path = `/api/v2/tickets/${id}/tags.json`;
    await this.#account.api.send('PUT', path, { tags }, z.unknown(), ticketUpdates);
    return tagged(tags);
  });

  /**
   * Does as many actions as one update of each ticket can, a hundred tickets in a call.
   * @returns the done actions, with words for the trace; a missing action was refused for some reason, and the caller does it alone
   */
  async together(requests: readonly ActionRequest[]): Promise<Map<ActionRequest, string>> {
    const { api } = this.#account;
    const byTicket = Map.groupBy(requests, ({ recordId }) => recordId);
    const rows = await ticketRows(api, 'metric_sets').many([...byTicket.keys()].filter(isTicketId));
    const all: Together[] = [];
    for (const [id, some] of byTicket) {
      const ticket = rows.get(id);
      if (ticket === undefined || isFailure(ticket)) continue;
      const one: Together = { ticket, change: {}, done: new Map() };
      await aboutRecords([id], () =>
        ticket.status === 'closed' ? this.#onFollowUp(one, some) : this.#onTicket(one, some),
      );
      all.push(one);
    }
    const changed = all.filter(({ change }) => Object.keys(change).length > 0);
    const updates = changed.map(({ ticket, change }) => ({ id: Number(ticket.id), ...guarded(ticket, change) }));
    // The follow-up tickets exist already, so a refusal of the whole call does not concern them.
    const refused = (error: unknown) => void noneOf(error);
    const results = updates.length === 0 ? undefined : await api.updateMany('tickets', updates).catch(refused);
    if (results && changed.some(({ ticket }) => !results.has(ticket.id))) {
      const message = 'Zendesk: the job that was to act on tickets ended without a word on each of them';
      const next = 'they are read before the next attempt';
      throw new CloseloopError(`${message}; ${next}.`, { kind: 'transient' }, { outcome: 'unknown' });
    }
    const taken = all.filter((one) => !changed.includes(one) || results?.get(one.ticket.id)?.success);
    return new Map(taken.flatMap(({ done }) => [...done]));
  }

  /** The first actions on a ticket that one update can do. An update adds at most one note, and none if closeloop has to look for it first. */
  async #onTicket({ ticket, change, done }: Together, requests: readonly ActionRequest[]): Promise<void> {
    for (const request of requests) {
      if (request.name === 'note' && (request.again || change.comment !== undefined)) return;
      const step = await this.#stepOf(ticket, request).catch(ownError);
      // The caller does this action alone, which gives the reason of the failure.
      if (step === undefined || isFailure(step)) return;
      const tags = [...(change.additional_tags ?? []), ...(step.change.additional_tags ?? [])];
      Object.assign(change, step.change, tags.length > 0 && { additional_tags: tags });
      done.set(request, step.done);
    }
  }

  async #stepOf(ticket: Ticket, request: ActionRequest): Promise<Step> {
    const { name, params, marker } = request;
    if (name === 'reopen') return await this.#reopened(ticket, Reopen.parse(params), request);
    if (name === 'note') return { change: noteOn({ text: noteAction.parse(params), marker }), done: 'a note is added' };
    const tags = tagAction.parse(params);
    return { change: { additional_tags: tags }, done: tagged(tags) };
  }

  /** A closed ticket can't be changed: the actions after its reopening apply to the follow-up ticket. */
  async #onFollowUp({ ticket, done }: Together, [first, ...others]: readonly ActionRequest[]): Promise<void> {
    const wanted = first?.name === 'reopen' ? Reopen.parse(first.params) : undefined;
    if (first === undefined || wanted?.whenClosed !== 'followUpTicket') return;
    const [notes = [], tags = []] = ['note', 'tag'].map((name) => others.filter((other) => other.name === name));
    const texts = notes.map(({ params }) => noteAction.parse(params));
    const all = tags.flatMap(({ params }) => tagAction.parse(params));
    const made = await this.#followUp(ticket, wanted, first, texts, all).catch(ownError);
    // The caller does this action alone, which gives the reason of the failure.
    if (made === undefined || isFailure(made)) return;
    done.set(first, made);
    for (const note of notes) done.set(note, `a note is on the ${made}`);
    for (const tag of tags) done.set(tag, `${tagged(tagAction.parse(tag.params))}, on the ${made}`);
  }

  async #reopened(ticket: Ticket, params: Reopen, request: ActionRequest): Promise<Step> {
    if (isReopened(stateOf(ticket, 'unread'), request)) return { change: {}, done: 'it was open already' };
    const done = params.group === undefined ? 'reopened' : `reopened, in the group ${params.group}`;
    return { change: { status: params.status, ...(await this.#assignment(params)) }, done };
  }

  /**
   * Creates the follow-up ticket. Zendesk stores the key for two hours, in which a repeated call creates no second ticket; later closeloop
   * finds the ticket by its note.
   */
  async #followUp(
    ticket: Ticket,
    params: Reopen,
    { marker, again }: ActionRequest,
    texts: readonly string[] = [],
    tags: readonly string[] = [],
  ): Promise<string> {
    const { id, subject, followup_ids } = ticket;
    const { api } = this.#account;
    for (const recordId of again ? followup_ids : [])
      if (await isNoted({ recordId, marker }, { ...ticket, id: recordId }, ticketNotes(api)))
        return followUpMade(recordId);
    const text = [`Follow-up of ticket ${id}`, ...texts].join('\n\n');
    const { comment } = noteOn({ text, marker });
    const linked = { via_followup_source_id: Number(id), external_id: externalIdOf(marker) };
    const made = { subject: subject ?? '', ...linked, tags, comment, ...(await this.#assignment(params)) };
    const via = { ...ticketUpdates, headers: { 'idempotency-key': marker } };
    return followUpMade((await api.send('POST', '/api/v2/tickets.json', { ticket: made }, Made, via)).ticket.id);
  }

  /** @throws CloseloopError permanent if the group does not exist any more */
  async #assignment({ group, assignee, priority }: Reopen): Promise<object> {
    const groupId = group === undefined ? undefined : (await this.#groups()).get(group);
    if (group !== undefined && groupId === undefined)
      throw new CloseloopError(`Zendesk has no group "${group}" any more`, { kind: 'permanent' });
    const to = { ...(groupId && { group_id: groupId }), ...(assignee && { assignee_email: assignee }) };
    return { ...to, ...(priority && { priority }) };
  }
}

/** The actions of answer rules at Zendesk. */
export function actor(account: Account) {
  const actor = new Actor(account);
  const { reopen, tag } = actor;
  const [words, rows] = [{ vendor: 'Zendesk', record: 'ticket' }, ticketRows(account.api, 'metric_sets')];
  const together = (requests: readonly ActionRequest[]) => actor.together(requests);
  return deskActor(words, rows, { notes: ticketNotes(account.api) }, { reopen, tag }, { together });
}
