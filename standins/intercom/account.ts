import { ControlError, type Given } from '../kit/control.ts';
import { VendorStandin } from '../kit/vendor-standin.ts';
import { problem } from './context.ts';
import * as define from './definitions.ts';
import {
  type Attribute,
  type Contact,
  type IntercomStandinOptions,
  openSettings,
  type Settings,
  type Webhook,
} from './definitions.ts';
import { Store } from './store.ts';
import { intercomRetries, Outbox } from './webhooks.ts';

/** Dealt out in windows of ten seconds. */
class RateLimits {
  #window = 0;
  #used = 0;

  /** @param headers describe what is left. @throws Problem 429 */
  take(limit: number, nowMs: number, headers: Record<string, string>): void {
    const window = Math.floor(nowMs / 10_000);
    if (window !== this.#window) {
      this.#window = window;
      this.#used = 0;
    }
    const isRefused = this.#used >= limit;
    if (!isRefused) this.#used += 1;
    headers['x-ratelimit-limit'] = String(limit);
    headers['x-ratelimit-remaining'] = String(limit - this.#used);
    headers['x-ratelimit-reset'] = String((window + 1) * 10);
    if (isRefused) throw problem(429, 'rate_limit_exceeded', 'Exceeded rate limit');
  }
}

/** What is set up in a workspace: teammates, contacts, attributes, the app's webhook. */
export abstract class IntercomAccount extends VendorStandin {
  readonly accessToken: string;
  readonly appId = 'k7p2m4xq';
  /** Whom the token belongs to: a teammate of closeloop's own. */
  readonly serviceAdminId = '7700001';
  protected readonly store = new Store();
  protected readonly settings = openSettings();
  protected readonly limits = new RateLimits();
  protected readonly outbox: Outbox;
  readonly #fetch: typeof globalThis.fetch;

  constructor(options: IntercomStandinOptions = {}) {
    super(intercomRetries, options);
    this.accessToken = options.accessToken ?? 'intercom-token';
    this.#fetch = options.fetch ?? globalThis.fetch;
    this.outbox = new Outbox({ sender: this.sender, nowMs: () => this.now(), appId: this.appId });
  }

  removeAdmin(id: string): void {
    this.store.admins.delete(id);
  }

  addTeam(given: Given<typeof define.teamDefinition>): void {
    const { id, name } = define.teamDefinition.parse(given);
    this.store.teams.set(id, name);
  }

  addContact(given: Given<typeof define.contactDefinition> = {}): Contact {
    const definition = define.contactDefinition.parse(given);
    const id = definition.id ?? `6a1f0c3e9d2b4a7f${String(this.store.nextId()).padStart(8, '0')}`;
    const contact: Contact = { ...definition, id };
    this.store.contacts.set(id, contact);
    return contact;
  }

  addAttribute(given: Given<typeof define.attributeDefinition>): Attribute {
    const { type, ...rest } = define.attributeDefinition.parse(given);
    const attribute: Attribute = { id: this.store.nextId(), archived: false, ...rest };
    const list = type === undefined ? this.store.attributes : this.store.type(type).attributes;
    list.push(attribute);
    return attribute;
  }

  removeAttributes(): void {
    this.store.attributes.length = 0;
    for (const { attributes } of this.store.types) attributes.length = 0;
  }

  /** As a person in the Developer Hub: the address is tried by a HEAD. */
  async saveWebhook(given: Given<typeof define.webhookDefinition>): Promise<Webhook> {
    const { url } = define.webhookDefinition.parse(given);
    const { status } = await this.#fetch(url, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(5_000),
    });
    if (status !== 200) throw new ControlError(`the address answers a HEAD with ${status}, not 200`);
    return this.setWebhook(given);
  }

  /** Without trying it. */
  setWebhook(given: Given<typeof define.webhookDefinition>): Webhook {
    this.outbox.webhook = define.webhookDefinition.parse(given);
    return this.outbox.webhook;
  }

  webhook(): Webhook | undefined {
    return this.outbox.webhook;
  }

  changeSettings(given: Given<typeof define.settingsChange>): Settings {
    return Object.assign(this.settings, define.settingsChange.parse(given));
  }
}
