import { randomBytes } from 'node:crypto';
import { type Given, held } from '../kit/control.ts';
import { VendorStandin } from '../kit/vendor-standin.ts';
import type { NewWebhook } from './context.ts';
import type { Rule } from './definitions.ts';
import * as define from './definitions.ts';
import {
  type Admin,
  type CustomObject,
  type Group,
  type KeyedField,
  type ObjectRecord,
  type Organization,
  openSettings,
  type Settings,
  type TicketField,
  type User,
  type Webhook,
  type ZendeskStandinOptions,
} from './definitions.ts';
import { apiUserId, Store } from './store.ts';
import { callsOf, eventPrefix, zendeskRetries } from './webhooks.ts';

/** What an admin sets up in an account: users, fields, rules, webhooks, settings. */
export abstract class ZendeskAccount extends VendorStandin {
  protected readonly store: Store;

  constructor(options: ZendeskStandinOptions) {
    super(zendeskRetries, options);
    this.store = new Store(openSettings(options), this.now());
  }

  addUser(given: Given<typeof define.userDefinition> = {}): User {
    return this.store.addUser(define.userDefinition.parse(given), this.now());
  }

  changeUser(given: Given<typeof define.userChange>): User {
    const { id, ...changes } = define.userChange.parse(given);
    const named = Object.entries(changes).filter(([key, value]) => value !== undefined && Object.hasOwn(given, key));
    return Object.assign(this.store.user(id), Object.fromEntries(named), { updatedAt: this.now() });
  }

  user(id: number): User {
    return this.store.user(id);
  }

  addUserField(given: Given<typeof define.keyedField>): KeyedField {
    return this.store.addUserField(define.keyedField.parse(given));
  }

  addGroup(given: Given<typeof define.groupDefinition>): Group {
    return this.store.addGroup(define.groupDefinition.parse(given));
  }

  addOrganization(given: Given<typeof define.organizationDefinition>): Organization {
    return this.store.addOrganization(define.organizationDefinition.parse(given));
  }

  addTicketField(given: Given<typeof define.fieldDefinition>): TicketField {
    return this.store.addField(define.fieldDefinition.parse(given));
  }

  /** A field as it is stored, for a test to spoil. */
  ticketField(id: number): TicketField {
    return held(this.store.fields, id, 'ticket field');
  }

  addCustomObject(given: Given<typeof define.customObject>): CustomObject {
    const { key, title, fields } = define.customObject.parse(given);
    const object = { key, title, fields: fields.map((field) => this.store.numbered(field)) };
    this.store.admin.customObjects.set(key, object);
    return object;
  }

  /** Records of a custom object. */
  objectRecords(key: string): ObjectRecord[] {
    return [...this.store.records.values()].filter(({ object }) => object === key);
  }

  addBrand(given: Given<typeof define.named>): number {
    const { id = this.store.nextId(), name } = define.named.parse(given);
    this.store.brands.set(id, name);
    return id;
  }

  addCustomStatus(given: Given<typeof define.customStatus>): number {
    const { id = this.store.nextId(), name, category } = define.customStatus.parse(given);
    this.store.customStatuses.set(id, { category, label: name });
    return id;
  }

  addTrigger(given: Given<typeof define.rule>): Rule {
    const rule = { id: this.store.nextId(), ...define.rule.parse(given) };
    this.store.admin.triggers.push(rule);
    return rule;
  }

  addAutomation(given: Given<typeof define.rule>): Rule {
    const rule = { id: this.store.nextId(), ...define.rule.parse(given) };
    this.store.admin.automations.push(rule);
    return rule;
  }

  /** The account as it is stored, for a test to look into and to spoil. */
  get admin(): Admin {
    return this.store.admin;
  }

  /** Replaces all webhooks by this webhook, with the trigger that calls it. */
  setWebhook(given: Given<typeof define.webhookTarget>): Webhook {
    this.removeWebhooks();
    return this.addWebhook(given);
  }

  addWebhook(given: Given<typeof define.webhookTarget>): Webhook {
    const target = define.webhookTarget.parse(given);
    const { name, url, active, secrets, style, subscriptions, template, statuses, httpMethod } = target;
    const prefixed = subscriptions.map((event) => (event.startsWith(eventPrefix) ? event : `${eventPrefix}${event}`));
    const webhook = this.createWebhook({
      name,
      url,
      active,
      secrets,
      httpMethod,
      requestFormat: 'json',
      subscriptions: style === 'event' ? prefixed : ['conditional_ticket_events'],
    });
    if (style === 'trigger') {
      this.addTrigger({
        title: `Call ${name}`,
        conditions: { any: statuses.map((value) => ({ field: 'status', operator: 'value', value })) },
        actions: [{ field: 'notification_webhook', value: [webhook.id, template] }],
      });
    }
    return webhook;
  }

  removeWebhooks(): void {
    const { admin } = this.store;
    admin.triggers = admin.triggers.filter((trigger) => callsOf(trigger).length === 0);
    this.store.webhooks = [];
  }

  get webhooks(): readonly Webhook[] {
    return this.store.webhooks;
  }

  changeSettings(given: Given<typeof define.settingsChange>): Settings {
    const { apiRole, admin, ...settings } = define.settingsChange.parse(given);
    if (apiRole !== undefined) this.store.user(apiUserId).role = apiRole;
    Object.assign(this.store.admin.settings, admin);
    return Object.assign(this.store.settings, settings);
  }

  protected createWebhook(given: NewWebhook): Webhook {
    const id = `01${randomBytes(12).toString('hex').toUpperCase()}`;
    const webhook: Webhook = { id, turn: 0, invocations: [], ...given };
    this.store.webhooks.push(webhook);
    return webhook;
  }
}
