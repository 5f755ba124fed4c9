import { command, createControlSurface, nothing, soon } from '../kit/control.ts';
import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import { vendorCommands } from '../kit/vendor-standin.ts';
import * as define from './definitions.ts';
import type { HubspotRecords } from './records.ts';

const one = '{type:tickets|deals|contacts}/{id:\\d+}';

/** The control surface over HTTP, a mirror of the stand-in's methods. GET `/_control/` lists it. */
export function createHubspotControl(standin: HubspotRecords): (req: StandinRequest) => Promise<StandinResponse> {
  return createControlSurface([
    command('POST', 'tickets', define.recordDefinition, (input) => ({ id: standin.addTicket(input).id })),
    command('POST', 'deals', define.recordDefinition, (input) => ({ id: standin.addDeal(input).id })),
    command('POST', 'contacts', define.recordDefinition, (input) => ({ id: standin.addContact(input).id })),
    command('POST', 'owners', define.ownerDefinition, (input) => standin.addOwner(input)),
    command('POST', 'pipelines', define.pipelineDefinition, (input) => standin.addPipeline(input)),
    command('POST', 'properties', define.propertyDefinition, (input) => standin.addProperty(input)),
    command('POST', 'properties/archive', define.propertyName, (input) => standin.archiveProperty(input)),
    command('POST', 'labels', define.labelDefinition, (input) => standin.addLabel(input)),
    command('POST', 'feedback', define.feedbackSubmission, (input) => standin.addFeedback(input)),
    command('GET', 'webhook', nothing, () => standin.webhook),
    command('GET', 'records', nothing, () => standin.records()),
    command('GET', one, define.recordName, ({ type, id }) => standin.record(type, id)),
    command('PATCH', one, define.recordChange, (input) => soon(standin.change(input))),
    command('POST', `${one}/stage`, define.stageChange, (input) => soon(standin.setStage(input))),
    command('POST', `${one}/close`, define.recordName, ({ type, id }) => soon(standin.close(id, type))),
    command('POST', `${one}/reopen`, define.recordName, ({ type, id }) => soon(standin.reopen(id, type))),
    command('POST', `${one}/delete`, define.recordAction, (input) => soon(standin.deleteRecord(input))),
    command('POST', `${one}/restore`, define.recordAction, (input) => soon(standin.restore(input))),
    command('POST', `${one}/privacy-delete`, define.recordName, ({ id }) => soon(standin.privacyDelete(id))),
    command('POST', `${one}/associate`, define.associationChange, (input) => soon(standin.associate(input))),
    command('GET', `${one}/notes`, define.recordName, ({ type, id }) => standin.notesOn(type, id)),
    command('POST', 'oauth/revoke', nothing, () => standin.oauth.revoke()),
    command('POST', 'oauth/end-access', nothing, () => standin.oauth.endAccess()),
    command('POST', 'close-all', define.massChange, (input) => soon(standin.closeAll(input))),
    command('POST', 'merge', define.mergeAction, async (input) => {
      const { id, deliveries } = standin.merge(input);
      return { id, deliveries: await soon(deliveries) };
    }),
    command('PUT', 'webhook', define.webhookTarget, (input) => standin.setWebhook(input)),
    command('DELETE', 'webhook', nothing, () => standin.removeWebhook()),
    command('POST', 'deliveries', define.delivery, (input) => soon(standin.fireWebhook(input))),
    command('PATCH', 'settings', define.settingsChange, (input) => standin.changeSettings(input)),
    command('POST', 'idle', nothing, () => soon(standin.idle())),
    ...vendorCommands(standin),
  ]);
}
