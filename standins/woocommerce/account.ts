import type { Given } from '../kit/control.ts';
import { VendorStandin } from '../kit/vendor-standin.ts';
import type { DeliveryResult, SenderSettings } from '../kit/webhook-sender.ts';
import * as define from './definitions.ts';
import type { Order, Webhook } from './model.ts';
import { openSettings, type Settings, type WooCommerceStandinOptions } from './settings.ts';
import { Store } from './store.ts';
import { Outbox, wooCommerceRetries } from './webhooks.ts';

/** What is set up in a shop: keys, webhooks, plugins' statuses, its surroundings. */
export class WooCommerceAccount extends VendorStandin {
  readonly consumerKey: string;
  readonly consumerSecret: string;
  /** The shop's address; set once it is served. */
  site = 'https://laden.example.com';
  protected store: Store;
  protected settings = openSettings();
  protected readonly outbox: Outbox;

  constructor(options: WooCommerceStandinOptions) {
    super(wooCommerceRetries, options);
    this.consumerKey = options.consumerKey ?? 'ck_standin';
    this.consumerSecret = options.consumerSecret ?? 'cs_standin';
    this.outbox = new Outbox({
      sender: this.sender,
      now: () => this.now(),
      site: () => this.site,
      settings: () => this.settings,
    });
    this.store = this.#openStore();
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

  override reset(): void {
    super.reset();
    this.store = this.#openStore();
    this.settings = openSettings();
  }

  protected announce(order: Order, ...topics: string[]): Promise<DeliveryResult[]> {
    return Promise.all(this.outbox.announce(this.store.webhooks.values(), topics, order));
  }

  #openStore(): Store {
    const store = new Store();
    const { consumerKey: key, consumerSecret: secret } = this;
    store.keys.set(key, { key, secret, rights: 'read_write', mayEditOrders: true });
    return store;
  }
}
