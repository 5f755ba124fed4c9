import { z } from 'zod';
import { controlRoute, createControlSurface } from '../kit/control.ts';
import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import { vendorOrders } from '../kit/vendor-standin.ts';
import * as define from './definitions.ts';
import type { WooCommerceOrders } from './orders.ts';

const nothing = z.unknown();
const one = 'orders/{id:\\d+}';

/** The control surface over HTTP, a mirror of the stand-in's methods. GET `/_control/` lists it. */
export function createWooCommerceControl(
  standin: WooCommerceOrders,
): (req: StandinRequest) => Promise<StandinResponse> {
  return createControlSurface([
    controlRoute('POST', 'orders', define.orderDefinition, (input) => ({ id: standin.addOrder(input).id })),
    controlRoute('GET', 'orders', nothing, () => standin.orders()),
    controlRoute('GET', one, define.orderName, ({ id }) => standin.order(id)),
    controlRoute('POST', `${one}/status`, define.statusChange, (input) => standin.setStatus(input)),
    controlRoute('POST', `${one}/complete`, define.orderName, ({ id }) => standin.complete(id)),
    controlRoute('POST', `${one}/reopen`, define.orderName, ({ id }) => standin.reopen(id)),
    controlRoute('POST', `${one}/refund`, define.refundAction, (input) => standin.refund(input)),
    controlRoute('POST', `${one}/trash`, define.orderName, ({ id }) => standin.trash(id)),
    controlRoute('POST', `${one}/restore`, define.orderName, ({ id }) => standin.restore(id)),
    controlRoute('POST', `${one}/delete`, define.orderName, ({ id }) => standin.remove(id)),
    controlRoute('POST', `${one}/meta`, define.metaChange, (input) => standin.setMeta(input)),
    controlRoute('POST', 'complete-all', define.massChange, (input) => standin.completeAll(input)),
    controlRoute('POST', 'statuses', define.statusDefinition, ({ status }) => standin.addStatus(status)),
    controlRoute('POST', 'keys', define.keyDefinition, (input) => standin.addKey(input)),
    controlRoute('POST', 'webhooks', define.webhookDefinition, (input) => standin.addWebhook(input)),
    controlRoute('GET', 'webhooks', nothing, () => standin.webhooks()),
    controlRoute('PATCH', 'webhooks/{id:\\d+}', define.webhookChange, (input) => standin.changeWebhook(input)),
    controlRoute('DELETE', 'webhooks', nothing, () => standin.removeWebhooks()),
    controlRoute('PATCH', 'settings', define.settingsChange, (input) => standin.changeSettings(input)),
    controlRoute('POST', 'idle', nothing, () => standin.idle()),
    ...vendorOrders(standin),
  ]);
}
