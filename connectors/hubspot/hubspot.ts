import { createHash } from 'node:crypto';
import { keepHere, takesAnswers } from '../../core/connector/answer.ts';
import { defineConnector } from '../../core/connector/contract.ts';
import { actions, actor } from './actions.ts';
import { hubSpotApi } from './api.ts';
import { checker } from './check.ts';
import { events } from './events.ts';
import { forgetter } from './forget.ts';
import { recordNames, recordUrl } from './objects.ts';
import { ownerReader } from './owners.ts';
import { pipelineReader } from './pipelines.ts';
import { poller } from './poll.ts';
import { reader } from './read.ts';
import { settings } from './settings.ts';
import { preparer } from './setup.ts';
import { verify } from './signature.ts';
import { writer } from './write-back.ts';

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
  // The limits are per app and account. Of OAuth's tokens only the configured one never changes.
  account: ({ accessToken, clientId, refreshToken, portalId }) =>
    clientId !== undefined && portalId !== undefined
      ? `${clientId}-${portalId}`
      : createHash('sha256')
          .update(accessToken ?? `${clientId} ${refreshToken}`)
          .digest('hex')
          .slice(0, 16),
  open: (settings, ports) => {
    const { writeBack } = settings;
    const api = hubSpotApi(settings, ports);
    const pipelines = {
      ticket: pipelineReader('ticket', api, ports.now),
      deal: pipelineReader('deal', api, ports.now),
    };
    const owners = ownerReader(api, ports.now);
    return {
      // Of the associations of so many it takes one call, of the rest one for each 50 or 100.
      batchSize: 500,
      taken: { status: 202 },
      verify: (delivery) => verify(delivery, settings.webhookSecrets, settings.publicUrl),
      events: (delivery) => events(delivery, settings),
      read: reader(settings, api, ports, pipelines, owners),
      poll: poller(settings, api, ports, pipelines),
      check: checker(settings, ports),
      setup: preparer(settings, ports),
      writeBack: [writeBack, writeBack.contact].some(takesAnswers) ? writer(settings, api) : keepHere,
      forget: forgetter(settings, api),
      ...actor({ settings, api, pipelines, owners, now: ports.now }),
      writesNoAnswer: writeBack.noAnswer,
      recordNames: recordNames(settings.objects),
      recordUrl: (id) => recordUrl(settings.portalId, id),
      surveyQuestions: Object.keys(writeBack.answers),
    };
  },
});
