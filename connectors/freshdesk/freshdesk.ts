import { type ConnectorPorts, defineConnector } from '../../core/connector/contract.ts';
import { customerOf } from '../../core/connector/customer.ts';
import { noteAction, setAction, tagAction } from '../../core/connector/desk/act.ts';
import { desk } from '../../core/connector/desk/desk.ts';
import { pollInTurn, pollWindow } from '../../core/connector/desk/poll.ts';
import { listOf } from '../../core/entries.ts';
import { type Account, openAccount, rowsPerPage } from './api.ts';
import { closedEvent, events, Rating, ratingEvent } from './events.ts';
import { preflight, secretHeader } from './preflight.ts';
import { isId, present, stateOf, Ticket } from './record.ts';
import { type FreshdeskSettings, settings } from './settings.ts';
import { Reopen, reopen, writing } from './write.ts';

/**
 * Freshdesk can't read several tickets by their ids: the connector lists what has changed since the oldest closing, if that needs fewer calls
 * than reading each ticket.
 */
const listed =
  (account: Account) =>
  async (ids: readonly string[], since?: Date): Promise<Map<string, Ticket>> => {
    const found = new Map<string, Ticket>();
    let next: { from: Date; page: number } | undefined = since && {
      from: new Date(since.getTime() - 120_000),
      page: 1,
    };
    for (let left = Math.floor(ids.length / 2); next !== undefined && left > 0 && found.size < ids.length; left--) {
      const { from, page } = next;
      const rows = await account.changedSince(from, page, 'work');
      for (const row of rows) if (ids.includes(row.id)) found.set(row.id, row);
      const last = rows.at(-1)?.updated_at;
      // Rows move while the list is read, so a further page is read only within one second.
      if (rows.length < rowsPerPage || last === undefined) next = undefined;
      else next = last > from ? { from: last, page: 1 } : { from, page: page + 1 };
    }
    return found;
  };

function poller(settings: FreshdeskSettings, account: Account, ports: ConnectorPorts) {
  const tickets = pollWindow<Ticket>(
    {
      async page(from, page) {
        const rows = await account.changedSince(from, page, 'background');
        return { rows, isFull: rows.length >= rowsPerPage };
      },
      changedAt: ({ updated_at }) => updated_at,
      events(ticket) {
        const state = stateOf(ticket, settings);
        return state.is === 'closed' ? [closedEvent(ticket.id, state)] : [];
      },
    },
    ports,
  );
  const { ratings } = settings;
  if (ratings === undefined) return tickets;
  const rated = pollWindow<Rating>(
    {
      isUnordered: true,
      async page(from, page) {
        const path = `/surveys/satisfaction_ratings?created_since=${from.toISOString()}&page=${page}&per_page=${rowsPerPage}`;
        const rows = await account.call(
          { method: 'GET', path, urgency: 'background', endpoint: 'list' },
          listOf(Rating),
        );
        return { rows, isFull: rows.length >= rowsPerPage };
      },
      changedAt: ({ created_at }) => created_at,
      events: (rating) => ratingEvent(rating, ratings),
    },
    ports,
  );
  return pollInTurn([tickets, rated]);
}

/**
 * Freshdesk: tickets that are resolved or closed.
 *
 * Automation rules send a webhook when a status changes, with a shared secret, because Freshdesk signs nothing. Webhooks count against the
 * account's limit of calls, and Freshdesk drops a webhook that has waited for a day, so the connector always polls as well. A closed ticket
 * takes answers until Freshdesk archives it.
 */
export const freshdesk = defineConnector({
  name: 'freshdesk',
  settings,
  account: ({ subdomain }) => subdomain,
  actions: { reopen: Reopen, note: noteAction, tag: tagAction, set: setAction },
  parts: {
    tags: ['ticket.tags'],
    groups: ['group.name', 'group.id'],
    channels: ['ticket.source'],
    agents: ['agent.name', 'agent.id'],
    openedAt: ['ticket.createdAt'],
    customer: ['requester.email', 'requester.phone', 'requester.mobile'],
  },
  open(settings, ports) {
    const account = openAccount(settings, ports);
    const { writeBack, webhookSecrets, subdomain } = settings;
    return desk({
      vendor: 'Freshdesk',
      record: 'ticket',
      intake: {
        secrets: webhookSecrets,
        proof: { secretIn: secretHeader },
        events: (body, delivery) => events(body, delivery, settings),
      },
      read: {
        isId,
        many: listed(account),
        one: (id) => account.find({ method: 'GET', path: `/tickets/${id}?include=requester,stats` }, Ticket),
        async present() {
          const names = { agents: await account.agents(), groups: await account.groups() };
          return (ticket) => ({
            state: stateOf(ticket, settings, names.agents),
            shape: present(ticket, names),
            ...customerOf({ personId: ticket.requester_id }),
          });
        },
      },
      poll: poller(settings, account, ports),
      write: writing(account, writeBack),
      actions: { reopen: reopen(settings, account) },
      preflight: preflight(settings, account),
      own: {
        bringsExternalGrades: settings.ratings !== undefined,
        recordUrl: (id) => `https://${subdomain}.freshdesk.com/a/tickets/${id}`,
      },
    });
  },
});
