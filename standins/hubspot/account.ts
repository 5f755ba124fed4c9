import { ControlError, type Given } from '../kit/control.ts';
import { VendorStandin } from '../kit/vendor-standin.ts';
import type { DeliveryResult } from '../kit/webhook-sender.ts';
import * as define from './definitions.ts';
import {
  type HubspotStandinOptions,
  type ObjectType,
  type Owner,
  openSettings,
  type Pipeline,
  type Property,
  type Settings,
  type WebhookTarget,
} from './definitions.ts';
import { OAuthGrant } from './oauth.ts';
import { Store } from './store.ts';
import { hubspotRetries, type Occurrence, Outbox } from './webhooks.ts';

/** What is set up in an account and in the app: owners, pipelines, properties, the webhooks' target, settings. */
export abstract class HubspotAccount extends VendorStandin {
  readonly portalId: number;
  readonly appId: number;
  readonly clientSecret: string;
  /** The app's other way in, beside the static token. */
  readonly oauth: OAuthGrant;
  protected readonly store = new Store();
  protected readonly settings: Settings;
  readonly #outbox: Outbox;
  #subscriptionId = 2_881_777;

  constructor(options: HubspotStandinOptions) {
    super(hubspotRetries, options);
    const { portalId = 48_211_907, appId = 3_190_457, clientSecret = 'hubspot-client-secret' } = options;
    const { clientId = 'hubspot-client-id', refreshToken = 'hubspot-refresh-token' } = options;
    const { wallClock = () => new Date() } = options;
    this.portalId = portalId;
    this.appId = appId;
    this.clientSecret = clientSecret;
    this.oauth = new OAuthGrant({ clientId, clientSecret, refreshToken, portalId });
    this.settings = openSettings(options);
    this.#outbox = new Outbox({ sender: this.sender, portalId, appId, random: this.random, wallClock });
  }

  addOwner(given: Given<typeof define.ownerDefinition> = {}): Owner {
    return this.store.addOwner(define.ownerDefinition.parse(given));
  }

  addPipeline(given: Given<typeof define.pipelineDefinition>): Pipeline {
    return this.store.addPipeline(define.pipelineDefinition.parse(given));
  }

  addProperty(given: Given<typeof define.propertyDefinition>): Property {
    return this.store.addProperty(define.propertyDefinition.parse(given));
  }

  /** Deletes a property's definition; creating one of its name brings it back. */
  archiveProperty(given: Given<typeof define.propertyName>): void {
    const { type, name } = define.propertyName.parse(given);
    this.store.archiveProperty(type, name);
  }

  /** Property definitions as they are now, for a test to look at. */
  propertiesOf(type: ObjectType): Property[] {
    return structuredClone([...this.store.properties[type].values()]);
  }

  addLabel(given: Given<typeof define.labelDefinition>): void {
    const { type, ...label } = define.labelDefinition.parse(given);
    this.store.labels[type].push({ category: 'USER_DEFINED', ...label });
  }

  /** A customer answers one of HubSpot's own surveys. */
  addFeedback(given: Given<typeof define.feedbackSubmission> = {}): void {
    const { at } = define.feedbackSubmission.parse(given);
    this.store.feedback.push(at === undefined ? this.now() : Date.parse(at));
  }

  /** An app has one target. */
  setWebhook(given: Given<typeof define.webhookTarget>): WebhookTarget {
    const { subscriptions, secrets = [this.clientSecret], ...target } = define.webhookTarget.parse(given);
    const numbered = subscriptions.map((one) => ({ id: this.nextSubscriptionId(), ...one }));
    this.store.webhook = { ...target, secrets, subscriptions: numbered };
    return this.store.webhook;
  }

  removeWebhook(): void {
    this.store.webhook = undefined;
  }

  get webhook(): WebhookTarget | undefined {
    return structuredClone(this.store.webhook);
  }

  /** Delivers events as they are given, in one batch. */
  async fireWebhook(given: Given<typeof define.delivery>): Promise<DeliveryResult[]> {
    const { events } = define.delivery.parse(given);
    const target = this.store.webhook;
    if (target === undefined) throw new ControlError('there is no webhook target');
    const [first] = await Promise.all(events.map((event) => this.#outbox.push(target, event)));
    return first === undefined ? [] : [first];
  }

  changeSettings(given: Given<typeof define.settingsChange>): Settings {
    return Object.assign(this.settings, define.settingsChange.parse(given));
  }

  /** Resolves when no delivery is under way. */
  override async idle(): Promise<void> {
    await this.#outbox.idle();
    await super.idle();
  }

  protected announce(occurrence: Occurrence): Promise<DeliveryResult[]> {
    return Promise.all(this.#outbox.announce(this.store.webhook, occurrence));
  }

  nextSubscriptionId(): number {
    this.#subscriptionId += 1;
    return this.#subscriptionId;
  }
}
