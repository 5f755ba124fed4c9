import { randomUUID } from 'node:crypto';
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
import { accountRoutes, introspection } from './account-endpoints.ts';
import type { Context, Settings } from './context.ts';
import { createHubspotControl } from './control.ts';
import * as define from './definitions.ts';
import {
  type CrmRecord,
  type ObjectType,
  type Owner,
  type Pipeline,
  type Property,
  type Source,
  stageProperty,
  type WebhookTarget,
} from './model.ts';
import { noteRoutes } from './note-endpoints.ts';
import { OAuthGrant, tokenPath } from './oauth.ts';
import { objectRoutes } from './object-endpoints.ts';
import { otherRoutes } from './other-endpoints.ts';
import { missingScopes, notFound, Problem, rateLimited, unauthenticated } from './problem.ts';
import { propertyRoutes } from './property-endpoints.ts';
import { RateLimits } from './rate-limits.ts';
import { searchRoutes } from './search-endpoints.ts';
import { Store } from './store.ts';
import { shuffled } from './views.ts';
import { webhookApi, webhookRoutes } from './webhook-endpoints.ts';
import { hubspotRetries, type Occurrence, Outbox } from './webhooks.ts';

export interface HubspotStandinOptions {
  /** The account's clock: records, limits. Left out: the system's. */
  now?: () => Date;
  /** For the signatures' timestamps. Left out: the system's. */
  wallClock?: () => Date;
  /** 0 ≤ x < 1 */
  random?: () => number;
  sleep?: (ms: number) => Promise<void>;
  fetch?: typeof globalThis.fetch;
  /** Calls in any ten seconds (default 190, Professional) and a day (default 625,000). */
  rateLimit?: { per10s?: number; daily?: number };
  /** The app's static token, with all scopes unless the settings say otherwise. Default `hubspot-token`. */
  accessToken?: string;
  /** Signs webhooks. Default `hubspot-client-secret`. */
  clientSecret?: string;
  /** Of the legacy public app's developer, for its webhook settings. Default `hubspot-developer-key`. */
  developerApiKey?: string;
  /** For `oauth`. Default `hubspot-client-id` and `hubspot-refresh-token`. */
  clientId?: string;
  refreshToken?: string;
  /** Further tokens and their scopes; null: all. */
  tokens?: Readonly<Record<string, readonly string[] | null>>;
  portalId?: number;
  appId?: number;
  webhooks?: SenderSettings;
}

type Given<Schema extends z.ZodType> = z.input<Schema>;

/** Everything about one record, for a test to look at. */
export interface RecordReport {
  id: number;
  type: ObjectType;
  properties: Record<string, string>;
  history: Record<string, { value: string; at: string; changeSource: string; sourceId: string }[]>;
  contacts: number[];
  archived: boolean;
}

const someone: Source = { changeSource: 'CRM_UI', sourceId: 'userId:98499705' };

/**
 * The stand-in of one HubSpot account and the app installed in it. Its API at the vendor's paths, its control surface
 * under `/_control` (control.ts), the same as methods here. These take what definitions.ts describes; they throw a
 * ControlError for what isn't there, a ZodError for what is malformed. Built from the facts, not from the connector.
 */
export class HubspotStandin {
  readonly faults = new FaultQueue();
  readonly portalId: number;
  readonly appId: number;
  readonly accessToken: string;
  readonly clientSecret: string;
  /** The app's other way in, beside the static token. */
  readonly oauth: OAuthGrant;
  readonly #options: HubspotStandinOptions;
  readonly #sender: WebhookSender;
  readonly #outbox: Outbox;
  readonly #control: (req: StandinRequest) => Promise<StandinResponse>;
  readonly #find = createRouter<Context>([
    ...noteRoutes,
    ...otherRoutes,
    ...accountRoutes,
    ...propertyRoutes,
    ...webhookRoutes,
    ...searchRoutes,
    ...objectRoutes,
  ]);
  #store = new Store();
  #settings: Settings;
  #limits = new RateLimits();
  #calls: Call[] = [];
  #subscriptionId = 2_881_777;

  constructor(options: HubspotStandinOptions = {}) {
    this.#options = options;
    this.portalId = options.portalId ?? 48_211_907;
    this.appId = options.appId ?? 3_190_457;
    this.accessToken = options.accessToken ?? 'hubspot-token';
    this.clientSecret = options.clientSecret ?? 'hubspot-client-secret';
    const { clientId = 'hubspot-client-id', refreshToken = 'hubspot-refresh-token' } = options;
    const { clientSecret, portalId } = this;
    this.oauth = new OAuthGrant({ clientId, clientSecret, refreshToken, portalId });
    const { random = Math.random, fetch = globalThis.fetch, sleep = realSleep, wallClock = () => new Date() } = options;
    this.#sender = createWebhookSender(hubspotRetries, { fetch, random, sleep }, { ...options.webhooks });
    this.#outbox = new Outbox({ sender: this.#sender, portalId: this.portalId, appId: this.appId, random, wallClock });
    this.#control = createHubspotControl(this);
    this.#settings = this.#openSettings();
  }

  /** Bound, so that it can be handed on. */
  readonly handle = async (req: StandinRequest): Promise<StandinResponse> => {
    if (req.path.startsWith('/_control/')) return this.#control(req);
    const now = this.#now();
    const found = this.#find(req.method, req.path);
    this.#calls.push({ method: req.method, path: found?.endpoint ?? req.path, at: new Date(now) });
    const correlationId = randomUUID();
    const headers: Record<string, string> = { 'x-hubspot-correlation-id': correlationId };
    try {
      if (req.method === 'POST' && tokenPath.test(req.path)) return this.oauth.answer(req, now);
      const scopes = this.#scopesFor(found?.endpoint ?? '', req);
      const { refusedBy, headers: limits } = this.#limits.take(
        this.#settings,
        now,
        found?.endpoint.endsWith('/search') === true ? 'search' : 'other',
      );
      Object.assign(headers, limits);
      if (refusedBy !== undefined) {
        const { status, body } = rateLimited(refusedBy, randomUUID());
        return { status, headers, body: { ...body, correlationId } };
      }
      if (found === undefined) throw notFound();
      const context: Context = {
        req,
        store: this.#store,
        now,
        random: this.#options.random ?? Math.random,
        portalId: this.portalId,
        appId: this.appId,
        clientSecret: this.clientSecret,
        oauth: this.oauth,
        scopes,
        nextSubscriptionId: () => this.#nextSubscriptionId(),
        source: { changeSource: 'INTEGRATION', sourceId: String(this.appId) },
        settings: this.#settings,
        need: (...oneOf) => {
          if (scopes !== null && !oneOf.some((scope) => scopes.includes(scope))) throw missingScopes(oneOf);
        },
        changed: (record, names, source) => void this.#changed(record, names, source),
      };
      const response = await found.route.answer(context, found.params);
      return { ...response, headers: { ...headers, ...response.headers } };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const { status, body } = error.response;
      return { status, headers, body: { ...body, correlationId } };
    }
  };

  get calls(): readonly Call[] {
    return this.#calls;
  }

  /** Calls per endpoint, refused ones included, keyed `POST /crm/objects/{version}/tickets/batch/read`. */
  callCounts(): Record<string, number> {
    return countCalls(this.#calls);
  }

  totalCalls(): number {
    return this.#calls.length;
  }

  clearCalls(): void {
    this.#calls = [];
  }

  addTicket(given: Given<typeof define.recordDefinition> = {}): CrmRecord {
    return this.#add('tickets', given);
  }

  addDeal(given: Given<typeof define.recordDefinition> = {}): CrmRecord {
    return this.#add('deals', given);
  }

  addContact(given: Given<typeof define.recordDefinition> = {}): CrmRecord {
    return this.#add('contacts', given);
  }

  addOwner(given: Given<typeof define.ownerDefinition> = {}): Owner {
    return this.#store.addOwner(define.ownerDefinition.parse(given));
  }

  addPipeline(given: Given<typeof define.pipelineDefinition>): Pipeline {
    return this.#store.addPipeline(define.pipelineDefinition.parse(given));
  }

  addProperty(given: Given<typeof define.propertyDefinition>): Property {
    return this.#store.addProperty(define.propertyDefinition.parse(given));
  }

  /** Deletes a property's definition; creating one of its name brings it back. */
  archiveProperty(given: Given<typeof define.propertyName>): void {
    const { type, name } = define.propertyName.parse(given);
    this.#store.archiveProperty(type, name);
  }

  addLabel(given: Given<typeof define.labelDefinition>): void {
    const { type, ...label } = define.labelDefinition.parse(given);
    this.#store.labels[type].push({ category: 'USER_DEFINED', ...label });
  }

  /** Somebody answers one of HubSpot's own surveys. */
  addFeedback(given: Given<typeof define.feedbackSubmission> = {}): void {
    const { at } = define.feedbackSubmission.parse(given);
    this.#store.feedback.push(at === undefined ? this.#now() : Date.parse(at));
  }

  /** Property definitions as they are now, for a test to look at. */
  propertiesOf(type: ObjectType): Property[] {
    return structuredClone([...this.#store.properties[type].values()]);
  }

  groupsOf(type: ObjectType): string[] {
    return [...this.#store.groups[type].keys()];
  }

  get webhook(): WebhookTarget | undefined {
    return structuredClone(this.#store.webhook);
  }

  /** Sets properties as a person would, unless `source` says otherwise. */
  change(given: Given<typeof define.recordChange>): Promise<DeliveryResult[]> {
    const { type, id, properties, source = someone } = define.recordChange.parse(given);
    const record = this.#store.record(type, id);
    const unknown = Object.keys(properties).find((name) => !this.#store.properties[type].has(name));
    if (unknown !== undefined) throw new ControlError(`${type} have no property "${unknown}"`);
    const now = this.#now();
    const names = Object.entries(properties).filter(([name, value]) =>
      this.#store.write(record, name, value, source, now),
    );
    this.#store.touch(record, source, now);
    return this.#changed(
      record,
      names.map(([name]) => name),
      source,
    );
  }

  setStage(given: Given<typeof define.stageChange>): Promise<DeliveryResult[]> {
    const { type, id, stage, source } = define.stageChange.parse(given);
    const property = stageProperty[type];
    if (property === undefined || this.#store.stage(type, stage) === undefined)
      throw new ControlError(`${type} have no stage "${stage}"`);
    return this.change({ type, id, properties: { [property]: stage }, ...(source === undefined ? {} : { source }) });
  }

  /** Moves a ticket (or deal) to the first closed stage of its pipeline. */
  close(id: number, type: ObjectType = 'tickets'): Promise<DeliveryResult[]> {
    return this.setStage({ type, id, stage: this.#stageWhere(type, id, true) });
  }

  reopen(id: number, type: ObjectType = 'tickets'): Promise<DeliveryResult[]> {
    return this.setStage({ type, id, stage: this.#stageWhere(type, id, false) });
  }

  /** Closes many at once, so that their events share batches. */
  async closeAll(given: Given<typeof define.massChange>): Promise<DeliveryResult[]> {
    const { type, ids, stage } = define.massChange.parse(given);
    const results = ids.map((id) => (stage === undefined ? this.close(id, type) : this.setStage({ type, id, stage })));
    return (await Promise.all(results)).flat();
  }

  /** The result is a new record; the old ids lead to it, their associations are gone. Results of the deliveries come with `idle`. */
  merge(given: Given<typeof define.mergeAction>): { id: number; deliveries: Promise<DeliveryResult[]> } {
    const { type, primary, merged, keepPrimary, source = someone } = define.mergeAction.parse(given);
    const ids = [primary, ...merged];
    if (new Set(ids).size < ids.length) throw new ControlError('a record is not merged with itself');
    const records = ids.map((id) => this.#store.record(type, id));
    if (records.some((record) => record.archived)) throw new ControlError('a deleted record is not merged');
    const all = Object.fromEntries(records.toReversed().flatMap((record) => [...record.properties]));
    const known = Object.fromEntries(Object.entries(all).filter(([name]) => this.#store.properties[type].has(name)));
    const now = this.#now();
    const [first] = records;
    const record =
      keepPrimary && first !== undefined
        ? first
        : this.#store.add(type, { properties: known, contacts: [] }, source, now);
    this.#store.leadTo(
      record,
      records.filter((one) => one !== record),
    );
    const more = {
      primaryObjectId: primary,
      mergedObjectIds: merged,
      newObjectId: record.id,
      numberOfPropertiesMoved: Object.keys(known).length,
    };
    return {
      id: record.id,
      deliveries: this.#announce({ event: 'merge', object: type, objectId: primary, source, at: now, more }),
    };
  }

  deleteRecord(given: Given<typeof define.recordAction>): Promise<DeliveryResult[]> {
    return this.#archive(given, true);
  }

  restore(given: Given<typeof define.recordAction>): Promise<DeliveryResult[]> {
    return this.#archive(given, false);
  }

  /** Erases a contact for good: privacyDeletion and deletion, in this order or not. */
  async privacyDelete(id: number): Promise<DeliveryResult[]> {
    this.#store.record('contacts', id);
    this.#store.records.contacts.delete(id);
    for (const contacts of this.#store.contactsOf.values()) contacts.delete(id);
    const common = { object: 'contacts', objectId: id, source: someone, at: this.#now() } as const;
    const both = shuffled(['privacyDeletion', 'deletion'] as const, this.#options.random ?? Math.random);
    const results = both.map((event) => this.#announce({ ...common, event, more: { changeFlag: 'DELETED' } }));
    return (await Promise.all(results)).flat();
  }

  associate(given: Given<typeof define.associationChange>): Promise<DeliveryResult[]> {
    const { type, id, contactId, label, remove } = define.associationChange.parse(given);
    const record = this.#store.record(type, id);
    if (remove) this.#store.contactsOf.get(`${type}:${id}`)?.delete(contactId);
    else this.#store.associate(record, contactId, label);
    const associationType = `${type === 'tickets' ? 'TICKET' : 'DEAL'}_TO_CONTACT`;
    const more = {
      fromObjectId: id,
      toObjectId: contactId,
      associationType,
      associationRemoved: remove,
      isPrimaryAssociation: false,
    };
    return this.#announce({
      event: 'associationChange',
      object: type,
      objectId: id,
      source: someone,
      at: this.#now(),
      more,
    });
  }

  /** An app has one target. */
  setWebhook(given: Given<typeof define.webhookTarget>): WebhookTarget {
    const { subscriptions, secrets = [this.clientSecret], ...target } = define.webhookTarget.parse(given);
    const numbered = subscriptions.map((one) => ({ id: this.#nextSubscriptionId(), ...one }));
    this.#store.webhook = { ...target, secrets, subscriptions: numbered };
    return this.#store.webhook;
  }

  removeWebhook(): void {
    this.#store.webhook = undefined;
  }

  /** Delivers events as they are given, in one batch. */
  async fireWebhook(given: Given<typeof define.delivery>): Promise<DeliveryResult[]> {
    const { events } = define.delivery.parse(given);
    const target = this.#store.webhook;
    if (target === undefined) throw new ControlError('there is no webhook target');
    const [first] = await Promise.all(events.map((event) => this.#outbox.push(target, event)));
    return first === undefined ? [] : [first];
  }

  changeSender(given: Given<typeof define.senderChange>): SenderSettings {
    return Object.assign(this.#sender.settings, define.senderChange.parse(given));
  }

  changeSettings(given: Given<typeof define.settingsChange>): Settings {
    return Object.assign(this.#settings, define.settingsChange.parse(given));
  }

  record(type: ObjectType, id: number): RecordReport {
    const { properties, history, archived } = this.#store.record(type, id);
    const view = [...history].map(([name, items]) => [
      name,
      items.map((item) => ({ ...item, at: new Date(item.at).toISOString() })),
    ]);
    const contacts = [...(this.#store.contactsOf.get(`${type}:${id}`)?.keys() ?? [])];
    return {
      id,
      type,
      properties: Object.fromEntries(properties),
      history: Object.fromEntries(view),
      contacts,
      archived,
    };
  }

  /** Bodies of the notes on a record, oldest first. */
  notesOn(type: ObjectType, id: number): string[] {
    const record = this.#store.record(type, id);
    return this.#store.notes.filter(({ records }) => records.includes(record)).map(({ body }) => body);
  }

  ticket(id: number): RecordReport {
    return this.record('tickets', id);
  }

  records(): { type: ObjectType; id: number; archived: boolean }[] {
    return this.#store.all().map(({ type, id, archived }) => ({ type, id, archived }));
  }

  /** Resolves when no delivery is under way. */
  async idle(): Promise<void> {
    await this.#outbox.idle();
    await this.#sender.idle();
  }

  /** Back to the state right after construction. What is under way still ends. */
  reset(): void {
    this.#store = new Store();
    this.#settings = this.#openSettings();
    this.#limits = new RateLimits();
    this.#calls = [];
    this.#sender.settings = { ...this.#options.webhooks };
    this.faults.clear();
  }

  #now(): number {
    return (this.#options.now?.() ?? new Date()).getTime();
  }

  #openSettings(): Settings {
    const { rateLimit } = this.#options;
    return {
      per10s: rateLimit?.per10s ?? 190,
      daily: rateLimit?.daily ?? 625_000,
      scopes: null,
      requiredOnWrite: null,
      searchLagMs: 0,
      associationPage: 500,
    };
  }

  #nextSubscriptionId(): number {
    this.#subscriptionId += 1;
    return this.#subscriptionId;
  }

  /** @throws Problem 401 */
  #scopesFor(endpoint: string, req: StandinRequest): readonly string[] | null {
    if (endpoint.startsWith(introspection)) return null;
    return endpoint.startsWith(webhookApi) ? this.#developerScopes(req) : this.#scopesOf(req);
  }

  /** The key is all there is, and a token beside it is one too many. @throws Problem 401 */
  #developerScopes({ query, headers }: StandinRequest): null {
    const { developerApiKey = 'hubspot-developer-key' } = this.#options;
    if (query.get('hapikey') !== developerApiKey || headers.authorization !== undefined) throw unauthenticated();
    return null;
  }

  /** @throws Problem 401 */
  #scopesOf(req: StandinRequest): readonly string[] | null {
    const [scheme = '', token = ''] = (req.headers.authorization ?? '').split(' ');
    const tokens: Readonly<Record<string, readonly string[] | null>> = {
      [this.accessToken]: null,
      ...this.#options.tokens,
    };
    if (scheme.toLowerCase() === 'bearer' && this.oauth.knows(token, this.#now())) return this.#settings.scopes;
    if (scheme.toLowerCase() !== 'bearer' || !Object.hasOwn(tokens, token)) throw unauthenticated();
    return tokens[token] ?? this.#settings.scopes;
  }

  #add(type: ObjectType, given: Given<typeof define.recordDefinition>): CrmRecord {
    const definition = define.recordDefinition.parse(given);
    const { source = someone } = definition;
    const record = this.#store.add(type, definition, source, this.#now());
    void this.#announce({
      event: 'creation',
      object: type,
      objectId: record.id,
      source,
      at: this.#now(),
      more: { changeFlag: 'CREATED' },
    });
    return record;
  }

  #archive(given: Given<typeof define.recordAction>, archived: boolean): Promise<DeliveryResult[]> {
    const { type, id, source = someone } = define.recordAction.parse(given);
    const record = this.#store.record(type, id);
    if (record.archived === archived)
      throw new ControlError(`record ${id} is ${archived ? 'deleted' : 'there'} already`);
    record.archived = archived;
    const more = archived ? { changeFlag: 'DELETED' } : {};
    return this.#announce({
      event: archived ? 'deletion' : 'restore',
      object: type,
      objectId: id,
      source,
      at: this.#now(),
      more,
    });
  }

  #stageWhere(type: ObjectType, id: number, closed: boolean): string {
    const current = this.#store.record(type, id).properties.get(stageProperty[type] ?? '') ?? '';
    const all = this.#store.pipelines[type];
    const own = all.find((pipeline) => pipeline.stages.some((stage) => stage.id === current)) ?? all[0];
    const found = own?.stages.find((stage) => (stage.metadata.isClosed === 'true') === closed);
    if (found === undefined) throw new ControlError(`${type} have no ${closed ? 'closed' : 'open'} stage`);
    return found.id;
  }

  async #changed(record: CrmRecord, names: readonly string[], source: Source): Promise<DeliveryResult[]> {
    const results = names.map((propertyName) =>
      this.#announce({
        event: 'propertyChange',
        object: record.type,
        objectId: record.id,
        source,
        at: record.updatedAt,
        propertyName,
        sensitive: this.#store.properties[record.type].get(propertyName)?.sensitive === true,
        more: { propertyValue: record.properties.get(propertyName) ?? '' },
      }),
    );
    return (await Promise.all(results)).flat();
  }

  #announce(occurrence: Occurrence): Promise<DeliveryResult[]> {
    return Promise.all(this.#outbox.announce(this.#store.webhook, occurrence));
  }
}

export function createHubspotStandin(options: HubspotStandinOptions = {}): HubspotStandin {
  return new HubspotStandin(options);
}

/** The same over HTTP; `url` stands for `https://api.hubapi.com`. */
export async function startHubspotStandin(
  options: HubspotStandinOptions & { port?: number } = {},
): Promise<StandinServer & { standin: HubspotStandin }> {
  const standin = createHubspotStandin(options);
  const server = await serve(standin.handle, {
    faults: standin.faults,
    ...(options.port === undefined ? {} : { port: options.port }),
  });
  return { ...server, standin };
}

function realSleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
