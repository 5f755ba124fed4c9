import type { z } from 'zod';
import { ControlError, held } from '../kit/control.ts';
import type * as define from './definitions.ts';
import type { Customer, Definition, Line, Order, Parcel, Subscription } from './definitions.ts';

type Given<Schema extends z.ZodType> = z.output<Schema>;

/** A thing that happened, to be told to the webhooks of its topic. */
export interface Occurrence {
  /** `orders/fulfilled` */
  topic: string;
  order?: Order;
  parcel?: Parcel;
}

/** Everything one shop holds. */
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
    return held(this.orders, id, 'order');
  }

  addCustomer({ id = this.nextId(), ...rest }: Given<typeof define.customerDefinition>): Customer {
    const customer: Customer = { id, ...rest };
    this.customers.set(id, customer);
    return customer;
  }

  addOrder(given: Given<typeof define.orderDefinition>, now: number): Order {
    const { id = this.nextId(), customerId, lines, createdAt = now, ...rest } = given;
    if (this.orders.has(id)) throw new ControlError(`there is an order ${id} already`);
    this.knownCustomer(customerId);
    if (rest.locationId !== undefined) held(this.locations, rest.locationId, 'location');
    this.#lastNumber += 1;
    const order: Order = {
      ...rest,
      id,
      number: this.#lastNumber,
      createdAt,
      updatedAt: createdAt,
      cancelledAt: null,
      ...(customerId !== undefined && { customerId }),
      lines: lines.map((line) => this.line(line)),
      parcels: [],
      transactions: [],
      metafields: new Map(),
    };
    this.orders.set(id, order);
    if (order.payment === 'paid') this.transact(order, 'SALE', createdAt);
    if (order.payment === 'authorized') this.transact(order, 'AUTHORIZATION', createdAt);
    return order;
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

  /** Dates a change, by our own writes or a merchant's. @param topic besides `orders/updated` */
  touched(order: Order, now: number, topic?: string): Occurrence[] {
    order.updatedAt = now;
    return [...(topic === undefined ? [] : [{ topic, order }]), { topic: 'orders/updated', order }];
  }

  /** @throws ControlError unless there is such a customer, or none is named */
  knownCustomer(id: string | undefined): void {
    if (id !== undefined) held(this.customers, id, 'customer');
  }

  transact(order: Order, kind: Order['transactions'][number]['kind'], at: number): void {
    order.transactions.push({ id: this.nextId(), kind, status: 'SUCCESS', at });
  }

  line({ id = this.nextId(), quantity, ...rest }: Given<typeof define.lineDefinition>): Line {
    return { ...rest, id, quantity, currentQuantity: quantity };
  }
}
