import { command, createControlSurface, nothing } from '../kit/control.ts';
import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import { vendorCommands } from '../kit/vendor-standin.ts';
import * as define from './definitions.ts';
import type { ZendeskTickets } from './tickets.ts';

/** The control surface over HTTP, a mirror of the stand-in's methods. GET `/_control/` lists it. */
export function createZendeskControl(standin: ZendeskTickets): (req: StandinRequest) => Promise<StandinResponse> {
  return createControlSurface([
    command('POST', 'users', define.userDefinition, (input) => standin.addUser(input)),
    command('GET', 'users/{id:\\d+}', define.userName, ({ id }) => standin.user(id)),
    command('PATCH', 'users/{id:\\d+}', define.userChange, (input) => standin.changeUser(input)),
    command('POST', 'users/{id:\\d+}/merge', define.userMerge, (input) => standin.mergeUser(input)),
    command('POST', 'groups', define.groupDefinition, (input) => standin.addGroup(input)),
    command('POST', 'organizations', define.organizationDefinition, (input) => standin.addOrganization(input)),
    command('POST', 'user-fields', define.keyedField, (input) => standin.addUserField(input)),
    command('POST', 'custom-objects', define.customObject, (input) => standin.addCustomObject(input)),
    command('GET', 'custom-objects/{key:[\\w-]+}/records', define.objectName, ({ key }) => standin.objectRecords(key)),
    command('POST', 'triggers', define.rule, (input) => standin.addTrigger(input)),
    command('POST', 'automations', define.rule, (input) => standin.addAutomation(input)),
    command('POST', 'ticket-fields', define.fieldDefinition, (input) => standin.addTicketField(input)),
    command('GET', 'tickets', nothing, () => standin.tickets()),
    command('POST', 'tickets', define.ticketDefinition, (input) => ({ id: standin.addTicket(input).id })),
    command('GET', 'tickets/{id:\\d+}', define.ticketName, ({ id }) => standin.ticket(id)),
    command('POST', 'tickets/{id:\\d+}/solve', define.ticketAction, ({ id, actorId }) => standin.solve(id, actorId)),
    command('POST', 'tickets/{id:\\d+}/reopen', define.ticketAction, ({ id, actorId }) => standin.reopen(id, actorId)),
    command('POST', 'tickets/{id:\\d+}/rate', define.ratingAction, (input) => standin.rate(input)),
    command('POST', 'tickets/{id:\\d+}/close', define.ticketAction, ({ id }) => standin.close(id)),
    command('POST', 'tickets/{id:\\d+}/status', define.statusAction, (input) => standin.setStatus(input)),
    command('POST', 'tickets/{id:\\d+}/comment', define.commentAction, (input) => standin.comment(input)),
    command('POST', 'tickets/{id:\\d+}/edit', define.ticketEdit, (input) => standin.edit(input)),
    command('POST', 'tickets/{id:\\d+}/tags', define.tagAction, (input) => standin.setTags(input)),
    command('POST', 'tickets/{id:\\d+}/field', define.fieldAction, (input) => standin.setField(input)),
    command('POST', 'tickets/{id:\\d+}/merge', define.mergeAction, (input) => standin.merge(input)),
    command('POST', 'tickets/{id:\\d+}/delete', define.ticketAction, ({ id, actorId }) =>
      standin.deleteTicket(id, actorId),
    ),
    command('POST', 'tickets/{id:\\d+}/spam', define.ticketAction, ({ id, actorId }) =>
      standin.markAsSpam(id, actorId),
    ),
    command('POST', 'tickets/{id:\\d+}/restore', define.ticketAction, ({ id, actorId }) =>
      standin.restore(id, actorId),
    ),
    command('POST', 'tickets/{id:\\d+}/follow-up', define.ticketName, ({ id }) => ({
      id: standin.followUp(id).id,
    })),
    command('POST', 'tickets/{id:\\d+}/custom-status', define.customStatusAction, (input) =>
      standin.setCustomStatus(input),
    ),
    command('POST', 'brands', define.named, (input) => ({ id: standin.addBrand(input) })),
    command('POST', 'forms', define.named, (input) => ({ id: standin.addForm(input) })),
    command('POST', 'custom-statuses', define.customStatus, (input) => ({ id: standin.addCustomStatus(input) })),
    command('PUT', 'webhook', define.webhookTarget, (input) => standin.setWebhook(input)),
    command('POST', 'webhooks', define.webhookTarget, (input) => standin.addWebhook(input)),
    command('DELETE', 'webhook', nothing, () => standin.removeWebhooks()),
    command('POST', 'deliveries', define.delivery, (input) => standin.fireWebhook(input)),
    command('PATCH', 'settings', define.settingsChange, (input) => standin.changeSettings(input)),
    command('DELETE', 'tokens', nothing, () => standin.revokeTokens()),
    command('POST', 'idle', nothing, () => standin.idle()),
    ...vendorCommands(standin),
  ]);
}
