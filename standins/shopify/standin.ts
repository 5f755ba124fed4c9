import { randomBytes, randomUUID } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { z } from 'zod';
import { ControlError } from '../control-surface.ts';
import { type Call, countCalls, jsonBody } from '../router.ts';
import { FaultQueue, type StandinRequest, type StandinResponse, type StandinServer, serve } from '../server.ts';
import {
  createWebhookSender,
  type DeliveryResult,
  type SenderSettings,
  type WebhookSender,
} from '../webhook-sender.ts';
import { rootOf } from './api.ts';
import { createShopifyControl } from './control.ts';
import * as define from './definitions.ts';
import { answerGraphql } from './graphql.ts';
import { type Customer, type Definition, fulfillmentStatusOf, type Order, type Subscription } from './model.ts';
import { payloadOf, railsJson, redactPayload, shopPayload } from './payloads.ts';
import { Points } from './points.ts';
import { type Occurrence, Store } from './store.ts';
import { shopifyRetries, Webhooks } from './webhooks.ts';

export interface ShopifyStandinOptions {
  /** The shop's clock: orders, points, tokens. Left out: the system's. */
  now?: () => Date;
  /** 0 ≤ x < 1 */
  random?: () => number;
  sleep?: (ms: number) => Promise<void>;
  fetch?: typeof globalThis.fetch;
  /** Default `acme.myshopify.com`. */
  shop?: string;
  /** The permanent token of a custom app. Default `shpat_shopify-token`. */
  accessToken?: string;
  /** Default `shopify-client` and `shopify-client-secret`; the secret also signs webhooks. */
  clientId?: string;
  clientSecret?: string;
  webhooks?: SenderSettings;
}

export interface Settings {
  maximumAvailable: number;
  restoreRate: number;
  scopes: string[];
  protectedData: boolean;
  shop: 'open' | 'frozen' | 'locked' | 'closed';
  answersIn?: string;
  webhookVersion: string;
  sticky: Record<string, string>;
  searchLagMs: number;
}

type Given<Schema extends z.ZodType> = z.input<Schema>;

/** Everything about one order, for a test to look at. */
export interface OrderReport {
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

const allScopes = ['read_orders', 'write_orders', 'read_customers', 'read_fulfillments', 'read_locations'];
const aDayMs = 86_400_000;

const tokenRequest = z.object({
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
  grant_type: z.string().optional(),
});

/**
 * The stand-in of one Shopify shop and the app installed in it. Its API at the vendor's paths, its control surface under `/_control`
 * (control.ts), the same as methods here. These take what definitions.ts describes; they throw a ControlError for what isn't there, a
 * ZodError for what is malformed. Built from the facts, not from the connector.
 */
export class ShopifyStandin {
  readonly faults = new FaultQueue();
  readonly shop: { id: string; domain: string };
  readonly accessToken: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly #options: ShopifyStandinOptions;
  readonly #sender: WebhookSender;
  readonly #webhooks: Webhooks;
  readonly #control: (req: StandinRequest) => Promise<StandinResponse>;
  #store = new Store();
  #settings = openSettings();
  #points = new Points();
  /** Of the client credentials, with when they end. */
  #tokens = new Map<string, number>();
  #installed = true;
  #calls: Call[] = [];
  #documents: { query: string; variables: unknown }[] = [];

  constructor(options: ShopifyStandinOptions = {}) {
    this.#options = options;
    this.shop = { id: '954889', domain: options.shop ?? 'acme.myshopify.com' };
    this.accessToken = options.accessToken ?? 'shpat_shopify-token';
    this.clientId = options.clientId ?? 'shopify-client';
    this.clientSecret = options.clientSecret ?? 'shopify-client-secret';
    const { random = Math.random, fetch = globalThis.fetch, sleep = realSleep } = options;
    this.#sender = createWebhookSender(shopifyRetries, { fetch, random, sleep }, { ...options.webhooks });
    this.#webhooks = new Webhooks({
      sender: this.#sender,
      shopDomain: this.shop.domain,
      secret: this.clientSecret,
      version: () => this.#settings.webhookVersion,
      now: () => this.#now(),
      failed: (subscription) => {
        this.#store.subscriptions = this.#store.subscriptions.filter((one) => one !== subscription);
      },
    });
    this.#control = createShopifyControl(this);
  }

  /** Bound, so that it can be handed on. */
  readonly handle = async (req: StandinRequest): Promise<StandinResponse> => {
    if (req.path.startsWith('/_control/')) return this.#control(req);
    const version = /^\/admin\/api\/([\w-]+)\/graphql\.json$/.exec(req.path)?.[1];
    const now = this.#now();
    const note = (path: string) => void this.#calls.push({ method: req.method, path, at: new Date(now) });
    const state = { frozen: 402, locked: 423, closed: 404, open: undefined }[this.#settings.shop];
    if (state !== undefined) {
      note(req.path);
      return { status: state, body: { errors: 'Unavailable Shop' } };
    }
    if (req.method === 'POST' && req.path === '/admin/oauth/access_token') {
      note('/admin/oauth/access_token');
      return this.#issueToken(req, now);
    }
    if (req.method !== 'POST' || version === undefined) {
      note(req.path);
      return { status: 404, body: { errors: 'Not Found' } };
    }
    const headers = { 'x-shopify-api-version': this.#settings.answersIn ?? version, 'x-request-id': randomUUID() };
    if (!this.#isKnown(req.headers['x-shopify-access-token'], now)) {
      note('/admin/api/{version}/graphql.json');
      const errors = '[API] Invalid API key or access token (unrecognized login or wrong password)';
      return { status: 401, headers, body: { errors } };
    }
    const sent = z.object({ query: z.string(), variables: z.unknown() }).safeParse(jsonBody(req));
    if (sent.success) this.#documents.push({ query: sent.data.query, variables: sent.data.variables });
    const root = rootOf({
      store: this.#store,
      shop: this.shop,
      scopes: this.#settings.scopes,
      need: (...oneOf) => this.#need(oneOf),
      personal: this.#settings.protectedData,
      sticky: this.#settings.sticky,
      webhookVersion: this.#settings.webhookVersion,
      now,
      searchLagMs: this.#settings.searchLagMs,
      tell: (occurrences) => void this.#tell(occurrences),
    });
    const { operation, ...response } = await answerGraphql(req, root, {
      points: this.#points,
      limits: this.#limits(),
      now,
    });
    note(`graphql ${operation ?? 'refused'}`);
    return { ...response, headers: { ...headers, ...response.headers } };
  };

  get calls(): readonly Call[] {
    return this.#calls;
  }

  /** Every operation that was sent, for a validator with the vendor's own schema. */
  get documents(): readonly { query: string; variables: unknown }[] {
    return this.#documents;
  }

  /** Calls per operation, refused ones included, keyed `POST graphql Orders`. */
  callCounts(): Record<string, number> {
    return countCalls(this.#calls);
  }

  totalCalls(): number {
    return this.#calls.length;
  }

  clearCalls(): void {
    this.#calls = [];
    this.#documents = [];
  }

  addCustomer(given: Given<typeof define.customerDefinition> = {}): Customer {
    return this.#store.addCustomer(define.customerDefinition.parse(given));
  }

  addLocation(given: Given<typeof define.locationDefinition>): { id: string; name: string } {
    const { id = this.#store.nextId(), name } = define.locationDefinition.parse(given);
    this.#store.locations.set(id, name);
    return { id, name };
  }

  addOrder(given: Given<typeof define.orderDefinition> = {}): Order {
    return this.#store.addOrder(define.orderDefinition.parse(given), this.#now());
  }

  addLine(given: Given<typeof define.addingLine>): Promise<DeliveryResult[]> {
    return this.#tell(this.#store.addLine(define.addingLine.parse(given), this.#now()));
  }

  /** Hands a parcel to a carrier: all that is left of an order, or some lines of it. */
  fulfil(given: Given<typeof define.fulfilling>): Promise<DeliveryResult[]> {
    return this.#tell(this.#store.fulfil(define.fulfilling.parse(given), this.#now()));
  }

  /** What the carrier tells of a parcel. */
  parcelNews(given: Given<typeof define.parcelNews>): Promise<DeliveryResult[]> {
    return this.#tell(this.#store.parcelNews(define.parcelNews.parse(given), this.#now()));
  }

  deliver(id: string, parcel?: number): Promise<DeliveryResult[]> {
    return this.parcelNews({ id, status: 'delivered', ...(parcel !== undefined && { parcel }) });
  }

  cancelParcel(given: Given<typeof define.parcelName>): Promise<DeliveryResult[]> {
    return this.#tell(this.#store.cancelParcel(define.parcelName.parse(given), this.#now()));
  }

  pay(given: Given<typeof define.orderName>): Promise<DeliveryResult[]> {
    return this.#tell(this.#store.pay(define.orderName.parse(given), this.#now()));
  }

  refund(given: Given<typeof define.refunding>): Promise<DeliveryResult[]> {
    return this.#tell(this.#store.refund(define.refunding.parse(given), this.#now()));
  }

  cancel(given: Given<typeof define.orderName>): Promise<DeliveryResult[]> {
    return this.#tell(this.#store.cancel(define.orderName.parse(given), this.#now()));
  }

  remove(given: Given<typeof define.orderName>): Promise<DeliveryResult[]> {
    return this.#tell(this.#store.remove(define.orderName.parse(given)));
  }

  change(given: Given<typeof define.orderChange>): Promise<DeliveryResult[]> {
    return this.#tell(this.#store.change(define.orderChange.parse(given), this.#now()));
  }

  addDefinition(given: Given<typeof define.metafieldDefinition>): Definition {
    return this.#store.addDefinition(define.metafieldDefinition.parse(given));
  }

  addSubscription(given: Given<typeof define.subscriptionDefinition>): Subscription {
    return this.#store.addSubscription(define.subscriptionDefinition.parse(given), this.#now());
  }

  removeSubscriptions(given: Given<typeof define.subscriptionRemoval> = {}): void {
    const { topic } = define.subscriptionRemoval.parse(given);
    this.#store.subscriptions = this.#store.subscriptions.filter((one) => topic !== undefined && one.topic !== topic);
  }

  subscriptions(): Subscription[] {
    return this.#store.subscriptions;
  }

  definitions(): Definition[] {
    return this.#store.definitions;
  }

  /** Where compliance webhooks go, as set in the app. */
  setCompliance(given: Given<typeof define.complianceTarget>): void {
    this.#store.complianceUri = define.complianceTarget.parse(given).uri;
  }

  requestData(given: Given<typeof define.privacyRequest>): Promise<DeliveryResult[]> {
    const { customerId } = define.privacyRequest.parse(given);
    return this.#comply('customers/data_request', redactPayload(customerId, this.#store, this.shop, true));
  }

  redactCustomer(given: Given<typeof define.privacyRequest>): Promise<DeliveryResult[]> {
    const { customerId } = define.privacyRequest.parse(given);
    return this.#comply('customers/redact', redactPayload(customerId, this.#store, this.shop, false));
  }

  redactShop(): Promise<DeliveryResult[]> {
    return this.#comply('shop/redact', shopPayload(this.shop));
  }

  /** No token is good any more. */
  async uninstall(): Promise<DeliveryResult[]> {
    const body = { id: Number(this.shop.id), myshopify_domain: this.shop.domain, domain: this.shop.domain };
    const results = this.#webhooks.announce(this.#store.subscriptions, 'app/uninstalled', body, randomUUID());
    this.#installed = false;
    this.#tokens.clear();
    return results;
  }

  changeScopes(scopes: string[]): Promise<DeliveryResult[]> {
    const previous = this.#settings.scopes;
    this.#settings.scopes = scopes;
    const body = { id: 1, previous, current: scopes, updated_at: new Date(this.#now()).toISOString() };
    return this.#webhooks.announce(this.#store.subscriptions, 'app/scopes_update', body, randomUUID());
  }

  /** Delivers a body as it is: to `uri`, or to every subscription of the topic. */
  async fireWebhook(given: Given<typeof define.delivery>): Promise<DeliveryResult[]> {
    const { topic, body, uri } = define.delivery.parse(given);
    const text = railsJson(body);
    if (uri !== undefined) return [await this.#webhooks.deliver(uri, topic, text)];
    return this.#webhooks.announce(
      this.#store.subscriptions,
      topic,
      z.record(z.string(), z.unknown()).parse(body),
      randomUUID(),
    );
  }

  changeSender(given: Given<typeof define.senderChange>): SenderSettings {
    return Object.assign(this.#sender.settings, define.senderChange.parse(given));
  }

  changeSettings(given: Given<typeof define.settingsChange>): Settings {
    return Object.assign(this.#settings, define.settingsChange.parse(given));
  }

  order(id: string): OrderReport {
    const order = this.#store.order(id);
    const own = this.#store.namespaceOf('$app');
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
    return [...this.#store.orders.keys()];
  }

  /** Resolves when no delivery is under way. */
  idle(): Promise<void> {
    return this.#sender.idle();
  }

  /** Back to the state right after construction. What is under way still ends. */
  reset(): void {
    this.#store = new Store();
    this.#settings = openSettings();
    this.#points = new Points();
    this.#tokens.clear();
    this.#installed = true;
    this.clearCalls();
    this.#sender.settings = { ...this.#options.webhooks };
    this.faults.clear();
  }

  #now(): number {
    return (this.#options.now?.() ?? new Date()).getTime();
  }

  #limits(): { maximumAvailable: number; restoreRate: number } {
    const { maximumAvailable, restoreRate } = this.#settings;
    return { maximumAvailable, restoreRate };
  }

  #isKnown(token: string | undefined, now: number): boolean {
    if (!this.#installed || token === undefined) return false;
    return token === this.accessToken || (this.#tokens.get(token) ?? 0) > now;
  }

  #need(oneOf: readonly string[]): void {
    const held = this.#settings.scopes;
    const allowed = oneOf.some((one) => held.includes(one) || held.includes(one.replace('read_', 'write_')));
    if (allowed) return;
    const message = `Access denied. Required access: \`${oneOf.join('` or `')}\` access scope.`;
    throw new GraphQLError(message, { extensions: { code: 'ACCESS_DENIED' } });
  }

  #issueToken(req: StandinRequest, now: number): StandinResponse {
    const form = req.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
    const given = tokenRequest.safeParse(
      form ? Object.fromEntries(new URLSearchParams(req.raw.toString())) : jsonBody(req),
    );
    const { client_id, client_secret, grant_type } = given.data ?? {};
    if (grant_type !== 'client_credentials') return { status: 400, body: { error: 'unsupported_grant_type' } };
    if (!this.#installed || client_id !== this.clientId || client_secret !== this.clientSecret) {
      return { status: 400, body: { error: 'application_cannot_be_found' } };
    }
    const token = `shpat_${randomBytes(16).toString('hex')}`;
    this.#tokens.set(token, now + aDayMs);
    return {
      status: 200,
      body: { access_token: token, scope: this.#settings.scopes.join(','), expires_in: aDayMs / 1000 - 1 },
    };
  }

  /** What one action causes shares an event. */
  async #tell(occurrences: readonly Occurrence[]): Promise<DeliveryResult[]> {
    const eventId = randomUUID();
    const results = occurrences.map(({ topic, order, parcel }) =>
      order === undefined
        ? []
        : this.#webhooks.announce(
            this.#store.subscriptions,
            topic,
            payloadOf(topic, order, parcel, this.#store),
            eventId,
          ),
    );
    return (await Promise.all(results)).flat();
  }

  async #comply(topic: string, body: object): Promise<DeliveryResult[]> {
    const uri = this.#store.complianceUri;
    if (uri === undefined) throw new ControlError('the app has no compliance webhooks');
    return [await this.#webhooks.deliver(uri, topic, railsJson(body))];
  }
}

export function createShopifyStandin(options: ShopifyStandinOptions = {}): ShopifyStandin {
  return new ShopifyStandin(options);
}

/** The same over HTTP; `url` stands for `https://acme.myshopify.com`. */
export async function startShopifyStandin(
  options: ShopifyStandinOptions & { port?: number } = {},
): Promise<StandinServer & { standin: ShopifyStandin }> {
  const standin = createShopifyStandin(options);
  const server = await serve(standin.handle, {
    faults: standin.faults,
    ...(options.port === undefined ? {} : { port: options.port }),
  });
  return { ...server, standin };
}

/** A shop on the standard plan, and an app with all that closeloop asks for. */
function openSettings(): Settings {
  return {
    maximumAvailable: 2_000,
    restoreRate: 100,
    scopes: [...allScopes],
    protectedData: true,
    shop: 'open',
    webhookVersion: '2026-10',
    sticky: {},
    searchLagMs: 0,
  };
}

function realSleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
