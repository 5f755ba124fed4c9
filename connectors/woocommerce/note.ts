import { z } from 'zod';
import type { WriteBack } from '../../core/connector.ts';
import type { Shop } from './client.ts';

/** The last line of a note, by which it is found again. */
const reference = (marker: string): string => `closeloop ref ${marker}`;

const Note = z.object({ note: z.string().catch('') });

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

/** Is the note of this marker on the order? One call: the list isn't paged. */
export async function hasNote(shop: Shop, { recordId, marker }: WriteBack): Promise<boolean> {
  const { data } = await shop.call('GET', `orders/${recordId}/notes`, z.array(Note), { query: { type: 'internal' } });
  return data.some(({ note }) => note.trimEnd().split(/\r?\n/).at(-1)?.trim() === reference(marker));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
