import { chunks } from '../../core/connector/batches.ts';
import type { Cached } from '../../core/connector/cached.ts';
import type { ReadResult, Source } from '../../core/connector/contract.ts';
import type { ZendeskApi } from './api.ts';
import type { Catalogue } from './fields.ts';
import { present, type ZendeskShape } from './record.ts';
import { batchSize, isTicketId, showMany, type TicketPage } from './ticket.ts';

/** What rules see beyond the ticket, and what tells closings apart. */
const sideloads = ['users', 'groups', 'organizations', 'metric_sets', 'brands', 'ticket_forms', 'custom_statuses'];

/**
 * Reads tickets, 100 a call. Planning and asking read the same: whether to ask depends on requester and metrics as well,
 * and they cost no further call. Only names that Zendesk didn't send along are for planning alone. Deleted tickets are absent from the answer, or say so in their status.
 */
export function reader(
  api: ZendeskApi,
  catalogue: Cached<Catalogue>,
  withNames: (page: TicketPage) => Promise<TicketPage>,
): Source<ZendeskShape>['read'] {
  return async (recordIds, purpose) => {
    const ids = [...new Set(recordIds)].filter(isTicketId);
    const results = new Map<string, ReadResult<ZendeskShape>>();
    for (const some of chunks(ids, batchSize)) {
      const fields = await catalogue();
      const bare = await showMany(api, some, sideloads);
      const page = purpose === 'plan' ? await withNames(bare) : bare;
      for (const [id, read] of page.tickets) {
        if (!read.ok) results.set(id, { ok: false, why: 'error', error: read.error });
        else if (read.ticket.status !== 'deleted')
          results.set(id, { ok: true, record: present(read.ticket, page, fields) });
      }
    }
    return recordIds.map((id) => results.get(id) ?? { ok: false, why: 'not-found' });
  };
}
