import type { z } from 'zod';
import { ControlError } from '../control-surface.ts';
import { type Call, countCalls, createRouter } from '../router.ts';
import { FaultQueue, type StandinRequest, type StandinResponse, type StandinServer, serve } from '../server.ts';
import {
  createWebhookSender,
  type DeliveryResult,
  type SenderSettings,
  type WebhookSender,
} from '../webhook-sender.ts';
import { authorise } from './auth.ts';
import type { Context } from './context.ts';
import { createWooCommerceControl } from './control.ts';
import * as define from './definitions.ts';
import type { Order, Settings, Webhook } from './model.ts';
import { orderRoutes } from './order-endpoints.ts';
import { noRoute, Problem } from './problem.ts';
import { Store } from './store.ts';
import { phpJson } from './views.ts';
import { webhookRoutes } from './webhook-endpoints.ts';
import { Outbox, wooCommerceRetries } from './webhooks.ts';

export interface WooCommerceStandinOptions {
  /** The shop's clock. Left out: the system's. */
  now?: () => Date;
  /** 0 ≤ x < 1 */
  random?: () => number;
  fetch?: typeof globalThis.fetch;
  /** A key with all rights. Default `ck_standin` and `cs_standin`. */
  consumerKey?: string;
  consumerSecret?: string;
  webhooks?: SenderSettings;
}

type Given<Schema extends z.ZodType> = z.input<Schema>;

const page = (title: string): string => `<!DOCTYPE html><html><head><title>${title}</title></head></html>`;

/**
 * The stand-in of one WooCommerce shop: its API at the vendor's paths (`/wp-json/wc/v3` or `?rest_route=/wc/v3`), its
 * control surface under `/_control` (control.ts), the same as methods here. These take what definitions.ts describes; they
 * throw a ControlError for what isn't there, a ZodError for what is malformed. Built from the facts, not from the connector.
 */
export class WooCommerceStandin {
  readonly faults = new FaultQueue();
  readonly consumerKey: string;
  readonly consumerSecret: string;
  /** The shop's address; set once it is served. */
  site = 'https://laden.example.com';
  readonly #options: WooCommerceStandinOptions;
  readonly #sender: WebhookSender;
  readonly #outbox: Outbox;
  readonly #control: (req: StandinRequest) => Promise<StandinResponse>;
  readonly #find = createRouter<Context>([...orderRoutes, ...webhookRoutes]);
  #store: Store;
  #settings = openSettings();
  #calls: Call[] = [];

  constructor(options: WooCommerceStandinOptions = {}) {
    this.#options = options;
    this.consumerKey = options.consumerKey ?? 'ck_standin';
    this.consumerSecret = options.consumerSecret ?? 'cs_standin';
    const { random = Math.random, fetch = globalThis.fetch } = options;
    const ports = { fetch, random, sleep: () => Promise.resolve() };
    this.#sender = createWebhookSender(wooCommerceRetries, ports, { ...options.webhooks });
    this.#outbox = new Outbox({
      sender: this.#sender,
      now: () => this.#now(),
      site: () => this.site,
      settings: () => this.#settings,
    });
    this.#control = createWooCommerceControl(this);
    this.#store = this.#openStore();
  }

  /** Bound, so that it can be handed on. */
  readonly handle = async (req: StandinRequest): Promise<StandinResponse> => {
    if (req.path.startsWith('/_control/')) return this.#control(req);
    const now = this.#now();
    const query = new URLSearchParams(req.query);
    const route = query.get('rest_route');
    query.delete('rest_route');
    const path = route === null ? req.path : `/wp-json${route}`;
    const found = this.#find(req.method, path);
    this.#calls.push({ method: req.method, path: found?.endpoint ?? path, at: new Date(now) });
    const date = new Date(now).toUTCString();
    const answer = (status: number, body: unknown, headers: Record<string, string> = {}): StandinResponse => ({
      status,
      headers: { 'content-type': 'application/json; charset=UTF-8', date, ...headers },
      body: phpJson(body),
    });
    const { permalinks, rest, redirectTo } = this.#settings;
    if (redirectTo !== null) return { status: 301, headers: { location: redirectTo, date } };
    if ((route === null && !permalinks) || !path.startsWith('/wp-json/')) {
      return { status: 404, headers: { 'content-type': 'text/html; charset=UTF-8', date }, body: page('Nothing here') };
    }
    try {
      if (found === undefined || !rest) throw noRoute();
      authorise(req, query, this.#store.keys, this.#settings);
      const context: Context = {
        req,
        query,
        store: this.#store,
        now,
        site: this.site,
        saved: (order) => void this.#announce(order, 'order.updated'),
        ping: (webhook) => void this.#outbox.ping(webhook),
      };
      const { status, headers, body } = await found.route.answer(context, found.params);
      return answer(status, body, headers);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return answer(error.status, error.body);
    }
  };

  get calls(): readonly Call[] {
    return this.#calls;
  }

  /** Calls per endpoint, refused ones included, keyed `GET /wp-json/wc/v3/orders/{id}`, whichever way they came. */
  callCounts(): Record<string, number> {
    return countCalls(this.#calls);
  }

  totalCalls(): number {
    return this.#calls.length;
  }

  clearCalls(): void {
    this.#calls = [];
  }

  addOrder(given: Given<typeof define.orderDefinition> = {}): Order {
    const order = this.#store.addOrder(define.orderDefinition.parse(given), this.#now());
    void this.#announce(order, 'order.created');
    return order;
  }

  /** As a person in the admin, or a plugin, would. */
  async setStatus(given: Given<typeof define.statusChange>): Promise<DeliveryResult[]> {
    const { id, status } = define.statusChange.parse(given);
    const order = this.#store.order(id);
    const isMove = order.status !== status;
    this.#store.enter(order, status, this.#now());
    const actions = isMove ? [`action.woocommerce_order_status_${status}`] : [];
    return await this.#announce(order, 'order.updated', ...actions);
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
    const order = this.#store.order(id);
    const refunded = order.refunds.reduce((sum, { total }) => sum - Number(total), 0);
    const sum = amount ?? (Number(order.total) - refunded).toFixed(2);
    order.refunds.push({ id: this.#store.nextId(), reason: '', total: `-${sum}` });
    const isWhole = refunded + Number(sum) >= Number(order.total);
    if (isWhole) this.#store.enter(order, 'refunded', this.#now());
    else this.#store.touch(order, this.#now());
    return await this.#announce(order, 'order.updated');
  }

  async trash(id: number): Promise<DeliveryResult[]> {
    const order = this.#store.order(id);
    if (order.status === 'trash') throw new ControlError(`order ${id} is in the trash already`);
    order.trashedFrom = order.status;
    order.status = 'trash';
    this.#store.touch(order, this.#now());
    return await this.#announce(order, 'order.deleted');
  }

  async restore(id: number): Promise<DeliveryResult[]> {
    const order = this.#store.order(id);
    if (order.trashedFrom === undefined) throw new ControlError(`order ${id} is not in the trash`);
    order.status = order.trashedFrom;
    order.trashedFrom = undefined;
    this.#store.touch(order, this.#now());
    return await this.#announce(order, 'order.restored');
  }

  /** For good. */
  async remove(id: number): Promise<DeliveryResult[]> {
    const order = this.#store.order(id);
    this.#store.orders.delete(id);
    return await this.#announce(order, 'order.deleted');
  }

  /** A plugin writes on the order. */
  async setMeta(given: Given<typeof define.metaChange>): Promise<DeliveryResult[]> {
    const { id, key, value } = define.metaChange.parse(given);
    const order = this.#store.order(id);
    this.#store.writeMeta(order, [{ key, value }]);
    this.#store.touch(order, this.#now());
    return await this.#announce(order, 'order.updated');
  }

  /** A plugin registers a status. */
  addStatus(status: string): void {
    this.#store.statuses.add(define.statusDefinition.parse({ status }).status);
  }

  addKey(given: Given<typeof define.keyDefinition>): void {
    const key = define.keyDefinition.parse(given);
    this.#store.keys.set(key.key, key);
  }

  addWebhook(given: Given<typeof define.webhookDefinition>): Webhook {
    const { url, ...rest } = define.webhookDefinition.parse(given);
    return this.#store.addWebhook({ ...rest, deliveryUrl: url }, this.#now());
  }

  changeWebhook(given: Given<typeof define.webhookChange>): Webhook {
    const { id, url, ...rest } = define.webhookChange.parse(given);
    return Object.assign(this.#store.webhook(id), rest, url === undefined ? {} : { deliveryUrl: url });
  }

  removeWebhooks(): void {
    this.#store.webhooks.clear();
  }

  webhooks(): Webhook[] {
    return [...this.#store.webhooks.values()];
  }

  changeSender(given: Given<typeof define.senderChange>): SenderSettings {
    return Object.assign(this.#sender.settings, define.senderChange.parse(given));
  }

  changeSettings(given: Given<typeof define.settingsChange>): Settings {
    return Object.assign(this.#settings, define.settingsChange.parse(given));
  }

  /** Everything about one order; `values` are its meta data by key. */
  order(id: number): Order & { values: Record<string, unknown> } {
    const order = this.#store.order(id);
    return { ...order, values: Object.fromEntries(order.meta.map(({ key, value }) => [key, value])) };
  }

  orders(): { id: number; status: string }[] {
    return [...this.#store.orders.values()].map(({ id, status }) => ({ id, status }));
  }

  /** Resolves when no delivery is under way. */
  idle(): Promise<void> {
    return this.#sender.idle();
  }

  /** Back to the state right after construction. What is under way still ends. */
  reset(): void {
    this.#store = this.#openStore();
    this.#settings = openSettings();
    this.#calls = [];
    this.#sender.settings = { ...this.#options.webhooks };
    this.faults.clear();
  }

  #openStore(): Store {
    const store = new Store();
    const { consumerKey: key, consumerSecret: secret } = this;
    store.keys.set(key, { key, secret, rights: 'read_write', mayEditOrders: true });
    return store;
  }

  #now(): number {
    return (this.#options.now?.() ?? new Date()).getTime();
  }

  #announce(order: Order, ...topics: string[]): Promise<DeliveryResult[]> {
    return Promise.all(this.#outbox.announce(this.#store.webhooks.values(), topics, order));
  }
}

function openSettings(): Settings {
  return {
    permalinks: true,
    rest: true,
    redirectTo: null,
    dropsAuthorization: false,
    ownerLostRights: false,
    deliveries: true,
    localReceivers: true,
  };
}

export function createWooCommerceStandin(options: WooCommerceStandinOptions = {}): WooCommerceStandin {
  return new WooCommerceStandin(options);
}

/** The same over HTTP; `url` stands for the shop's address. */
export async function startWooCommerceStandin(
  options: WooCommerceStandinOptions & { port?: number } = {},
): Promise<StandinServer & { standin: WooCommerceStandin }> {
  const standin = createWooCommerceStandin(options);
  const server = await serve(standin.handle, {
    faults: standin.faults,
    ...(options.port === undefined ? {} : { port: options.port }),
  });
  standin.site = server.url;
  return { ...server, standin };
}
