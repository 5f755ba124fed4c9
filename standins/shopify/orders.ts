import { randomUUID } from 'node:crypto';
import { ControlError, type Given, held } from '../kit/control.ts';
import type { DeliveryResult } from '../kit/webhook-sender.ts';
import { ShopifyAccount } from './account.ts';
import * as define from './definitions.ts';
import { type Customer, fulfillmentStatusOf, type Order, type Parcel } from './definitions.ts';
import { payloadOf } from './payloads.ts';
import type { Occurrence } from './store.ts';

/** Everything about one order, for a test to look at. */
interface OrderReport {
  id: string;
  name: string;
  tags: string[];
  note: string | null;
  payment: string;
  fulfillment: string;
  /** `$app.feedback_grade` → value: our app's own by that name, others by theirs. */
  metafields: Record<string, string>;
  parcels: { id: string; status: string; shipmentStatus: string | null }[];
}

/** What a merchant, a customer or a carrier does with orders, each told to the webhooks. */
export abstract class ShopifyOrders extends ShopifyAccount {
  addCustomer(given: Given<typeof define.customerDefinition> = {}): Customer {
    return this.store.addCustomer(define.customerDefinition.parse(given));
  }

  customer(id: string): Customer {
    return structuredClone(held(this.store.customers, id, 'customer'));
  }

  addLocation(given: Given<typeof define.locationDefinition>): { id: string; name: string } {
    const { id = this.store.nextId(), name } = define.locationDefinition.parse(given);
    this.store.locations.set(id, name);
    return { id, name };
  }

  addOrder(given: Given<typeof define.orderDefinition> = {}): Order {
    return this.store.addOrder(define.orderDefinition.parse(given), this.now());
  }

  /** Hands a parcel to a carrier: all that is left of an order, or some lines of it. */
  fulfil(given: Given<typeof define.fulfilling>): Promise<DeliveryResult[]> {
    const { id, lines, locationId: from, shipmentStatus } = define.fulfilling.parse(given);
    const order = this.store.order(id);
    if (order.cancelledAt !== null) throw new ControlError('a cancelled order is not handed over');
    const sent = new Set(order.parcels.filter(({ status }) => status === 'success').flatMap(({ lineIds }) => lineIds));
    const open = order.lines.filter((line) => !sent.has(line.id) && line.currentQuantity > 0);
    const chosen = lines?.map((at) => order.lines[at]) ?? open;
    const lineIds = chosen.flatMap((line) => (line !== undefined && open.includes(line) ? [line.id] : []));
    if (lineIds.length === 0) throw new ControlError('there is nothing left to hand over');
    const locationId = from ?? order.locationId;
    const now = this.now();
    const parcel: Parcel = {
      id: this.store.nextId(),
      name: `#${order.number}.${order.parcels.length + 1}`,
      status: 'success',
      shipmentStatus,
      lineIds,
      ...(locationId !== undefined && { locationId }),
      createdAt: now,
      updatedAt: now,
      deliveredAt: null,
    };
    order.parcels.push(parcel);
    const complete = fulfillmentStatusOf(order) === 'FULFILLED';
    return this.notify([
      { topic: 'fulfillments/create', order, parcel },
      ...this.store.touched(order, now, complete ? 'orders/fulfilled' : 'orders/partially_fulfilled'),
    ]);
  }

  /** What the carrier tells of a parcel. Nobody promises that the order counts as changed by that. */
  parcelNews(given: Given<typeof define.parcelNews>): Promise<DeliveryResult[]> {
    const { id, parcel: at, status } = define.parcelNews.parse(given);
    const order = this.store.order(id);
    const parcel = parcelOf(order, at);
    if (parcel.status !== 'success') throw new ControlError('the parcel was cancelled');
    parcel.shipmentStatus = status;
    parcel.updatedAt = this.now();
    if (status === 'delivered') parcel.deliveredAt = parcel.updatedAt;
    return this.notify([
      { topic: 'fulfillment_events/create', order, parcel },
      { topic: 'fulfillments/update', order, parcel },
    ]);
  }

  deliver(id: string, parcel?: number): Promise<DeliveryResult[]> {
    return this.parcelNews({ id, status: 'delivered', ...(parcel !== undefined && { parcel }) });
  }

  cancelParcel(given: Given<typeof define.parcelName>): Promise<DeliveryResult[]> {
    const { id, parcel: at } = define.parcelName.parse(given);
    const order = this.store.order(id);
    const parcel = parcelOf(order, at);
    parcel.status = 'cancelled';
    parcel.updatedAt = this.now();
    return this.notify([{ topic: 'fulfillments/update', order, parcel }, ...this.store.touched(order, this.now())]);
  }

  refund(given: Given<typeof define.refunding>): Promise<DeliveryResult[]> {
    const { id, lines } = define.refunding.parse(given);
    const order = this.store.order(id);
    const back = lines === undefined ? order.lines : lines.flatMap((at) => order.lines[at] ?? []);
    for (const line of back) line.currentQuantity = 0;
    const all = order.lines.every(({ currentQuantity }) => currentQuantity === 0);
    order.payment = all ? 'refunded' : 'partially_refunded';
    this.store.transact(order, 'REFUND', this.now());
    return this.notify(this.store.touched(order, this.now(), 'refunds/create'));
  }

  cancel(given: Given<typeof define.orderName>): Promise<DeliveryResult[]> {
    const order = this.store.order(define.orderName.parse(given).id);
    if (order.cancelledAt !== null) throw new ControlError('it is cancelled already');
    order.cancelledAt = this.now();
    return this.notify(this.store.touched(order, this.now(), 'orders/cancelled'));
  }

  change(given: Given<typeof define.orderChange>): Promise<DeliveryResult[]> {
    const { id, ...rest } = define.orderChange.parse(given);
    const order = this.store.order(id);
    this.store.knownCustomer(rest.customerId);
    return this.notify(this.store.touched(Object.assign(order, rest), this.now()));
  }

  order(id: string): OrderReport {
    const order = this.store.order(id);
    const own = this.store.namespaceOf('$app');
    return {
      id: order.id,
      name: `#${order.number}`,
      tags: order.tags,
      note: order.note,
      payment: order.payment,
      fulfillment: fulfillmentStatusOf(order),
      metafields: Object.fromEntries(
        [...order.metafields.values()].map(({ namespace, key, value }) => [
          `${namespace === own ? '$app' : namespace}.${key}`,
          value,
        ]),
      ),
      parcels: order.parcels.map(({ id, status, shipmentStatus }) => ({ id, status, shipmentStatus })),
    };
  }

  /** What one action causes shares an event. */
  protected async notify(occurrences: readonly Occurrence[]): Promise<DeliveryResult[]> {
    const eventId = randomUUID();
    const results = occurrences.map(({ topic, order, parcel }) =>
      order === undefined
        ? []
        : this.webhooks.announce(this.store.subscriptions, topic, payloadOf(topic, order, parcel, this.store), eventId),
    );
    return (await Promise.all(results)).flat();
  }
}

function parcelOf(order: Order, at = -1): Parcel {
  const parcel = order.parcels.at(at);
  if (parcel === undefined) throw new ControlError('there is no such parcel');
  return parcel;
}
