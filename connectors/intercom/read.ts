import type { z } from 'zod';
import { chunks } from '../../core/connector/batches.ts';
import type { ReadResult } from '../../core/connector/contract.ts';
import { customerOf } from '../../core/connector/customer.ts';
import type { Workspace } from './api.ts';
import { isClosed, isShownBySearch, type Reading, stateOf } from './closing.ts';
import { Contact, Conversation, Ticket } from './conversation.ts';
import { type IntercomShape, localeOf, present } from './record.ts';
import type { IntercomSettings } from './settings.ts';

/** The most conditions of a search. */
const searched = 15;
/** Six searches, and one for their contacts, which takes a hundred ids. */
export const batchSize = 6 * searched;

export const isId = (text: string): boolean => /^[1-9]\d{0,19}$/.test(text);

/** By search, 15 in a call, without parts. The index lags by seconds. */
export async function searchByIds<S extends z.ZodType<{ id: string }>>(
  workspace: Workspace,
  of: 'conversations' | 'tickets',
  ids: Iterable<string>,
  row: S,
): Promise<Map<string, z.output<S>>> {
  const found = new Map<string, z.output<S>>();
  for (const some of chunks([...new Set(ids)].filter(isId), searched)) {
    const value = some.map((id) => ({ field: 'id', operator: '=', value: id }) as const);
    const { rows } = await workspace.search(of, { operator: 'OR', value }, row, { perPage: searched });
    for (const one of rows) found.set(one.id, one);
  }
  return found;
}

/** In its present state, with its parts. */
export const conversationNow = (workspace: Workspace, id: string): Promise<Conversation | undefined> =>
  workspace.find({ method: 'GET', path: `/conversations/${id}?display_as=plaintext` }, Conversation);
export const ticketNow = (workspace: Workspace, id: string): Promise<Ticket | undefined> =>
  workspace.find({ method: 'GET', path: `/tickets/${id}` }, Ticket);

/**
 * Reads by search, and one by one where the search does not decide: not found or open (the index lags), closed by a bot or by
 * closeloop (only the parts show when, and whether it was merged). Tickets have a search of their own, with their history.
 */
export function reader(settings: IntercomSettings, workspace: Workspace) {
  return async (recordIds: readonly string[]): Promise<ReadResult<IntercomShape>[]> => {
    const readings = new Map<string, Reading>();
    const found = await searchByIds(workspace, 'conversations', recordIds, Conversation);
    const readsTickets = settings.ticketCategories.length > 0;
    const stubs = [...found.values()].flatMap((one) => (one.ticket && readsTickets ? [one.id] : []));
    const tickets = await searchByIds(workspace, 'tickets', stubs, Ticket);
    for (const id of new Set(recordIds.filter(isId))) {
      const conversation = found.get(id);
      const reading = conversation && { conversation, ticket: tickets.get(id) };
      const isSettled = reading && isClosed(reading, settings) && isShown(reading);
      const now = isSettled ? reading : await readingNow(id, readsTickets);
      if (now) readings.set(id, now);
    }
    const contacts = await contactsOf(workspace, [...readings.values()]);
    const people = readings.size > 0 ? await workspace.people() : undefined;
    return recordIds.map((id) => {
      const read = readings.get(id);
      if (read === undefined) return { ok: false, why: 'not-found' };
      const [personId] = read.conversation.contacts;
      const contact = contacts.get(personId ?? '');
      const state = stateOf({ ...read, contact }, settings);
      const shape = present({ ...read, contact }, people);
      const customer = customerOf({ personId, ...contact?.location, locale: contact && localeOf(contact) });
      return { ok: true, record: { id, currentId: id, state, shape, ...customer } };
    });
  };

  async function readingNow(id: string, readsTickets: boolean): Promise<Reading | undefined> {
    const conversation = await conversationNow(workspace, id);
    return (
      conversation && {
        conversation,
        ticket: conversation.ticket && readsTickets ? await ticketNow(workspace, id) : undefined,
      }
    );
  }

  function isShown({ conversation, ticket }: Reading): boolean {
    return ticket !== undefined || isShownBySearch(conversation, settings);
  }
}

/** One search for a hundred contacts. Merged contacts are in no search: they are read one by one, and followed to the survivor. */
async function contactsOf(workspace: Workspace, readings: readonly Reading[]): Promise<Map<string, Contact>> {
  const ids = [...new Set(readings.flatMap(({ conversation }) => conversation.contacts.slice(0, 1)))];
  const found = new Map<string, Contact>();
  for (const some of chunks(ids, 100)) {
    const query = { field: 'id', operator: 'IN', value: some } as const;
    const { rows } = await workspace.search('contacts', query, Contact, { perPage: 100 });
    for (const one of rows) found.set(one.id, one);
  }
  for (const id of ids.filter((one) => !found.has(one))) {
    const contact = await contactNow(workspace, id);
    if (contact) found.set(id, contact);
  }
  return found;
}

async function contactNow(workspace: Workspace, id: string, isFollowed = false): Promise<Contact | undefined> {
  const call = { method: 'GET', path: `/contacts/${encodeURIComponent(id)}`, place: 'GET /contacts/{id}' } as const;
  const response = await workspace.exchange(call);
  const [, survivor] = /^<\/contacts\/(\w+)>; *rel="canonical"/.exec(response.headers.get('link') ?? '') ?? [];
  if (response.status === 410 && survivor !== undefined && !isFollowed)
    return await contactNow(workspace, survivor, true);
  if (response.status === 404) return undefined;
  await workspace.accept(call, response);
  return workspace.parse(call, response, Contact);
}
