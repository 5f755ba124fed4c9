import type { ReadResult, Source } from '../../core/connector.ts';
import type { ZendeskApi } from './client.ts';
import type { Catalogue } from './fields.ts';
import { present, type ZendeskShape } from './record.ts';
import { batchSize, isTicketId, showMany } from './ticket.ts';

/** What rules see beyond the ticket, and what tells closings apart. */
const sideloads = ['users', 'groups', 'organizations', 'metric_sets'];

/**
 * Reads tickets, 100 a call. Planning and asking read the same: whether to ask depends on requester and metrics as well,
 * and they cost no further call. Deleted tickets are absent from the answer, or say so in their status.
 */
export function reader(api: ZendeskApi, catalogue: () => Promise<Catalogue>): Source<ZendeskShape>['read'] {
  return async (recordIds) => {
    const ids = [...new Set(recordIds)].filter(isTicketId);
    const results = new Map<string, ReadResult<ZendeskShape>>();
    for (let start = 0; start < ids.length; start += batchSize) {
      const fields = await catalogue();
      const page = await showMany(api, ids.slice(start, start + batchSize), sideloads);
      for (const [id, read] of page.tickets) {
        if (!read.ok) results.set(id, { ok: false, why: 'error', error: read.error });
        else if (read.ticket.status !== 'deleted')
          results.set(id, { ok: true, record: present(read.ticket, page, fields) });
      }
    }
    return recordIds.map((id) => results.get(id) ?? { ok: false, why: 'not-found' });
  };
}
