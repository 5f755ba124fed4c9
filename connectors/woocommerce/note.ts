import { z } from 'zod';
import { escapeHtml, markerOf, noteOf } from '../../core/connector/answer.ts';
import type { WriteBack } from '../../core/connector/contract.ts';
import { listOf, orElse } from '../../core/entries.ts';
import type { Shop } from './api.ts';
import { id } from './order.ts';

const Note = z.object({ note: orElse(z.string(), '') });
const Listed = Note.extend({ id });

/** The private note, as the shop's staff read it. WordPress would filter tags out and misplace their content. */
export function noteText(item: WriteBack): string {
  const { title, comment, when, reference } = noteOf(item);
  return [title, comment, when, reference]
    .filter((line) => line !== '')
    .map(escapeHtml)
    .join('\n');
}

/** Never as `customer_note`, which is mailed to the customer. */
export async function addNote(shop: Shop, item: WriteBack): Promise<void> {
  const body = { note: noteText(item), customer_note: false };
  await shop.call('POST', `orders/${item.recordId}/notes`, Note, { body });
}

/** Is the note of this marker on the order? */
export async function hasNote(shop: Shop, { recordId, marker }: WriteBack): Promise<boolean> {
  return (await notesOn(shop, recordId)).some((note) => note.marker === marker);
}

/** Removes all of closeloop's notes from an order: one call to list them, and one per note. */
export async function removeNotes(shop: Shop, orderId: string): Promise<void> {
  for (const { id, marker } of await notesOn(shop, orderId)) {
    if (marker === undefined) continue;
    await shop.call('DELETE', `orders/${orderId}/notes/${id}`, z.unknown(), { query: { force: 'true' } });
  }
}

/** One call: the list isn't paged. */
async function notesOn(shop: Shop, orderId: string): Promise<{ id: string; marker: string | undefined }[]> {
  const { data } = await shop.call('GET', `orders/${orderId}/notes`, listOf(Listed), { query: { type: 'internal' } });
  return data.map(({ id, note }) => ({ id, marker: markerOf(note) }));
}
