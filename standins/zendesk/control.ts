import { z } from 'zod';
import { controlRoute, createControlSurface } from '../kit/control.ts';
import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import { vendorOrders } from '../kit/vendor-standin.ts';
import * as define from './definitions.ts';
import type { ZendeskTickets } from './tickets.ts';

const nothing = z.unknown();

/** The control surface over HTTP, a mirror of the stand-in's methods. GET `/_control/` lists it. */
export function createZendeskControl(standin: ZendeskTickets): (req: StandinRequest) => Promise<StandinResponse> {
  return createControlSurface([
    controlRoute('POST', 'users', define.userDefinition, (input) => standin.addUser(input)),
    controlRoute('GET', 'users/{id:\\d+}', define.userName, ({ id }) => standin.user(id)),
    controlRoute('PATCH', 'users/{id:\\d+}', define.userChange, (input) => standin.changeUser(input)),
    controlRoute('POST', 'groups', define.groupDefinition, (input) => standin.addGroup(input)),
    controlRoute('POST', 'organizations', define.organizationDefinition, (input) => standin.addOrganization(input)),
    controlRoute('POST', 'user-fields', define.keyedField, (input) => standin.addUserField(input)),
    controlRoute('POST', 'custom-objects', define.customObject, (input) => standin.addCustomObject(input)),
    controlRoute('GET', 'custom-objects/{key:[\\w-]+}/records', define.objectName, ({ key }) =>
      standin.objectRecords(key),
    ),
    controlRoute('POST', 'triggers', define.rule, (input) => standin.addTrigger(input)),
    controlRoute('POST', 'automations', define.rule, (input) => standin.addAutomation(input)),
    controlRoute('POST', 'ticket-fields', define.fieldDefinition, (input) => standin.addTicketField(input)),
    controlRoute('GET', 'tickets', nothing, () => standin.tickets()),
    controlRoute('POST', 'tickets', define.ticketDefinition, (input) => ({ id: standin.addTicket(input).id })),
    controlRoute('GET', 'tickets/{id:\\d+}', define.ticketName, ({ id }) => standin.ticket(id)),
    controlRoute('POST', 'tickets/{id:\\d+}/solve', define.ticketAction, ({ id, actorId }) =>
      standin.solve(id, actorId),
    ),
    controlRoute('POST', 'tickets/{id:\\d+}/reopen', define.ticketAction, ({ id, actorId }) =>
      standin.reopen(id, actorId),
    ),
    controlRoute('POST', 'tickets/{id:\\d+}/rate', define.ratingAction, (input) => standin.rate(input)),
    controlRoute('POST', 'tickets/{id:\\d+}/close', define.ticketAction, ({ id }) => standin.close(id)),
    controlRoute('POST', 'tickets/{id:\\d+}/status', define.statusAction, (input) => standin.setStatus(input)),
    controlRoute('POST', 'tickets/{id:\\d+}/comment', define.commentAction, (input) => standin.comment(input)),
    controlRoute('POST', 'tickets/{id:\\d+}/tags', define.tagAction, (input) => standin.setTags(input)),
    controlRoute('POST', 'tickets/{id:\\d+}/field', define.fieldAction, (input) => standin.setField(input)),
    controlRoute('POST', 'tickets/{id:\\d+}/merge', define.mergeAction, (input) => standin.merge(input)),
    controlRoute('POST', 'tickets/{id:\\d+}/delete', define.ticketAction, ({ id, actorId }) =>
      standin.deleteTicket(id, actorId),
    ),
    controlRoute('POST', 'tickets/{id:\\d+}/spam', define.ticketAction, ({ id, actorId }) =>
      standin.markAsSpam(id, actorId),
    ),
    controlRoute('POST', 'tickets/{id:\\d+}/restore', define.ticketAction, ({ id, actorId }) =>
      standin.restore(id, actorId),
    ),
    controlRoute('POST', 'tickets/{id:\\d+}/follow-up', define.ticketName, ({ id }) => ({
      id: standin.followUp(id).id,
    })),
    controlRoute('POST', 'tickets/{id:\\d+}/custom-status', define.customStatusAction, (input) =>
      standin.setCustomStatus(input),
    ),
    controlRoute('POST', 'brands', define.named, (input) => ({ id: standin.addBrand(input) })),
    controlRoute('POST', 'forms', define.named, (input) => ({ id: standin.addForm(input) })),
    controlRoute('POST', 'custom-statuses', define.customStatus, (input) => ({ id: standin.addCustomStatus(input) })),
    controlRoute('PUT', 'webhook', define.webhookTarget, (input) => standin.setWebhook(input)),
    controlRoute('POST', 'webhooks', define.webhookTarget, (input) => standin.addWebhook(input)),
    controlRoute('DELETE', 'webhook', nothing, () => standin.removeWebhooks()),
    controlRoute('POST', 'deliveries', define.delivery, (input) => standin.fireWebhook(input)),
    controlRoute('PATCH', 'settings', define.settingsChange, (input) => standin.changeSettings(input)),
    controlRoute('DELETE', 'tokens', nothing, () => standin.revokeTokens()),
    controlRoute('POST', 'idle', nothing, () => standin.idle()),
    ...vendorOrders(standin),
  ]);
}
