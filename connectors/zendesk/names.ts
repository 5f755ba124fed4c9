import { cached } from '../../core/connector/cached.ts';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { adviceOf } from '../../core/errors.ts';
import type { ZendeskApi } from './api.ts';
import { keptMs } from './fields.ts';
import { listNames, type Named, type NameList, type Ticket, type TicketPage } from './ticket.ts';

/** Where a ticket names one of each. */
const ids: Readonly<Record<NameList, (ticket: Ticket) => string | null | undefined>> = {
  brands: (ticket) => ticket.brand_id,
  ticket_forms: (ticket) => ticket.ticket_form_id,
  custom_statuses: (ticket) => ticket.custom_status_id,
};
const lists = ['brands', 'ticket_forms', 'custom_statuses'] as const;

/** Adds to a page the names of brands, forms and custom statuses that Zendesk didn't send along with it. */
export function nameReader(
  api: ZendeskApi,
  subdomain: string,
  ports: Pick<ConnectorPorts, 'now' | 'log'>,
): (page: TicketPage) => Promise<TicketPage> {
  const read = async (list: NameList): Promise<ReadonlyMap<string, Named>> => {
    try {
      return await listNames(api, list);
    } catch (error) {
      // An account may have no such thing, or not for us: its tickets are presented with the ids alone.
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
