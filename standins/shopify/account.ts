import { randomBytes, randomUUID } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { z } from 'zod';
import { ControlError, type Given, held } from '../kit/control.ts';
import { formOrJsonBody, ok, type StandinRequest, type StandinResponse } from '../kit/message.ts';
import { VendorStandin } from '../kit/vendor-standin.ts';
import type { DeliveryResult } from '../kit/webhook-sender.ts';
import * as define from './definitions.ts';
import {
  type Customer,
  type Definition,
  fulfillmentStatusOf,
  type Order,
  openSettings,
  type Parcel,
  type Settings,
  type ShopifyStandinOptions,
  type Subscription,
} from './definitions.ts';
import { Points } from './graphql.ts';
import { payloadOf, railsJson, redactPayload, shopPayload } from './payloads.ts';
import { type Occurrence, Store } from './store.ts';
import { shopifyRetries, Webhooks } from './webhooks.ts';

const aDayMs = 86_400_000;

const tokenRequest = z.object({
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
  grant_type: z.string().optional(),
});

/** An app's ways in while it is installed: its permanent token, and those that its client credentials get for a day. */
export class Access {
  readonly #app: { accessToken: string; clientId: string; clientSecret: string };
  /** With when they end. */
  readonly #tokens = new Map<string, number>();
  #installed = true;

  constructor(app: { accessToken: string; clientId: string; clientSecret: string }) {
    this.#app = app;
  }

  knows(token: string | undefined, now: number): boolean {
    if (!this.#installed || token === undefined) return false;
    return token === this.#app.accessToken || (this.#tokens.get(token) ?? 0) > now;
  }

  /** POST /admin/oauth/access_token, grant client_credentials only. */
  issueToken(req: StandinRequest, scopes: readonly string[], now: number): StandinResponse {
    const { client_id, client_secret, grant_type } = tokenRequest.safeParse(formOrJsonBody(req)).data ?? {};
    if (grant_type !== 'client_credentials') return { status: 400, body: { error: 'unsupported_grant_type' } };
    if (!this.#installed || client_id !== this.#app.clientId || client_secret !== this.#app.clientSecret) {
      return { status: 400, body: { error: 'application_cannot_be_found' } };
    }
    const token = `shpat_${randomBytes(16).toString('hex')}`;
    this.#tokens.set(token, now + aDayMs);
    return ok({ access_token: token, scope: scopes.join(','), expires_in: aDayMs / 1000 - 1 });
  }

  /** No token is good any more. */
  uninstall(): void {
    this.#installed = false;
    this.#tokens.clear();
  }
}

/** A right to write includes the one to read. @throws GraphQLError ACCESS_DENIED when none of these is held */
export function needScope(held: readonly string[], oneOf: readonly string[]): void {
  if (oneOf.some((one) => held.includes(one) || held.includes(one.replace('read_', 'write_')))) return;
  const message = `Access denied. Required access: \`${oneOf.join('` or `')}\` access scope.`;
  throw new GraphQLError(message, { extensions: { code: 'ACCESS_DENIED' } });
}

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

/**
 * The shop and the app as they are set up, what a merchant, a customer or a carrier does with orders, and the requests that privacy law
 * sends an app. Every change is sent to the webhooks.
 */
export abstract class ShopifyShop extends VendorStandin {
  readonly shop: { id: string; domain: string };
  readonly accessToken: string;
  readonly clientId: string;
  readonly clientSecret: string;
  protected readonly store = new Store();
  protected readonly settings = openSettings();
  protected readonly access: Access;
  protected readonly charged = new Points();
  protected readonly webhooks: Webhooks;

  constructor(options: ShopifyStandinOptions = {}) {
    super(shopifyRetries, options);
    this.shop = { id: '954889', domain: options.shop ?? 'acme.myshopify.com' };
    this.accessToken = options.accessToken ?? 'shpat_shopify-token';
    this.clientId = options.clientId ?? 'shopify-client';
    this.clientSecret = options.clientSecret ?? 'shopify-client-secret';
    this.access = new Access(this);
    this.webhooks = new Webhooks({
      sender: this.sender,
      shopDomain: this.shop.domain,
      secret: this.clientSecret,
      version: () => this.settings.webhookVersion,
      now: () => this.now(),
      failed: (subscription) => {
        this.store.subscriptions = this.store.subscriptions.filter((one) => one !== subscription);
      },
    });
  }

  addDefinition(given: Given<typeof define.metafieldDefinition>): Definition {
    return this.store.addDefinition(define.metafieldDefinition.parse(given));
  }

  definitions(): Definition[] {
    return this.store.definitions;
  }

  addSubscription(given: Given<typeof define.subscriptionDefinition>): Subscription {
    return this.store.addSubscription(define.subscriptionDefinition.parse(given), this.now());
  }

  subscriptions(): Subscription[] {
    return this.store.subscriptions;
  }

  removeSubscriptions(given: Given<typeof define.subscriptionRemoval> = {}): void {
    const { topic } = define.subscriptionRemoval.parse(given);
    this.store.subscriptions = this.store.subscriptions.filter((one) => topic !== undefined && one.topic !== topic);
  }

  /** Where compliance webhooks go, as set in the app. */
  setCompliance(given: Given<typeof define.complianceTarget>): void {
    this.store.complianceUri = define.complianceTarget.parse(given).uri;
  }

  requestData(given: Given<typeof define.privacyRequest>): Promise<DeliveryResult[]> {
    const { customerId } = define.privacyRequest.parse(given);
    return this.#comply('customers/data_request', redactPayload(customerId, this.store, this.shop, true));
  }

  redactCustomer(given: Given<typeof define.privacyRequest>): Promise<DeliveryResult[]> {
    const { customerId } = define.privacyRequest.parse(given);
    return this.#comply('customers/redact', redactPayload(customerId, this.store, this.shop, false));
  }

  redactShop(): Promise<DeliveryResult[]> {
    return this.#comply('shop/redact', shopPayload(this.shop));
  }

  /** No token is good any more. */
  async uninstall(): Promise<DeliveryResult[]> {
    const body = { id: Number(this.shop.id), myshopify_domain: this.shop.domain, domain: this.shop.domain };
    const results = this.webhooks.announce(this.store.subscriptions, 'app/uninstalled', body, randomUUID());
    this.access.uninstall();
    return results;
  }

  /** Delivers a body as it is: to `uri`, or to every subscription of the topic. */
  async fireWebhook(given: Given<typeof define.delivery>): Promise<DeliveryResult[]> {
    const { topic, body, uri } = define.delivery.parse(given);
    const text = railsJson(body);
    if (uri !== undefined) return [await this.webhooks.deliver(uri, topic, text)];
    return this.webhooks.announce(
      this.store.subscriptions,
      topic,
      z.record(z.string(), z.unknown()).parse(body),
      randomUUID(),
    );
  }

  changeSettings(given: Given<typeof define.settingsChange>): Settings {
    return Object.assign(this.settings, define.settingsChange.parse(given));
  }

  /** What calls were charged so far, and how many were refused as THROTTLED. */
  points(): { spent: number; refused: number } {
    const { spent, refused } = this.charged;
    return { spent, refused };
  }

  /** Nothing is left of the app's points, as if it had been busy until now. */
  drainPoints(): void {
    this.charged.drain(this.now());
  }

  async #comply(topic: string, body: object): Promise<DeliveryResult[]> {
    const uri = this.store.complianceUri;
    if (uri === undefined) throw new ControlError('the app has no compliance webhooks');
    return [await this.webhooks.deliver(uri, topic, railsJson(body))];
  }

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

  /** What the carrier reports about a parcel. Shopify does not promise that this changes the order's `updated_at`. */
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
