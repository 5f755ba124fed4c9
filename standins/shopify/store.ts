import type { z } from 'zod';
import { ControlError } from '../kit/control.ts';
import type * as define from './definitions.ts';
import {
  type Customer,
  type Definition,
  fulfillmentStatusOf,
  type Line,
  type Order,
  type Parcel,
  type Subscription,
} from './definitions.ts';

type Given<Schema extends z.ZodType> = z.output<Schema>;

/** A thing that happened, to be told to the webhooks of its topic. */
export interface Occurrence {
  /** `orders/fulfilled` */
  topic: string;
  order?: Order;
  parcel?: Parcel;
}

/** Everything one shop holds, and what a merchant, a customer or a carrier does to it. */
export class Store {
  readonly orders = new Map<string, Order>();
  readonly customers = new Map<string, Customer>();
  readonly locations = new Map<string, string>();
  readonly definitions: Definition[] = [];
  subscriptions: Subscription[] = [];
  complianceUri: string | undefined;
  readonly appNumber = '5801110001';
  #lastId = 5_791_244_910_000n;
  #lastNumber = 1_041;

  /** Of the size of today's ids. */
  nextId(): string {
    this.#lastId += 32_768n;
    return String(this.#lastId);
  }

  /** `$app` and `$app:x` are our app's own. */
  namespaceOf(given: string | null | undefined): string {
    const own = `app--${this.appNumber}`;
    if (given == null || given === '$app') return own;
    return given.startsWith('$app:') ? `${own}--${given.slice(5)}` : given;
  }

  order(id: string): Order {
    const order = this.orders.get(id);
    if (order === undefined) throw new ControlError(`there is no order ${id}`);
    return order;
  }

  addCustomer({ id = this.nextId(), ...rest }: Given<typeof define.customerDefinition>): Customer {
    const customer: Customer = { id, ...rest };
    this.customers.set(id, customer);
    return customer;
  }

  addOrder(given: Given<typeof define.orderDefinition>, now: number): Order {
    const { id = this.nextId(), customerId, lines, createdAt = now, ...rest } = given;
    if (this.orders.has(id)) throw new ControlError(`there is an order ${id} already`);
    this.#knownCustomer(customerId);
    if (rest.locationId !== undefined && !this.locations.has(rest.locationId)) {
      throw new ControlError(`there is no location ${rest.locationId}`);
    }
    this.#lastNumber += 1;
    const order: Order = {
      ...rest,
      id,
      number: this.#lastNumber,
      createdAt,
      updatedAt: createdAt,
      cancelledAt: null,
      ...(customerId !== undefined && { customerId }),
      lines: lines.map((line) => this.#line(line)),
      parcels: [],
      transactions: [],
      metafields: new Map(),
    };
    this.orders.set(id, order);
    if (order.payment === 'paid') this.#transact(order, 'SALE', createdAt);
    if (order.payment === 'authorized') this.#transact(order, 'AUTHORIZATION', createdAt);
    return order;
  }

  addLine({ id, line }: Given<typeof define.addingLine>, now: number): Occurrence[] {
    const order = this.order(id);
    order.lines.push(this.#line(line));
    return this.#touched(order, now, 'orders/edited');
  }

  fulfil(given: Given<typeof define.fulfilling>, now: number): Occurrence[] {
    const order = this.order(given.id);
    if (order.cancelledAt !== null) throw new ControlError('a cancelled order is not handed over');
    const sent = new Set(order.parcels.filter(({ status }) => status === 'success').flatMap(({ lineIds }) => lineIds));
    const open = order.lines.filter((line) => !sent.has(line.id) && line.currentQuantity > 0);
    const chosen = given.lines?.map((at) => order.lines[at]) ?? open;
    const lineIds = chosen.flatMap((line) => (line !== undefined && open.includes(line) ? [line.id] : []));
    if (lineIds.length === 0) throw new ControlError('there is nothing left to hand over');
    const locationId = given.locationId ?? order.locationId;
    const parcel: Parcel = {
      id: this.nextId(),
      name: `#${order.number}.${order.parcels.length + 1}`,
      status: 'success',
      shipmentStatus: given.shipmentStatus,
      lineIds,
      ...(locationId !== undefined && { locationId }),
      createdAt: now,
      updatedAt: now,
      deliveredAt: null,
    };
    order.parcels.push(parcel);
    const complete = fulfillmentStatusOf(order) === 'FULFILLED';
    return [
      { topic: 'fulfillments/create', order, parcel },
      ...this.#touched(order, now, complete ? 'orders/fulfilled' : 'orders/partially_fulfilled'),
    ];
  }

  parcelNews({ id, parcel: at, status }: Given<typeof define.parcelNews>, now: number): Occurrence[] {
    const order = this.order(id);
    const parcel = this.#parcel(order, at);
    if (parcel.status !== 'success') throw new ControlError('the parcel was cancelled');
    parcel.shipmentStatus = status;
    parcel.updatedAt = now;
    if (status === 'delivered') parcel.deliveredAt = now;
    // Nobody promises that the order counts as changed by its carrier's words.
    return [
      { topic: 'fulfillment_events/create', order, parcel },
      { topic: 'fulfillments/update', order, parcel },
    ];
  }

  cancelParcel({ id, parcel: at }: Given<typeof define.parcelName>, now: number): Occurrence[] {
    const order = this.order(id);
    const parcel = this.#parcel(order, at);
    parcel.status = 'cancelled';
    parcel.updatedAt = now;
    return [{ topic: 'fulfillments/update', order, parcel }, ...this.#touched(order, now)];
  }

  pay({ id }: Given<typeof define.orderName>, now: number): Occurrence[] {
    const order = this.order(id);
    if (order.payment === 'paid') throw new ControlError('it is paid already');
    this.#transact(order, order.payment === 'authorized' ? 'CAPTURE' : 'SALE', now);
    order.payment = 'paid';
    return this.#touched(order, now, 'orders/paid');
  }

  refund({ id, lines }: Given<typeof define.refunding>, now: number): Occurrence[] {
    const order = this.order(id);
    const back = lines === undefined ? order.lines : lines.flatMap((at) => order.lines[at] ?? []);
    for (const line of back) line.currentQuantity = 0;
    const all = order.lines.every(({ currentQuantity }) => currentQuantity === 0);
    order.payment = all ? 'refunded' : 'partially_refunded';
    this.#transact(order, 'REFUND', now);
    return this.#touched(order, now, 'refunds/create');
  }

  cancel({ id }: Given<typeof define.orderName>, now: number): Occurrence[] {
    const order = this.order(id);
    if (order.cancelledAt !== null) throw new ControlError('it is cancelled already');
    order.cancelledAt = now;
    return this.#touched(order, now, 'orders/cancelled');
  }

  remove({ id }: Given<typeof define.orderName>): Occurrence[] {
    const order = this.order(id);
    this.orders.delete(id);
    return [{ topic: 'orders/delete', order }];
  }

  change({ id, ...rest }: Given<typeof define.orderChange>, now: number): Occurrence[] {
    const order = this.order(id);
    this.#knownCustomer(rest.customerId);
    Object.assign(order, rest);
    return this.#touched(order, now);
  }

  addDefinition(given: Given<typeof define.metafieldDefinition>): Definition {
    const { namespace, ...rest } = given;
    const definition: Definition = {
      ...rest,
      id: this.nextId(),
      namespace: this.namespaceOf(namespace),
      access: namespace.startsWith('$app') ? 'MERCHANT_READ' : null,
    };
    this.definitions.push(definition);
    return definition;
  }

  addSubscription(given: Given<typeof define.subscriptionDefinition>, now: number): Subscription {
    const subscription: Subscription = { ...given, id: this.nextId(), createdAt: now };
    this.subscriptions.push(subscription);
    return subscription;
  }

  /** By our own writes or a merchant's. */
  touched(order: Order, now: number): Occurrence[] {
    return this.#touched(order, now);
  }

  #knownCustomer(id: string | undefined): void {
    if (id !== undefined && !this.customers.has(id)) throw new ControlError(`there is no customer ${id}`);
  }

  #touched(order: Order, now: number, topic?: string): Occurrence[] {
    order.updatedAt = now;
    return [...(topic === undefined ? [] : [{ topic, order }]), { topic: 'orders/updated', order }];
  }

  #transact(order: Order, kind: Order['transactions'][number]['kind'], at: number): void {
    order.transactions.push({ id: this.nextId(), kind, status: 'SUCCESS', at });
  }

  #line({ id = this.nextId(), quantity, ...rest }: Given<typeof define.lineDefinition>): Line {
    return { ...rest, id, quantity, currentQuantity: quantity };
  }

  #parcel(order: Order, at: number | undefined): Parcel {
    const parcel = order.parcels.at(at ?? -1);
    if (parcel === undefined) throw new ControlError('there is no such parcel');
    return parcel;
  }
}
