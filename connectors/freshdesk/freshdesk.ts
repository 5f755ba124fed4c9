import { type ConnectorPorts, defineConnector } from '../../core/connector/contract.ts';
import { noteAction, setAction, tagAction } from '../../core/connector/desk/act.ts';
import { desk } from '../../core/connector/desk/desk.ts';
import { closingOf, listedSince, pollInTurn, pollWindow } from '../../core/connector/desk/poll.ts';
import { type Account, openAccount } from './api.ts';
import { events, ratingWindow } from './events.ts';
import { preflight, secretHeader } from './preflight.ts';
import { isId, present, stateOf, Ticket } from './record.ts';
import { type FreshdeskSettings, settings } from './settings.ts';
import { Reopen, reopen, writing } from './write.ts';

function poller(settings: FreshdeskSettings, account: Account, ports: ConnectorPorts) {
  const events = (ticket: Ticket) => closingOf(ticket.id, stateOf(ticket, settings));
  const tickets = pollWindow({ ...account.changes('background'), events }, ports);
  if (settings.ratings === undefined) return tickets;
  return pollInTurn([tickets, pollWindow(ratingWindow(account, settings.ratings), ports)]);
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
        many: listedSince(account.changes('work')),
        one: (id) => account.find({ method: 'GET', path: `/tickets/${id}?include=requester,stats` }, Ticket),
        async present() {
          const names = { agents: await account.agents(), groups: await account.groups() };
          return (ticket) => ({
            state: stateOf(ticket, settings, names.agents),
            shape: present(ticket, names),
            personId: ticket.requester_id,
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
