import { command, createControlSurface, nothing, soon } from '../kit/control.ts';
import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import { vendorCommands } from '../kit/vendor-standin.ts';
import type { FreshdeskAccount } from './account.ts';
import * as define from './definitions.ts';

const one = 'tickets/{id:\\d+}';

/** The control surface over HTTP, a mirror of the stand-in's methods. GET `/_control/` lists it. */
export function createFreshdeskControl(standin: FreshdeskAccount): (req: StandinRequest) => Promise<StandinResponse> {
  return createControlSurface([
    command('POST', 'contacts', define.contactDefinition, (input) => standin.addContact(input)),
    command('PATCH', 'contacts/{id:\\d+}', define.contactChange, (input) => standin.changeContact(input)),
    command('POST', 'agents', define.agentDefinition, (input) => standin.addAgent(input)),
    command('PATCH', 'agents/{id:\\d+}', define.agentChange, (input) => standin.changeAgent(input)),
    command('POST', 'groups', define.groupDefinition, (input) => standin.addGroup(input)),
    command('POST', 'fields', define.fieldDefinition, (input) => standin.addField(input)),
    command('DELETE', 'fields/{name}', define.fieldName, (input) => standin.removeField(input)),
    command('POST', 'tickets', define.ticketDefinition, (input) => standin.addTicket(input)),
    command('GET', 'tickets', nothing, () => [...standin.tickets.values()].map(({ id, status }) => ({ id, status }))),
    command('GET', one, define.ticketName, ({ id }) => standin.ticket(id)),
    command('PATCH', one, define.ticketChange, (input) => standin.changeTicket(input)),
    command('DELETE', one, define.ticketName, ({ id }) => standin.removeTicket(id)),
    command('POST', `${one}/status`, define.statusChange, (input) => soon(standin.setStatus(input))),
    command('POST', `${one}/resolve`, define.ticketName, ({ id }) => soon(standin.resolve(id))),
    command('POST', `${one}/reopen`, define.ticketName, ({ id }) => soon(standin.reopen(id))),
    command('POST', 'resolve-all', define.massChange, (input) => soon(standin.resolveAll(input))),
    command('POST', 'merge', define.merge, (input) => soon(standin.merge(input))),
    command('POST', 'ratings', define.ratingDefinition, (input) => standin.rate(input)),
    command('POST', 'webhook', define.webhookDefinition, (input) => standin.setWebhook(input)),
    command('GET', 'rules', nothing, () => [...standin.rules.all.values()]),
    command('PATCH', 'rules/{id:\\d+}', define.ruleChange, (input) => standin.changeRule(input)),
    command('POST', 'next-hour', nothing, () => soon(standin.nextHour())),
    command('PATCH', 'settings', define.settingsChange, (input) => standin.changeSettings(input)),
    command('POST', 'idle', nothing, () => standin.idle()),
    ...vendorCommands(standin),
  ]);
}
