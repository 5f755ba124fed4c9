import { command, createControlSurface, nothing } from '../kit/control.ts';
import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import { vendorCommands } from '../kit/vendor-standin.ts';
import * as define from './definitions.ts';
import type { WooCommerceOrders } from './orders.ts';

const one = 'orders/{id:\\d+}';

/** The control surface over HTTP, a mirror of the stand-in's methods. GET `/_control/` lists it. */
export function createWooCommerceControl(
  standin: WooCommerceOrders,
): (req: StandinRequest) => Promise<StandinResponse> {
  return createControlSurface([
    command('POST', 'orders', define.orderDefinition, (input) => ({ id: standin.addOrder(input).id })),
    command('GET', 'orders', nothing, () => standin.orders()),
    command('GET', one, define.orderName, ({ id }) => standin.order(id)),
    command('PATCH', one, define.orderChange, (input) => standin.change(input)),
    command('POST', `${one}/status`, define.statusChange, (input) => standin.setStatus(input)),
    command('POST', `${one}/complete`, define.orderName, ({ id }) => standin.complete(id)),
    command('POST', `${one}/reopen`, define.orderName, ({ id }) => standin.reopen(id)),
    command('POST', `${one}/refund`, define.refundAction, (input) => standin.refund(input)),
    command('POST', `${one}/trash`, define.orderName, ({ id }) => standin.trash(id)),
    command('POST', `${one}/restore`, define.orderName, ({ id }) => standin.restore(id)),
    command('POST', `${one}/delete`, define.orderName, ({ id }) => standin.remove(id)),
    command('POST', `${one}/meta`, define.metaChange, (input) => standin.setMeta(input)),
    command('POST', 'complete-all', define.massChange, (input) => standin.completeAll(input)),
    command('POST', 'statuses', define.statusDefinition, ({ status }) => standin.addStatus(status)),
    command('POST', 'keys', define.keyDefinition, (input) => standin.addKey(input)),
    command('POST', 'webhooks', define.webhookDefinition, (input) => standin.addWebhook(input)),
    command('GET', 'webhooks', nothing, () => standin.webhooks()),
    command('PATCH', 'webhooks/{id:\\d+}', define.webhookChange, (input) => standin.changeWebhook(input)),
    command('DELETE', 'webhooks', nothing, () => standin.removeWebhooks()),
    command('PATCH', 'settings', define.settingsChange, (input) => standin.changeSettings(input)),
    command('POST', 'idle', nothing, () => standin.idle()),
    ...vendorCommands(standin),
  ]);
}
