import { z } from 'zod';
import { escapeHtml, markerOf, noteOf } from '../../core/connector/answer.ts';
import type { WriteBack } from '../../core/connector/contract.ts';
import type { Current } from './answer.ts';
import type { Workspace } from './api.ts';
import { Conversation, type Part, Ticket } from './conversation.ts';
import { conversationNow, ticketNow } from './read.ts';
import type { IntercomSettings } from './settings.ts';

/** The conversation or the ticket whose attributes take an answer. */
export interface Place {
  id: string;
  current: Current;
  ticket?: Ticket;
  /** Left out while they have not been read. */
  parts?: readonly Part[];
}

/** The calls that change a conversation or a ticket. */
export function openPlaces({ writeBack, adminId }: IntercomSettings, workspace: Workspace) {
  /** Reads a ticket anew: what is sent depends on whether it is open. @param found the conversation, if a search found it */
  async function placeOf(id: string, found: Conversation | undefined): Promise<Place | undefined> {
    const conversation = found ?? (await conversationNow(workspace, id));
    const isTicket = conversation?.ticket && writeBack.tickets === 'ticket';
    const ticket = isTicket ? await ticketNow(workspace, id) : undefined;
    if (ticket) return { id, current: ticket.ticket_attributes, ticket, parts: ticket.ticket_parts };
    const parts = conversation?.conversation_parts;
    return conversation && { id, current: conversation.custom_attributes, ...(parts && { parts }) };
  }

  /** Sets attributes by their names. Returns the attributes of the response. */
  async function change({ id, ticket }: Place, attributes: Current): Promise<Current> {
    if (ticket === undefined) {
      const call = { method: 'PUT', path: `/conversations/${id}`, body: { custom_attributes: attributes } } as const;
      return (await workspace.call(call, Conversation)).custom_attributes;
    }
    const path = `/tickets/${id}`;
    const closed = ticket.open ? {} : { open: false };
    // The id is a number here and a string in all other calls.
    const body = { ticket_attributes: attributes, ...closed, admin_id: Number(adminId) };
    const after = await workspace.call({ method: 'PUT', path, body }, Ticket);
    if (after.open && !ticket.open) await closeAgain(id);
    return after.ticket_attributes;
  }

  /** Intercom opens a closed ticket at each write, also with `open: false`. Never set the ticket state: the customer is notified of it. */
  async function closeAgain(id: string): Promise<void> {
    const body = { open: false, admin_id: Number(adminId) };
    const { open } = await workspace.call({ method: 'PUT', path: `/tickets/${id}`, body }, Ticket);
    if (!open) return;
    const close = { message_type: 'close', type: 'admin', admin_id: adminId };
    await workspace.call({ method: 'POST', path: `/conversations/${id}/parts`, body: close }, z.unknown());
  }

  async function addNote({ id, ticket }: Place, item: WriteBack): Promise<void> {
    const note = { message_type: 'note', type: 'admin', admin_id: adminId, body: noteHtml(item) };
    const body = ticket ? note : { ...note, skip_notifications: true };
    const path = `/${ticket ? 'tickets' : 'conversations'}/${id}/reply`;
    await workspace.call({ method: 'POST', path, body }, z.unknown());
  }

  async function hasNote({ id, parts }: Place, { marker }: WriteBack): Promise<boolean> {
    const all = parts ?? (await conversationNow(workspace, id))?.conversation_parts ?? [];
    return all.some((part) => markerOfPart(part) === marker);
  }

  /** Parts can be redacted, not deleted. They are redacted by their ids in the conversation, which differ from those in the ticket. */
  async function redactNotes({ id, conversation_parts: parts = [] }: Conversation): Promise<void> {
    for (const part of parts.filter((one) => markerOfPart(one) !== undefined)) {
      const body = { type: 'conversation_part', conversation_id: id, conversation_part_id: part.id };
      await workspace.call({ method: 'POST', path: '/conversations/redact', body }, z.unknown());
    }
  }

  return { placeOf, change, addNote, hasNote, redactNotes };
}

const markerOfPart = ({ part_type: type, body }: Part): string | undefined =>
  type === 'note' ? markerOf(body) : undefined;

function noteHtml(item: WriteBack): string {
  const { title, comment, when, reference } = noteOf(item);
  const lines = [title, ...comment.split('\n'), when, reference].filter((line) => line.trim() !== '');
  return lines.map((line) => `<p>${escapeHtml(line)}</p>`).join('');
}
