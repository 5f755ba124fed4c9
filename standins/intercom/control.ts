import { command, createControlSurface, nothing } from '../kit/control.ts';
import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import { vendorCommands } from '../kit/vendor-standin.ts';
import type { IntercomConversations } from './conversations.ts';
import * as define from './definitions.ts';

const one = 'conversations/{id:\\d+}';

/** The control surface over HTTP, a mirror of the stand-in's methods. GET `/_control/` lists it. */
export function createIntercomControl(
  standin: IntercomConversations,
): (req: StandinRequest) => Promise<StandinResponse> {
  return createControlSurface([
    command('POST', 'contacts', define.contactDefinition, (input) => ({ id: standin.addContact(input).id })),
    command('POST', 'contacts/merge', define.contactMerge, (input) => standin.mergeContact(input)),
    command('PATCH', 'contacts/{id}', define.contactChange, (input) => standin.changeContact(input)),
    command('POST', 'contacts/{id}/delete', define.named, (input) => standin.deleteContact(input)),
    command('POST', 'contacts/{id}/archive', define.named, (input) => standin.archiveContact(input)),
    command('POST', 'conversations', define.conversationDefinition, (input) => ({
      id: standin.addConversation(input).id,
    })),
    command('POST', 'tickets', define.ticketDefinition, (input) => ({ id: standin.addTicket(input).id })),
    command('GET', one, define.named, ({ id }) => standin.conversation(id)),
    command('POST', `${one}/close`, define.act, (input) => standin.close(input)),
    command('POST', `${one}/contact`, define.contactReplacement, (input) => standin.replaceContact(input)),
    command('POST', `${one}/reopen`, define.act, (input) => standin.reopen(input)),
    command('POST', `${one}/reply`, define.named, (input) => standin.reply(input)),
    command('POST', `${one}/snooze`, define.named, (input) => standin.snooze(input)),
    command('POST', `${one}/state`, define.stateChange, (input) => standin.setCategory(input)),
    command('POST', `${one}/merge`, define.contactMerge, (input) => standin.merge(input)),
    command('POST', `${one}/rate`, define.ratingDefinition, (input) => standin.rate(input)),
    command('POST', `${one}/delete`, define.named, (input) => standin.remove(input)),
    command('POST', 'close-all', define.massClose, (input) => standin.closeAll(input)),
    command('POST', 'admins', define.adminDefinition, (input) => standin.addAdmin(input)),
    command('POST', 'admins/{id}/remove', define.named, ({ id }) => standin.removeAdmin(id)),
    command('POST', 'teams', define.teamDefinition, (input) => standin.addTeam(input)),
    command('POST', 'attributes', define.attributeDefinition, (input) => standin.addAttribute(input)),
    command('DELETE', 'attributes', nothing, () => standin.removeAttributes()),
    command('PUT', 'webhook', define.webhookDefinition, (input) => standin.saveWebhook(input)),
    command('GET', 'webhook', nothing, () => standin.webhook()),
    command('DELETE', 'webhook', nothing, () => standin.removeWebhook()),
    command('POST', 'ping', nothing, () => standin.ping()),
    command('PATCH', 'settings', define.settingsChange, (input) => standin.changeSettings(input)),
    command('POST', 'idle', nothing, () => standin.idle()),
    ...vendorCommands(standin),
  ]);
}
