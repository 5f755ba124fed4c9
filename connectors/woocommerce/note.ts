import { z } from 'zod';
import type { WriteBack } from '../../core/connector/contract.ts';
import type { Shop } from './client.ts';

/** The last line of a note, by which it is found again. */
const ours = 'closeloop ref ';
const reference = (marker: string): string => ours + marker;

const Note = z.object({ note: z.string().catch('') });
const Listed = Note.extend({ id: z.union([z.int(), z.string()]).transform(String) });

/** The private note, as the shop's staff read it. Tags would be filtered out of it, and what they enclose shown wrongly. */
export function noteText(item: WriteBack): string {
  const { grade, maxGrade, comment, campaign, answeredAt, marker } = item;
  const given = grade === null ? 'no grade' : `${grade}${maxGrade === undefined ? '' : ` of ${maxGrade}`}`;
  const at = answeredAt.toISOString().slice(0, 16).replace('T', ' ');
  return [
    `Customer feedback: ${given} (${escaped(campaign)})`,
    ...(comment === null || comment === '' ? [] : [escaped(comment)]),
    `Answered ${at} UTC`,
    reference(marker),
  ].join('\n');
}

/** `customer_note` would mail it to the customer: always false. */
export async function addNote(shop: Shop, item: WriteBack): Promise<void> {
  const body = { note: noteText(item), customer_note: false };
  await shop.call('POST', `orders/${item.recordId}/notes`, Note, { body });
}

/** Is the note of this marker on the order? */
export async function hasNote(shop: Shop, { recordId, marker }: WriteBack): Promise<boolean> {
  return (await notesOn(shop, recordId)).some(({ lastLine }) => lastLine === reference(marker));
}

/** Takes all notes of ours off an order: a call to look, and one for each. */
export async function removeNotes(shop: Shop, orderId: string): Promise<void> {
  for (const { id, lastLine } of await notesOn(shop, orderId)) {
    if (!lastLine?.startsWith(ours)) continue;
    await shop.call('DELETE', `orders/${orderId}/notes/${id}`, z.unknown(), { query: { force: 'true' } });
  }
}

/** One call: the list isn't paged. */
async function notesOn(shop: Shop, orderId: string): Promise<{ id: string; lastLine: string | undefined }[]> {
  const { data } = await shop.call('GET', `orders/${orderId}/notes`, z.array(Listed), { query: { type: 'internal' } });
  return data.map(({ id, note }) => ({ id, lastLine: note.trimEnd().split(/\r?\n/).at(-1)?.trim() }));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
