import { z } from 'zod';
import { markerOf } from '../../core/connector/answer.ts';
import type { WriteBack } from '../../core/connector/contract.ts';
import { listOf, orElse } from '../../core/entries.ts';
import { readPages, type ZendeskApi } from './api.ts';

/** The note's reference in the metadata of the change, which an agent who edits or redacts the note doesn't change. */
export const noteMetadata = ({ marker }: Pick<WriteBack, 'marker'>): object => ({ closeloop_ref: marker });

const Audit = z.object({
  events: listOf(z.object({ type: z.string().nullish(), body: z.unknown().optional() })).default([]),
  metadata: orElse(z.object({ custom: z.object({ closeloop_ref: z.unknown() }).partial().nullish() }), null),
});
const Audits = z.object({ audits: listOf(Audit) });

/** Is the note of this marker on the ticket? Reads its whole history, 100 entries per call. */
export async function hasNote(api: ZendeskApi, ticketId: string, marker: string): Promise<boolean> {
  let isThere = false;
  await readPages(api, `/api/v2/tickets/${ticketId}/audits.json`, Audits, ({ audits }) => {
    isThere = audits.some((audit) => isNoteOf(marker, audit));
    return isThere;
  });
  return isThere;
}

function isNoteOf(marker: string, { events, metadata }: z.output<typeof Audit>): boolean {
  const comments = events.filter(({ type }) => type === 'Comment');
  const isOurs = ({ body }: { body?: unknown }): boolean => typeof body === 'string' && markerOf(body) === marker;
  return metadata?.custom?.closeloop_ref === marker ? comments.length > 0 : comments.some(isOurs);
}
