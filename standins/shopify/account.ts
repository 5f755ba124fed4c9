import { randomBytes, randomUUID } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { z } from 'zod';
import { ControlError, type Given } from '../kit/control.ts';
import { formOrJsonBody, ok, type StandinRequest, type StandinResponse } from '../kit/message.ts';
import { VendorStandin } from '../kit/vendor-standin.ts';
import type { DeliveryResult } from '../kit/webhook-sender.ts';
import * as define from './definitions.ts';
import {
  type Definition,
  openSettings,
  type Settings,
  type ShopifyStandinOptions,
  type Subscription,
} from './definitions.ts';
import { Points } from './graphql.ts';
import { railsJson, redactPayload, shopPayload } from './payloads.ts';
import { Store } from './store.ts';
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

/** What is set up in a shop and in the app: metafield definitions, subscriptions, rights, and what the law has an app do. */
export abstract class ShopifyAccount extends VendorStandin {
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
}
