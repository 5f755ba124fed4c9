import { z } from 'zod';
import { controlRoute, createControlSurface, soon } from '../kit/control.ts';
import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import { vendorOrders } from '../kit/vendor-standin.ts';
import * as define from './definitions.ts';
import type { HubspotRecords } from './records.ts';

const nothing = z.unknown();
const one = '{type:tickets|deals|contacts}/{id:\\d+}';

/** The control surface over HTTP, a mirror of the stand-in's methods. GET `/_control/` lists it. */
export function createHubspotControl(standin: HubspotRecords): (req: StandinRequest) => Promise<StandinResponse> {
  return createControlSurface([
    controlRoute('POST', 'tickets', define.recordDefinition, (input) => ({ id: standin.addTicket(input).id })),
    controlRoute('POST', 'deals', define.recordDefinition, (input) => ({ id: standin.addDeal(input).id })),
    controlRoute('POST', 'contacts', define.recordDefinition, (input) => ({ id: standin.addContact(input).id })),
    controlRoute('POST', 'owners', define.ownerDefinition, (input) => standin.addOwner(input)),
    controlRoute('POST', 'pipelines', define.pipelineDefinition, (input) => standin.addPipeline(input)),
    controlRoute('POST', 'properties', define.propertyDefinition, (input) => standin.addProperty(input)),
    controlRoute('POST', 'properties/archive', define.propertyName, (input) => standin.archiveProperty(input)),
    controlRoute('POST', 'labels', define.labelDefinition, (input) => standin.addLabel(input)),
    controlRoute('POST', 'feedback', define.feedbackSubmission, (input) => standin.addFeedback(input)),
    controlRoute('GET', 'webhook', nothing, () => standin.webhook),
    controlRoute('GET', 'records', nothing, () => standin.records()),
    controlRoute('GET', one, define.recordName, ({ type, id }) => standin.record(type, id)),
    controlRoute('PATCH', one, define.recordChange, (input) => soon(standin.change(input))),
    controlRoute('POST', `${one}/stage`, define.stageChange, (input) => soon(standin.setStage(input))),
    controlRoute('POST', `${one}/close`, define.recordName, ({ type, id }) => soon(standin.close(id, type))),
    controlRoute('POST', `${one}/reopen`, define.recordName, ({ type, id }) => soon(standin.reopen(id, type))),
    controlRoute('POST', `${one}/delete`, define.recordAction, (input) => soon(standin.deleteRecord(input))),
    controlRoute('POST', `${one}/restore`, define.recordAction, (input) => soon(standin.restore(input))),
    controlRoute('POST', `${one}/privacy-delete`, define.recordName, ({ id }) => soon(standin.privacyDelete(id))),
    controlRoute('POST', `${one}/associate`, define.associationChange, (input) => soon(standin.associate(input))),
    controlRoute('GET', `${one}/notes`, define.recordName, ({ type, id }) => standin.notesOn(type, id)),
    controlRoute('POST', 'oauth/revoke', nothing, () => standin.oauth.revoke()),
    controlRoute('POST', 'oauth/end-access', nothing, () => standin.oauth.endAccess()),
    controlRoute('POST', 'close-all', define.massChange, (input) => soon(standin.closeAll(input))),
    controlRoute('POST', 'merge', define.mergeAction, async (input) => {
      const { id, deliveries } = standin.merge(input);
      return { id, deliveries: await soon(deliveries) };
    }),
    controlRoute('PUT', 'webhook', define.webhookTarget, (input) => standin.setWebhook(input)),
    controlRoute('DELETE', 'webhook', nothing, () => standin.removeWebhook()),
    controlRoute('POST', 'deliveries', define.delivery, (input) => soon(standin.fireWebhook(input))),
    controlRoute('PATCH', 'settings', define.settingsChange, (input) => standin.changeSettings(input)),
    controlRoute('POST', 'idle', nothing, () => soon(standin.idle())),
    ...vendorOrders(standin),
  ]);
}
