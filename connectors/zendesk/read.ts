import { chunks } from '../../core/connector/batches.ts';
import { type Cached, cached } from '../../core/connector/cached.ts';
import type { ConnectorPorts, ReadResult, Source } from '../../core/connector/contract.ts';
import { adviceOf } from '../../core/errors.ts';
import type { ZendeskApi } from './api.ts';
import { type Catalogue, keptMs } from './fields.ts';
import { present, type ZendeskShape } from './record.ts';
import type { ZendeskSettings } from './settings.ts';
import {
  batchSize,
  isTicketId,
  listNames,
  type Named,
  type NameList,
  showMany,
  type Ticket,
  type TicketPage,
} from './ticket.ts';

/** Side-loads for rules, and the metrics that distinguish closings. */
const sideloads = ['users', 'groups', 'organizations', 'metric_sets', 'brands', 'ticket_forms', 'custom_statuses'];

/**
 * Reads tickets, 100 per call. Planning and asking read the same, as the state depends on requester and metrics, which cost no further
 * call; only planning reads names that Zendesk didn't side-load. Deleted tickets are absent, or have the status `deleted`.
 */
export function reader(
  { subdomain }: Pick<ZendeskSettings, 'subdomain'>,
  api: ZendeskApi,
  catalogue: Cached<Catalogue>,
  ports: Pick<ConnectorPorts, 'now' | 'log'>,
): Source<ZendeskShape>['read'] {
  const withNames = nameReader(api, subdomain, ports);
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

/** The ticket's id in each list. */
const ids: Readonly<Record<NameList, (ticket: Ticket) => string | null | undefined>> = {
  brands: (ticket) => ticket.brand_id,
  ticket_forms: (ticket) => ticket.ticket_form_id,
  custom_statuses: (ticket) => ticket.custom_status_id,
};
const lists = ['brands', 'ticket_forms', 'custom_statuses'] as const;

/** Adds to a page the names of brands, forms and custom statuses that Zendesk didn't send along with it. */
function nameReader(
  api: ZendeskApi,
  subdomain: string,
  ports: Pick<ConnectorPorts, 'now' | 'log'>,
): (page: TicketPage) => Promise<TicketPage> {
  const read = async (list: NameList): Promise<ReadonlyMap<string, Named>> => {
    try {
      return await listNames(api, list);
    } catch (error) {
      // The account may not have the list, or refuse it: tickets are presented with the ids alone.
      if (adviceOf(error).kind === 'transient') throw error;
      ports.log.warn({ subdomain, list }, 'names that Zendesk does not tell us are left out');
      return new Map();
    }
  };
  const lookUps = {
    brands: lookUp('brands'),
    ticket_forms: lookUp('ticket_forms'),
    custom_statuses: lookUp('custom_statuses'),
  };
  function lookUp(list: NameList) {
    return cached(() => read(list), keptMs, ports.now);
  }

  return async (page) => {
    const tickets = [...page.tickets.values()].flatMap((read) => (read.ok ? [read.ticket] : []));
    const names = { ...page.names };
    for (const list of lists) {
      const isKnown = (ticket: Ticket): boolean => {
        const id = ids[list](ticket);
        return id == null || names[list].has(id);
      };
      if (!tickets.every(isKnown)) names[list] = new Map([...(await lookUps[list]()), ...names[list]]);
    }
    return { ...page, names };
  };
}
