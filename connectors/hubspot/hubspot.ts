import { createHash } from 'node:crypto';
import { defineConnector } from '../../core/connector.ts';
import { hubSpotApi } from './client.ts';
import { events } from './events.ts';
import { reader } from './read.ts';
import { settings } from './settings.ts';
import { verify } from './signature.ts';
import { writer } from './write-back.ts';

/**
 * HubSpot: closed tickets, and deals won or lost.
 *
 * An app in the account sends webhooks (v3 signatures, up to 100 events each) and lends its access token.
 * It needs the scopes `tickets` or `crm.objects.deals.read` and `.write`, `crm.objects.contacts.read` and
 * `crm.objects.owners.read`; and subscriptions to the stage (`hs_pipeline_stage`, `dealstage`), creation, merge,
 * deletion, restore and associationChange of each object.
 *
 * Where things are: `signature.ts` who sent it; `events.ts` what it says; `read.ts` what the record is now (its state
 * and shape in `record.ts`, what it needs in `pipelines.ts`, `contacts.ts` and `owners.ts`); `write-back.ts` the
 * answer; `client.ts`, `failure.ts` and `batch.ts` every call and what its answer means.
 */
export const hubspot = defineConnector({
  name: 'hubspot',
  settings,
  // One token is one app in one account; the limits are per app.
  account: ({ accessToken }) => createHash('sha256').update(accessToken).digest('hex').slice(0, 16),
  open: (settings, ports) => {
    const api = hubSpotApi(settings, ports);
    return {
      batchSize: 100,
      acceptedStatus: 202,
      verify: (delivery) => verify(delivery, settings.webhookSecrets, settings.publicUrl),
      events: (delivery) => events(delivery, settings),
      read: reader(settings, api, ports),
      writeBack: writer(settings, api),
    };
  },
});
