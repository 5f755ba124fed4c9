import { createHash } from 'node:crypto';
import { keepHere, takesAnswers } from '../../core/connector/answer.ts';
import { defineConnector } from '../../core/connector/contract.ts';
import { desk } from '../../core/connector/desk/desk.ts';
import { acting, actions } from './actions.ts';
import { hubSpotApi } from './api.ts';
import { events, proofOf } from './events.ts';
import { recordNames, recordUrl } from './objects.ts';
import { ownerReader } from './people.ts';
import { pipelineReader } from './pipelines.ts';
import { poller } from './poll.ts';
import { preflight } from './preflight.ts';
import { reading } from './read.ts';
import { settings } from './settings.ts';
import { forgetter, writer } from './write.ts';

/**
 * HubSpot: closed tickets, and deals won or lost.
 *
 * An app in the account sends webhooks (v3 signatures, up to 100 events each) and lends its access token.
 * It needs the scopes `tickets` or `crm.objects.deals.read` and `.write`, `crm.objects.contacts.read` and
 * `crm.objects.owners.read`; and subscriptions to the stage (`hs_pipeline_stage`, `dealstage`), creation, merge,
 * deletion, restore and associationChange of each object.
 */
export const hubspot = defineConnector({
  name: 'hubspot',
  settings,
  actions,
  parts: {
    pipelines: ['ticket.pipeline.label', 'ticket.pipeline.id', 'deal.pipeline.label', 'deal.pipeline.id'],
    agents: ['owner.name', 'owner.email', 'owner.id'],
    openedAt: ['ticket.createdAt', 'deal.createdAt'],
    customer: ['contact.email', 'contact.phone', 'contact.mobilePhone'],
  },
  // HubSpot's limits are per app and account. In an OAuth app the configured refresh token is the only token that never changes.
  account({ accessToken, clientId, refreshToken, portalId }) {
    if (clientId !== undefined && portalId !== undefined) return `${clientId}-${portalId}`;
    const token = accessToken ?? `${clientId} ${refreshToken}`;
    return createHash('sha256').update(token).digest('hex').slice(0, 16);
  },
  open: (settings, ports) => {
    const { writeBack, webhookSecrets: secrets, publicUrl, objects, portalId } = settings;
    const { now } = ports;
    const api = hubSpotApi(settings, ports);
    const pipelines = { ticket: pipelineReader('ticket', api, now), deal: pipelineReader('deal', api, now) };
    const context = { settings, api, pipelines, owners: ownerReader(api, now), now };
    return desk({
      ...{ vendor: 'HubSpot', record: 'record', actions: acting(context) },
      intake: { secrets, proof: proofOf(publicUrl), events: (body, delivery) => events(body, delivery, settings) },
      read: reading(context),
      poll: poller(context),
      // HubSpot's write-back is a function of its own: a merged record lives on under another id, and answers also go to contacts.
      write: { settings: writeBack },
      own: {
        ...preflight(settings, api, ports),
        writeBack: [writeBack, writeBack.contact].some(takesAnswers) ? writer(settings, api) : keepHere,
        forget: forgetter(settings, api),
        recordNames: recordNames(objects),
        recordUrl: (id) => recordUrl(portalId, id),
      },
    });
  },
});
