import { keepHere } from '../../core/connector/answer.ts';
import { defineConnector } from '../../core/connector/contract.ts';
import { numbered } from '../../core/connector/record-name.ts';
import { type HmacScheme, verifyHmac } from '../../core/connector/signature.ts';
import { actions, actor } from './actions.ts';
import { zendeskApi } from './api.ts';
import { checker } from './check.ts';
import { eventReader } from './events.ts';
import { fieldCatalogue, suggestionsOf } from './fields.ts';
import { forgetter } from './forget.ts';
import { jobLifeMs, jobWatch } from './jobs.ts';
import { poller } from './poll.ts';
import { reader } from './record.ts';
import { addressOf, settings, writesAnswers } from './settings.ts';
import { installer, recoverer } from './setup.ts';
import { batchSize, isTicketId } from './ticket.ts';
import { writer } from './write-back.ts';

/**
 * How Zendesk signs deliveries. The secret is a text, never base64-decoded, even where it looks like base64. Zendesk documents no
 * tolerance for the timestamp and may not sign retries anew: 15 minutes, the default, leave room for retries.
 * Source: developer.zendesk.com/documentation/webhooks/verifying.
 */
export const signatureScheme = (toleranceSeconds: number): HmacScheme => ({
  header: 'x-zendesk-webhook-signature',
  algorithm: 'sha256',
  encoding: 'base64',
  timestamp: {
    header: 'x-zendesk-webhook-signature-timestamp',
    as: 'iso',
    toleranceMs: toleranceSeconds * 1000,
  },
  signed: ({ raw }, timestamp) => [timestamp, raw],
});

/**
 * Zendesk Support: solved tickets.
 *
 * A webhook subscribed to ticket events (at least `status_changed`), or connected to a trigger that sends
 * `{"ticket_id": "{{ticket.id}}"}`, reports closings; sweeps over the export of changed tickets find missed ones. An
 * OAuth client of kind Confidential (scopes: `scopeOf` in settings.ts), owned by a service user, reads and writes.
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
    const catalogue = fieldCatalogue(api, ports);
    const finished = jobWatch(api, ports.sleep);
    const signed = signatureScheme(settings.toleranceSeconds);
    return {
      batchSize,
      lateWriteMs: jobLifeMs,
      taken: { status: 202 },
      verify: (delivery) => verifyHmac(delivery, settings.webhookSecrets, signed),
      events: eventReader(settings),
      read: reader(settings, api, catalogue, ports),
      check: checker(settings, api, ports),
      setup: installer(settings, api, ports),
      recover: recoverer(settings, api),
      writeBack: writesAnswers(settings) ? writer(settings, api, catalogue, finished, ports) : keepHere,
      ...actor(api, finished, ports),
      forget: forgetter(settings, api, catalogue, ports),
      poll: poller(api, ports),
      fields: async () => suggestionsOf(await catalogue()),
      writesNoAnswer: settings.writeBack.noAnswer,
      surveyQuestions: Object.keys(settings.writeBack.answers),
      recordNames: numbered(isTicketId),
      recordNoun: 'ticket',
      recordUrl: (id) => `${addressOf(settings)}/agent/tickets/${encodeURIComponent(id)}`,
      bringsExternalGrades: settings.csat !== undefined,
    };
  },
});
