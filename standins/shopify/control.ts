import { z } from 'zod';
import { command, createControlSurface, nothing, soon } from '../kit/control.ts';
import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import { vendorCommands } from '../kit/vendor-standin.ts';
import * as define from './definitions.ts';
import type { ShopifyOrders } from './orders.ts';

const one = 'orders/{id:\\d+}';

/** The control surface over HTTP, a mirror of the stand-in's methods. GET `/_control/` lists it. */
export function createShopifyControl(standin: ShopifyOrders): (req: StandinRequest) => Promise<StandinResponse> {
  return createControlSurface([
    command('POST', 'customers', define.customerDefinition, (input) => ({ id: standin.addCustomer(input).id })),
    command('POST', 'locations', define.locationDefinition, (input) => standin.addLocation(input)),
    command('POST', 'orders', define.orderDefinition, (input) => ({ id: standin.addOrder(input).id })),
    command('GET', 'orders', nothing, () => standin.orders()),
    command('GET', one, define.orderName, ({ id }) => standin.order(id)),
    command('PATCH', one, define.orderChange, (input) => soon(standin.change(input))),
    command('DELETE', one, define.orderName, (input) => soon(standin.remove(input))),
    command('POST', `${one}/lines`, define.addingLine, (input) => soon(standin.addLine(input))),
    command('POST', `${one}/fulfil`, define.fulfilling, (input) => soon(standin.fulfil(input))),
    command('POST', `${one}/parcel`, define.parcelNews, (input) => soon(standin.parcelNews(input))),
    command('POST', `${one}/cancel-parcel`, define.parcelName, (input) => soon(standin.cancelParcel(input))),
    command('POST', `${one}/pay`, define.orderName, (input) => soon(standin.pay(input))),
    command('POST', `${one}/refund`, define.refunding, (input) => soon(standin.refund(input))),
    command('POST', `${one}/cancel`, define.orderName, (input) => soon(standin.cancel(input))),
    command('POST', 'definitions', define.metafieldDefinition, (input) => ({
      id: standin.addDefinition(input).id,
    })),
    command('GET', 'definitions', nothing, () => standin.definitions()),
    command('POST', 'subscriptions', define.subscriptionDefinition, (input) => standin.addSubscription(input)),
    command('GET', 'subscriptions', nothing, () => standin.subscriptions()),
    command('DELETE', 'subscriptions', define.subscriptionRemoval, (input) => standin.removeSubscriptions(input)),
    command('PUT', 'compliance', define.complianceTarget, (input) => standin.setCompliance(input)),
    command('POST', 'data-request', define.privacyRequest, (input) => soon(standin.requestData(input))),
    command('POST', 'redact-customer', define.privacyRequest, (input) => soon(standin.redactCustomer(input))),
    command('POST', 'redact-shop', nothing, () => soon(standin.redactShop())),
    command('POST', 'uninstall', nothing, () => soon(standin.uninstall())),
    command('PUT', 'scopes', z.strictObject({ scopes: z.array(z.string()) }), ({ scopes }) =>
      soon(standin.changeScopes(scopes)),
    ),
    command('POST', 'deliveries', define.delivery, (input) => soon(standin.fireWebhook(input))),
    command('GET', 'points', nothing, () => standin.points()),
    command('DELETE', 'points', nothing, () => standin.drainPoints()),
    command('PATCH', 'settings', define.settingsChange, (input) => standin.changeSettings(input)),
    command('POST', 'idle', nothing, () => soon(standin.idle())),
    ...vendorCommands(standin),
  ]);
}
