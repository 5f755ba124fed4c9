import { z } from 'zod';
import { controlRoute, createControlSurface, soon } from '../kit/control.ts';
import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import { vendorOrders } from '../kit/vendor-standin.ts';
import * as define from './definitions.ts';
import type { ShopifyOrders } from './orders.ts';

const nothing = z.unknown();
const one = 'orders/{id:\\d+}';

/** The control surface over HTTP, a mirror of the stand-in's methods. GET `/_control/` lists it. */
export function createShopifyControl(standin: ShopifyOrders): (req: StandinRequest) => Promise<StandinResponse> {
  return createControlSurface([
    controlRoute('POST', 'customers', define.customerDefinition, (input) => ({ id: standin.addCustomer(input).id })),
    controlRoute('POST', 'locations', define.locationDefinition, (input) => standin.addLocation(input)),
    controlRoute('POST', 'orders', define.orderDefinition, (input) => ({ id: standin.addOrder(input).id })),
    controlRoute('GET', 'orders', nothing, () => standin.orders()),
    controlRoute('GET', one, define.orderName, ({ id }) => standin.order(id)),
    controlRoute('PATCH', one, define.orderChange, (input) => soon(standin.change(input))),
    controlRoute('DELETE', one, define.orderName, (input) => soon(standin.remove(input))),
    controlRoute('POST', `${one}/lines`, define.addingLine, (input) => soon(standin.addLine(input))),
    controlRoute('POST', `${one}/fulfil`, define.fulfilling, (input) => soon(standin.fulfil(input))),
    controlRoute('POST', `${one}/parcel`, define.parcelNews, (input) => soon(standin.parcelNews(input))),
    controlRoute('POST', `${one}/cancel-parcel`, define.parcelName, (input) => soon(standin.cancelParcel(input))),
    controlRoute('POST', `${one}/pay`, define.orderName, (input) => soon(standin.pay(input))),
    controlRoute('POST', `${one}/refund`, define.refunding, (input) => soon(standin.refund(input))),
    controlRoute('POST', `${one}/cancel`, define.orderName, (input) => soon(standin.cancel(input))),
    controlRoute('POST', 'definitions', define.metafieldDefinition, (input) => ({
      id: standin.addDefinition(input).id,
    })),
    controlRoute('GET', 'definitions', nothing, () => standin.definitions()),
    controlRoute('POST', 'subscriptions', define.subscriptionDefinition, (input) => standin.addSubscription(input)),
    controlRoute('GET', 'subscriptions', nothing, () => standin.subscriptions()),
    controlRoute('DELETE', 'subscriptions', define.subscriptionRemoval, (input) => standin.removeSubscriptions(input)),
    controlRoute('PUT', 'compliance', define.complianceTarget, (input) => standin.setCompliance(input)),
    controlRoute('POST', 'data-request', define.privacyRequest, (input) => soon(standin.requestData(input))),
    controlRoute('POST', 'redact-customer', define.privacyRequest, (input) => soon(standin.redactCustomer(input))),
    controlRoute('POST', 'redact-shop', nothing, () => soon(standin.redactShop())),
    controlRoute('POST', 'uninstall', nothing, () => soon(standin.uninstall())),
    controlRoute('PUT', 'scopes', z.strictObject({ scopes: z.array(z.string()) }), ({ scopes }) =>
      soon(standin.changeScopes(scopes)),
    ),
    controlRoute('POST', 'deliveries', define.delivery, (input) => soon(standin.fireWebhook(input))),
    controlRoute('GET', 'points', nothing, () => standin.points()),
    controlRoute('DELETE', 'points', nothing, () => standin.drainPoints()),
    controlRoute('PATCH', 'settings', define.settingsChange, (input) => standin.changeSettings(input)),
    controlRoute('POST', 'idle', nothing, () => soon(standin.idle())),
    ...vendorOrders(standin),
  ]);
}
