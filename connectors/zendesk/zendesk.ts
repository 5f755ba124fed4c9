import { keepHere } from '../../core/connector/answer.ts';
import { defineConnector } from '../../core/connector/contract.ts';
import { desk } from '../../core/connector/desk/desk.ts';
import { actions, actor } from './actions.ts';
import { jobLifeMs, zendeskApi } from './api.ts';
import { preflight } from './check.ts';
import { eventReader, signatureScheme } from './events.ts';
import { fieldKinds, type Value } from './fields.ts';
import { poller } from './poll.ts';
import { catalogueOf, presenter, suggestionsOf, type ZendeskShape } from './record.ts';
import { addressOf, settings, writesAnswers } from './settings.ts';
import { type Row, type Ticket, ticketRows } from './ticket.ts';
import { WebhookSetup } from './webhook.ts';
import { answerWriter, forgetter } from './write.ts';

/**
 * Zendesk Support: solved tickets.
 *
 * A webhook reports closings. It is subscribed to ticket events (at least `status_changed`), or connected to a trigger that sends
 * `{"ticket_id": "{{ticket.id}}"}`. Sweeps over the export of changed tickets find missed closings. An OAuth client of kind Confidential
 * (scopes: `scopeOf` in settings.ts), owned by a service user, reads and writes.
 */
export const zendesk = defineConnector({
  name: 'zendesk',
  settings,
  account: ({ subdomain }) => subdomain,
  ownDomains: ({ subdomain }) => [`${subdomain}.zendesk.com`],
  actions,
  parts: {
    tags: ['ticket.tags'],
    brands: ['ticket.brand.name', 'ticket.brand.id'],
    groups: ['ticket.group.name', 'ticket.group.id'],
    channels: ['ticket.channel'],
    agents: ['assignee.name', 'assignee.email', 'assignee.id'],
    openedAt: ['ticket.createdAt'],
    replies: ['ticket.replies'],
    customer: ['requester.email', 'requester.phone'],
  },
  open: (settings, ports) => {
    const api = zendeskApi(settings, ports);
    const account = { settings, ports, api, kinds: fieldKinds(settings, api, ports.now) };
    const webhook = new WebhookSetup(account, zendeskApi({ ...settings, scope: 'read write' }, ports).send);
    const { webhookSecrets: secrets, toleranceSeconds, writeBack } = settings;
    return desk<Row, ZendeskShape, Value, Ticket>({
      ...{ vendor: 'Zendesk', record: 'ticket' },
      intake: { secrets, proof: signatureScheme(toleranceSeconds), events: eventReader(settings) },
      read: { ...ticketRows(api), present: presenter(account) },
      poll: poller(account),
      write: { settings: writeBack },
      preflight: preflight(account, webhook),
      own: {
        // One write-back puts answers on tickets, requesters and records of a custom object.
        writeBack: writesAnswers(settings) ? answerWriter(account) : keepHere,
        forget: forgetter(account),
        lateWriteMs: jobLifeMs,
        ...actor(account),
        recover: ({ hookUrl }) => webhook.lostSecret(hookUrl),
        fields: async () => suggestionsOf(catalogueOf(await account.kinds.tickets.fields())),
        recordUrl: (id) => `${addressOf(settings)}/agent/tickets/${encodeURIComponent(id)}`,
        bringsExternalGrades: settings.csat !== undefined,
      },
    });
  },
});
