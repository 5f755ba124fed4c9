import { ControlError, type Given } from '../kit/control.ts';
import { VendorStandin } from '../kit/vendor-standin.ts';
import type { DeliveryResult } from '../kit/webhook-sender.ts';
import * as define from './definitions.ts';
import {
  type CrmRecord,
  type EngagementKind,
  type HubspotStandinOptions,
  type ObjectType,
  type Owner,
  openSettings,
  type Pipeline,
  type Property,
  type Settings,
  type Source,
  stageProperty,
  type WebhookTarget,
} from './definitions.ts';
import { OAuthGrant } from './oauth.ts';
import { Store } from './store.ts';
import { shuffled } from './views.ts';
import { hubspotRetries, type Occurrence, Outbox } from './webhooks.ts';

/** Everything about one record, for a test to look at. */
interface RecordReport {
  id: number;
  type: ObjectType;
  properties: Record<string, string>;
  history: Record<string, { value: string; at: string; changeSource: string; sourceId: string }[]>;
  contacts: number[];
  archived: boolean;
}

const someone: Source = { changeSource: 'CRM_UI', sourceId: 'userId:98499705' };

/**
 * The account and the app as they are set up, and what people do with tickets, deals and contacts. Every change is sent to the webhooks.
 */
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

  addTicket(given: Given<typeof define.recordDefinition> = {}): CrmRecord {
    return this.#add('tickets', given);
  }

  addDeal(given: Given<typeof define.recordDefinition> = {}): CrmRecord {
    return this.#add('deals', given);
  }

  addContact(given: Given<typeof define.recordDefinition> = {}): CrmRecord {
    return this.#add('contacts', given);
  }

  record(type: ObjectType, id: number): RecordReport {
    const { properties, history, archived } = this.store.record(type, id);
    const view = [...history].map(([name, items]) => [
      name,
      items.map((item) => ({ ...item, at: new Date(item.at).toISOString() })),
    ]);
    const contacts = [...(this.store.contactsOf.get(`${type}:${id}`)?.keys() ?? [])];
    return {
      id,
      type,
      properties: Object.fromEntries(properties),
      history: Object.fromEntries(view),
      contacts,
      archived,
    };
  }

  ticket(id: number): RecordReport {
    return this.record('tickets', id);
  }

  records(): { type: ObjectType; id: number; archived: boolean }[] {
    return this.store.all().map(({ type, id, archived }) => ({ type, id, archived }));
  }

  /** Bodies of the notes on a record, oldest first. */
  notesOn(type: ObjectType, id: number): string[] {
    return this.#engagementsOn('notes', type, id).map(({ hs_note_body = '' }) => hs_note_body);
  }

  /** The properties of the tasks on a record, oldest first. */
  tasksOn(type: ObjectType, id: number): Readonly<Record<string, string>>[] {
    return this.#engagementsOn('tasks', type, id);
  }

  #engagementsOn(kind: EngagementKind, type: ObjectType, id: number) {
    const record = this.store.record(type, id);
    const all = this.store.engagements.filter((one) => one.kind === kind && one.records.includes(record));
    return all.map(({ properties }) => properties);
  }

  /** Sets properties as a person would, unless `source` says otherwise. */
  change(given: Given<typeof define.recordChange>): Promise<DeliveryResult[]> {
    const { type, id, properties, source = someone } = define.recordChange.parse(given);
    const record = this.store.record(type, id);
    const unknown = Object.keys(properties).find((name) => !this.store.properties[type].has(name));
    if (unknown !== undefined) throw new ControlError(`${type} have no property "${unknown}"`);
    const now = this.now();
    const names = Object.entries(properties).filter(([name, value]) =>
      this.store.write(record, name, value, source, now),
    );
    this.store.touch(record, source, now);
    return this.changed(
      record,
      names.map(([name]) => name),
      source,
    );
  }

  setStage(given: Given<typeof define.stageChange>): Promise<DeliveryResult[]> {
    const { type, id, stage, source } = define.stageChange.parse(given);
    const property = stageProperty[type];
    if (property === undefined || this.store.stage(type, stage) === undefined)
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

  /**
   * The result is a new record; the old ids lead to that record, their associations are gone. Results of the deliveries come with `idle`.
   */
  merge(given: Given<typeof define.mergeAction>): { id: number; deliveries: Promise<DeliveryResult[]> } {
    const { type, primary, merged, source = someone } = define.mergeAction.parse(given);
    const ids = [primary, ...merged];
    if (new Set(ids).size < ids.length) throw new ControlError('a record is not merged with itself');
    const records = ids.map((id) => this.store.record(type, id));
    if (records.some((record) => record.archived)) throw new ControlError('a deleted record is not merged');
    const all = Object.fromEntries(records.toReversed().flatMap((record) => [...record.properties]));
    const known = Object.fromEntries(Object.entries(all).filter(([name]) => this.store.properties[type].has(name)));
    const now = this.now();
    const record = this.store.add(type, { properties: known, contacts: [] }, source, now);
    this.store.leadTo(record, records);
    const more = {
      primaryObjectId: primary,
      mergedObjectIds: merged,
      newObjectId: record.id,
      numberOfPropertiesMoved: Object.keys(known).length,
    };
    return {
      id: record.id,
      deliveries: this.announce({ event: 'merge', object: type, objectId: primary, source, at: now, more }),
    };
  }

  deleteRecord(given: Given<typeof define.recordAction>): Promise<DeliveryResult[]> {
    const { type, id, source = someone } = define.recordAction.parse(given);
    const record = this.store.record(type, id);
    if (record.archived) throw new ControlError(`record ${id} is deleted already`);
    record.archived = true;
    const more = { changeFlag: 'DELETED' };
    return this.announce({ event: 'deletion', object: type, objectId: id, source, at: this.now(), more });
  }

  /** Erases a contact for good: privacyDeletion and deletion, in this order or not. */
  async privacyDelete(id: number): Promise<DeliveryResult[]> {
    this.store.record('contacts', id);
    this.store.records.contacts.delete(id);
    for (const contacts of this.store.contactsOf.values()) contacts.delete(id);
    const common = { object: 'contacts', objectId: id, source: someone, at: this.now() } as const;
    const both = shuffled(['privacyDeletion', 'deletion'] as const, this.random);
    const results = both.map((event) => this.announce({ ...common, event, more: { changeFlag: 'DELETED' } }));
    return (await Promise.all(results)).flat();
  }

  associate(given: Given<typeof define.associationChange>): Promise<DeliveryResult[]> {
    const { type, id, contactId, label, remove } = define.associationChange.parse(given);
    const record = this.store.record(type, id);
    if (remove) this.store.contactsOf.get(`${type}:${id}`)?.delete(contactId);
    else this.store.associate(record, contactId, label);
    const associationType = `${type === 'tickets' ? 'TICKET' : 'DEAL'}_TO_CONTACT`;
    const more = {
      fromObjectId: id,
      toObjectId: contactId,
      associationType,
      associationRemoved: remove,
      isPrimaryAssociation: false,
    };
    return this.announce({
      event: 'associationChange',
      object: type,
      objectId: id,
      source: someone,
      at: this.now(),
      more,
    });
  }

  protected async changed(record: CrmRecord, names: readonly string[], source: Source): Promise<DeliveryResult[]> {
    const results = names.map((propertyName) =>
      this.announce({
        event: 'propertyChange',
        object: record.type,
        objectId: record.id,
        source,
        at: record.updatedAt,
        propertyName,
        sensitive: this.store.properties[record.type].get(propertyName)?.sensitive === true,
        more: { propertyValue: record.properties.get(propertyName) ?? '' },
      }),
    );
    return (await Promise.all(results)).flat();
  }

  #add(type: ObjectType, given: Given<typeof define.recordDefinition>): CrmRecord {
    const definition = define.recordDefinition.parse(given);
    const { source = someone } = definition;
    const record = this.store.add(type, definition, source, this.now());
    void this.announce({
      event: 'creation',
      object: type,
      objectId: record.id,
      source,
      at: this.now(),
      more: { changeFlag: 'CREATED' },
    });
    return record;
  }

  #stageWhere(type: ObjectType, id: number, closed: boolean): string {
    const current = this.store.record(type, id).properties.get(stageProperty[type] ?? '') ?? '';
    const all = this.store.pipelines[type];
    const own = all.find((pipeline) => pipeline.stages.some((stage) => stage.id === current)) ?? all[0];
    const found = own?.stages.find((stage) => (stage.metadata.isClosed === 'true') === closed);
    if (found === undefined) throw new ControlError(`${type} have no ${closed ? 'closed' : 'open'} stage`);
    return found.id;
  }
}
