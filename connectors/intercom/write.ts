import { z } from 'zod';
import { noteHtml } from '../../core/connector/answer.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { ownError } from '../../core/connector/desk/rows.ts';
import { holdsValue, inPlainForm } from '../../core/connector/desk/write.ts';
import type { ChangedRow, DeskNotes, DeskWriting, Refusal } from '../../core/connector/desk/writing.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Workspace } from './api.ts';
import { refusalReader, type Value } from './attributes.ts';
import { Conversation, type Reading, Ticket, time } from './conversation.ts';
import { conversationNow, isId, readingOf, searchByIds, searched } from './record.ts';
import type { IntercomSettings } from './settings.ts';

type Attributes = Readonly<Record<string, unknown>>;

/** Writes with one call per answer and one per note, as Intercom has no bulk writes. */
export function writing(
  settings: IntercomSettings,
  workspace: Workspace,
  ports: Pick<ConnectorPorts, 'now'>,
): DeskWriting<Reading, Value> {
  const { writeBack } = settings;
  /** Reads a ticket again, because closeloop sends different values if the ticket is open. */
  const placeOf = (found: Conversation) => readingOf(workspace, found, writeBack.tickets === 'ticket');
  const one = async (id: string): Promise<Reading | undefined> => {
    const conversation = await conversationNow(workspace, id);
    return conversation && (await placeOf(conversation));
  };
  return {
    settings: writeBack,
    rows: {
      isId,
      // Each batch is one search, so that little time passes between reading and writing a ticket.
      size: searched,
      async many(ids) {
        const rows = new Map<string, Reading | CloseloopError>();
        for (const [id, found] of await searchByIds(workspace, 'conversations', ids, Conversation)) {
          const row = await placeOf(found).catch(ownError);
          if (row !== undefined) rows.set(id, row);
        }
        return rows;
      },
      one,
    },
    forgetRows: { isId, size: 1, one },
    written: (part) =>
      part.value instanceof Date ? Math.floor(part.value.getTime() / 1_000) : inPlainForm(part, writeBack),
    at: (row, name) => attributesOf(row)[name],
    holds,
    instantOf: (at) => (time.parse(at) ?? Number.NaN) * 1_000,
    put: putOn(settings, workspace, ports),
    notKept: () => 'look at the type of this attribute',
    notes: notes(settings, workspace),
    leaves: (id) => `the history of conversation ${id}, which names the attributes that were set`,
  };
}

const attributesOf = ({ conversation, ticket }: Reading): Attributes =>
  ticket?.ticket_attributes ?? conversation.custom_attributes;

/** Compares values: Intercom returns dates as they were sent, or as text. */
const holds = (there: unknown, value: Value | null): boolean =>
  holdsValue(there, value) ||
  (typeof value === 'number' && typeof there === 'string' && [Number(there), time.parse(there)].includes(value));

/** Sets attributes by their names. A value that does not fit its attribute does not stop the other values. */
function putOn(settings: IntercomSettings, workspace: Workspace, ports: Pick<ConnectorPorts, 'now'>) {
  const admin = { admin_id: Number(settings.adminId) };
  const refusalFor = refusalReader(settings, workspace, ports);

  async function change({ conversation, ticket }: Reading, attributes: Attributes): Promise<Reading> {
    const { id } = conversation;
    if (ticket === undefined) {
      const body = { custom_attributes: attributes };
      return { conversation: await workspace.send('PUT', `/conversations/${id}`, body, Conversation) };
    }
    // `admin_id` is a number here, and a string in all other calls.
    const body = { ticket_attributes: attributes, ...(!ticket.open && { open: false }), ...admin };
    const after = await workspace.send('PUT', `/tickets/${id}`, body, Ticket);
    if (after.open && !ticket.open) await closeAgain(id);
    return { conversation, ticket: after };
  }

  /**
   * Closes the ticket again, as Intercom opens a closed ticket at each write, even with `open: false`. Never set the ticket's state: Intercom
   * notifies the customer of it.
   */
  async function closeAgain(id: string): Promise<void> {
    const { open } = await workspace.send('PUT', `/tickets/${id}`, { open: false, ...admin }, Ticket);
    if (!open) return;
    const close = { message_type: 'close', type: 'admin', admin_id: settings.adminId };
    await workspace.send('POST', `/conversations/${id}/parts`, close, z.unknown());
  }

  return async ({ id, row, change: { values } }: ChangedRow<Reading, Value>): Promise<Reading | Refusal> => {
    try {
      return await change(row, Object.fromEntries(values));
    } catch (error) {
      if (!(error instanceof VendorError && (error.code === 'parameter_invalid' || error.status === 422))) throw error;
      const refusal = await refusalFor(row.ticket?.ticket_type.name, values);
      if (refusal === undefined) throw error;
      if (refusal.unfit.length > 0) return refusal;
      // The attributes exist and fit, so the refusal concerns this conversation alone.
      const said = `${error.message} The attributes are there and fit: look at conversation ${id} itself.`;
      throw new CloseloopError(said, { kind: 'permanent' });
    }
  };
}

const notes = ({ adminId }: IntercomSettings, workspace: Workspace): DeskNotes<Reading> => ({
  /** Lists the notes by their ids in the conversation, which differ from their ids in the ticket. Only these ids can redact a note. */
  async list({ conversation, ticket }, id) {
    const parts = conversation.conversation_parts ?? ticket?.ticket_parts;
    const all = parts ?? (await conversationNow(workspace, id))?.conversation_parts ?? [];
    return all.flatMap(({ id, part_type: type, body: text }) => (type === 'note' ? [{ id, text }] : []));
  },
  add({ ticket }, about, id) {
    const note = { message_type: 'note', type: 'admin', admin_id: adminId, body: noteHtml(about) };
    const body = ticket ? note : { ...note, skip_notifications: true };
    const path = `/${ticket ? 'tickets' : 'conversations'}/${id}/reply`;
    return workspace.send('POST', path, body, z.unknown());
  },
  /** Intercom can redact parts, but not delete them. */
  remove(_, noteId, id) {
    const body = { type: 'conversation_part', conversation_id: id, conversation_part_id: noteId };
    return workspace.send('POST', '/conversations/redact', body, z.unknown());
  },
});
