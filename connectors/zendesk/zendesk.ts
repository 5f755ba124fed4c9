import { defineConnector } from '../../core/connector.ts';
import { zendeskApi } from './client.ts';
import { events } from './events.ts';
import { fieldCatalogue } from './fields.ts';
import { reader } from './read.ts';
import { settings } from './settings.ts';
import { verify } from './signature.ts';
import { batchSize } from './ticket.ts';
import { writer } from './write-back.ts';

/**
 * Zendesk Support: solved tickets.
 *
 * A webhook subscribed to ticket events (at least `status_changed`), or connected to a trigger that sends
 * `{"ticket_id": "{{ticket.id}}"}`, tells of closings. An OAuth client of kind Confidential with `read tickets:write`,
 * owned by a service user, reads and writes.
 *
 * Where things are: `signature.ts` who sent it; `events.ts` what it says; `read.ts` what the ticket is now (its state and
 * shape in `record.ts`, names of fields in `fields.ts`, answers of the API in `ticket.ts`); `write-back.ts` the answer (its
 * fields and tags in `answer.ts`, the note in `note.ts`, Zendesk's background jobs in `jobs.ts`); `client.ts` every call
 * (`credentials.ts`, `quota.ts`, `failure.ts`: with what right, how soon, and what a refusal means), over `request/`,
 * which stands in for the package of that name under `zendesk-node-api` as well.
 */
export const zendesk = defineConnector({
  name: 'zendesk',
  settings,
  account: ({ subdomain }) => subdomain,
  open: (settings, ports) => {
    const api = zendeskApi(settings, ports);
    const catalogue = fieldCatalogue(api, ports);
    return {
      batchSize,
      acceptedStatus: 202,
      verify: (delivery) => verify(delivery, settings.webhookSecrets, settings.toleranceSeconds),
      events: (delivery) => events(delivery, settings),
      read: reader(api, catalogue),
      writeBack: writer(settings, api, catalogue, ports),
    };
  },
});
