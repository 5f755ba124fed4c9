import { ControlError, type Given } from '../kit/control.ts';
import { VendorStandin } from '../kit/vendor-standin.ts';
import type { DeliveryResult, SenderSettings } from '../kit/webhook-sender.ts';
import * as define from './definitions.ts';
import {
  type Order,
  openSettings,
  type Settings,
  type Webhook,
  type WooCommerceStandinOptions,
} from './definitions.ts';
import { Store } from './store.ts';
import { Outbox, wooCommerceRetries } from './webhooks.ts';

/**
 * One shop: what is set up in it (keys, webhooks, plugins' statuses, its surroundings), and what people in the admin, customers and plugins do
 * with orders, each told to the webhooks.
 */
export abstract class WooCommerceShop extends VendorStandin {
  readonly consumerKey: string;
  readonly consumerSecret: string;
  /** The shop's address; set once it is served. */
  site = 'https://laden.example.com';
  protected readonly store = new Store();
  protected readonly settings = openSettings();
  protected readonly outbox: Outbox;

  constructor(options: WooCommerceStandinOptions = {}) {
    super(wooCommerceRetries, options);
    this.consumerKey = options.consumerKey ?? 'ck_standin';
    this.consumerSecret = options.consumerSecret ?? 'cs_standin';
    this.outbox = new Outbox({
      sender: this.sender,
      now: () => this.now(),
      site: () => this.site,
      settings: () => this.settings,
    });
    this.addKey({ key: this.consumerKey, secret: this.consumerSecret });
  }

  /** A plugin registers a status. */
  addStatus(status: string): void {
    this.store.statuses.add(define.statusDefinition.parse({ status }).status);
  }

  addKey(given: Given<typeof define.keyDefinition>): void {
    const key = define.keyDefinition.parse(given);
    this.store.keys.set(key.key, key);
  }

  addWebhook(given: Given<typeof define.webhookDefinition>): Webhook {
    const { url, ...rest } = define.webhookDefinition.parse(given);
    return this.store.addWebhook({ ...rest, deliveryUrl: url }, this.now());
  }

  changeWebhook(given: Given<typeof define.webhookChange>): Webhook {
    const { id, url, ...rest } = define.webhookChange.parse(given);
    return Object.assign(this.store.webhook(id), rest, url === undefined ? {} : { deliveryUrl: url });
  }

  removeWebhooks(): void {
    this.store.webhooks.clear();
  }

  webhooks(): Webhook[] {
    return [...this.store.webhooks.values()];
  }

  changeSettings(given: Given<typeof define.settingsChange>): Settings {
    return Object.assign(this.settings, define.settingsChange.parse(given));
  }

  /** Without `pauseScale`: there is nothing between attempts. */
  override changeSender(given: Given<typeof define.senderChange>): SenderSettings {
    return super.changeSender(define.senderChange.parse(given));
  }

  addOrder(given: Given<typeof define.orderDefinition> = {}): Order {
    const order = this.store.addOrder(define.orderDefinition.parse(given), this.now());
    void this.announce(order, 'order.created');
    return order;
  }

  /** Everything about one order; `values` are its meta data by key. */
  order(id: number): Order & { values: Record<string, unknown> } {
    const order = this.store.order(id);
    return { ...order, values: Object.fromEntries(order.meta.map(({ key, value }) => [key, value])) };
  }

  orders(): { id: number; status: string }[] {
    return [...this.store.orders.values()].map(({ id, status }) => ({ id, status }));
  }

  /** A person in the admin edits whose order it is, and where the customer is reached. */
  async change(given: Given<typeof define.orderChange>): Promise<DeliveryResult[]> {
    const { id, customerId, billing, shipping } = define.orderChange.parse(given);
    const order = this.store.order(id);
    if (customerId !== undefined) order.customerId = customerId;
    order.billing = { ...order.billing, ...billing };
    order.shipping = { ...order.shipping, ...shipping };
    this.store.touch(order, this.now());
    return await this.announce(order, 'order.updated');
  }

  /** As a person in the admin, or a plugin, would. */
  async setStatus(given: Given<typeof define.statusChange>): Promise<DeliveryResult[]> {
    const { id, status } = define.statusChange.parse(given);
    const order = this.store.order(id);
    const isMove = order.status !== status;
    this.store.enter(order, status, this.now());
    const actions = isMove ? [`action.woocommerce_order_status_${status}`] : [];
    return await this.announce(order, 'order.updated', ...actions);
  }

  complete(id: number): Promise<DeliveryResult[]> {
    return this.setStatus({ id, status: 'completed' });
  }

  reopen(id: number): Promise<DeliveryResult[]> {
    return this.setStatus({ id, status: 'processing' });
  }

  async completeAll(given: Given<typeof define.massChange>): Promise<DeliveryResult[]> {
    const { ids, status } = define.massChange.parse(given);
    return (await Promise.all(ids.map((id) => this.setStatus({ id, status })))).flat();
  }

  /** A refund saves the order as well; one of everything makes it `refunded`. */
  async refund(given: Given<typeof define.refundAction>): Promise<DeliveryResult[]> {
    const { id, amount } = define.refundAction.parse(given);
    const order = this.store.order(id);
    const refunded = order.refunds.reduce((sum, { total }) => sum - Number(total), 0);
    const sum = amount ?? (Number(order.total) - refunded).toFixed(2);
    order.refunds.push({ id: this.store.nextId(), reason: '', total: `-${sum}` });
    const isWhole = refunded + Number(sum) >= Number(order.total);
    if (isWhole) this.store.enter(order, 'refunded', this.now());
    else this.store.touch(order, this.now());
    return await this.announce(order, 'order.updated');
  }

  async trash(id: number): Promise<DeliveryResult[]> {
    const order = this.store.order(id);
    if (order.status === 'trash') throw new ControlError(`order ${id} is in the trash already`);
    order.trashedFrom = order.status;
    order.status = 'trash';
    this.store.touch(order, this.now());
    return await this.announce(order, 'order.deleted');
  }

  /** For good. */
  async remove(id: number): Promise<DeliveryResult[]> {
    const order = this.store.order(id);
    this.store.orders.delete(id);
    return await this.announce(order, 'order.deleted');
  }

  /** A plugin writes on the order. */
  async setMeta(given: Given<typeof define.metaChange>): Promise<DeliveryResult[]> {
    const { id, key, value } = define.metaChange.parse(given);
    const order = this.store.order(id);
    this.store.writeMeta(order, [{ key, value }]);
    this.store.touch(order, this.now());
    return await this.announce(order, 'order.updated');
  }

  protected announce(order: Order, ...topics: string[]): Promise<DeliveryResult[]> {
    return Promise.all(this.outbox.announce(this.store.webhooks.values(), topics, order));
  }
}
