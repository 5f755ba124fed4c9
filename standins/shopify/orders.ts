import { randomUUID } from 'node:crypto';
import { ControlError, type Given } from '../kit/control.ts';
import type { DeliveryResult } from '../kit/webhook-sender.ts';
import { ShopifyAccount } from './account.ts';
import * as define from './definitions.ts';
import { type Customer, fulfillmentStatusOf, type Order } from './definitions.ts';
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
export class ShopifyOrders extends ShopifyAccount {
  addCustomer(given: Given<typeof define.customerDefinition> = {}): Customer {
    return this.store.addCustomer(define.customerDefinition.parse(given));
  }

  customer(id: string): Customer {
    const found = this.store.customers.get(id);
    if (found === undefined) throw new ControlError(`there is no customer ${id}`);
    return structuredClone(found);
  }

  addLocation(given: Given<typeof define.locationDefinition>): { id: string; name: string } {
    const { id = this.store.nextId(), name } = define.locationDefinition.parse(given);
    this.store.locations.set(id, name);
    return { id, name };
  }

  addOrder(given: Given<typeof define.orderDefinition> = {}): Order {
    return this.store.addOrder(define.orderDefinition.parse(given), this.now());
  }

  addLine(given: Given<typeof define.addingLine>): Promise<DeliveryResult[]> {
    return this.notify(this.store.addLine(define.addingLine.parse(given), this.now()));
  }

  /** Hands a parcel to a carrier: all that is left of an order, or some lines of it. */
  fulfil(given: Given<typeof define.fulfilling>): Promise<DeliveryResult[]> {
    return this.notify(this.store.fulfil(define.fulfilling.parse(given), this.now()));
  }

  /** What the carrier tells of a parcel. */
  parcelNews(given: Given<typeof define.parcelNews>): Promise<DeliveryResult[]> {
    return this.notify(this.store.parcelNews(define.parcelNews.parse(given), this.now()));
  }

  deliver(id: string, parcel?: number): Promise<DeliveryResult[]> {
    return this.parcelNews({ id, status: 'delivered', ...(parcel !== undefined && { parcel }) });
  }

  cancelParcel(given: Given<typeof define.parcelName>): Promise<DeliveryResult[]> {
    return this.notify(this.store.cancelParcel(define.parcelName.parse(given), this.now()));
  }

  pay(given: Given<typeof define.orderName>): Promise<DeliveryResult[]> {
    return this.notify(this.store.pay(define.orderName.parse(given), this.now()));
  }

  refund(given: Given<typeof define.refunding>): Promise<DeliveryResult[]> {
    return this.notify(this.store.refund(define.refunding.parse(given), this.now()));
  }

  cancel(given: Given<typeof define.orderName>): Promise<DeliveryResult[]> {
    return this.notify(this.store.cancel(define.orderName.parse(given), this.now()));
  }

  remove(given: Given<typeof define.orderName>): Promise<DeliveryResult[]> {
    return this.notify(this.store.remove(define.orderName.parse(given)));
  }

  change(given: Given<typeof define.orderChange>): Promise<DeliveryResult[]> {
    return this.notify(this.store.change(define.orderChange.parse(given), this.now()));
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

  orders(): string[] {
    return [...this.store.orders.keys()];
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
