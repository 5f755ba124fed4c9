import { randomBytes } from 'node:crypto';
import { ControlError, type Given, held } from '../kit/control.ts';
import { Problem } from '../kit/message.ts';
import { VendorStandin } from '../kit/vendor-standin.ts';
import type { DeliveryResult } from '../kit/webhook-sender.ts';
import type { NewWebhook } from './context.ts';
import * as define from './definitions.ts';
import {
  type Admin,
  type CustomObject,
  type Group,
  type Happening,
  type KeyedField,
  type ObjectRecord,
  type Organization,
  openSettings,
  type Rule,
  type Settings,
  type Status,
  type Ticket,
  type TicketField,
  type User,
  type Webhook,
  type ZendeskStandinOptions,
} from './definitions.ts';
import { apiUserId, Store } from './store.ts';
import { type Actor, changeTicket, type Patch } from './ticket-change.ts';
import { viewAudit, viewMetricSet, viewTicket } from './views.ts';
import { callsOf, eventPrefix, fire, type Occasion, zendeskRetries } from './webhooks.ts';

/** Everything about one ticket: as the API shows it, and what happened to it. */
interface TicketReport {
  ticket: object;
  metric_set: object;
  tags: string[];
  /** Custom field values by id; fields without a value are left out. */
  fields: Record<string, unknown>;
  audits: object[];
  /** Public comments by staff, each of which mails the requester. */
  mails: number;
}

/** The account as an admin sets it up, and what agents and customers do with tickets. Every change is sent to the webhooks. */
export abstract class ZendeskAccount extends VendorStandin {
  readonly accountId: number;
  protected readonly store: Store;
  readonly #wallClock: () => Date;

  constructor(options: ZendeskStandinOptions) {
    super(zendeskRetries, options);
    this.store = new Store(openSettings(options), this.now());
    this.accountId = options.accountId ?? 7_654_321;
    this.#wallClock = options.wallClock ?? (() => new Date());
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

  addTicket(given: Given<typeof define.ticketDefinition>): Ticket {
    const ticket = this.store.addTicket(define.ticketDefinition.parse(given), this.now());
    void this.announce(ticket, ticket.submitterId, [{ type: 'created', event: {} }]);
    return ticket;
  }

  ticket(id: number): TicketReport {
    const ticket = this.store.ticket(id);
    return {
      ticket: viewTicket(this.store, ticket, ''),
      metric_set: viewMetricSet(ticket, ''),
      tags: [...ticket.tags],
      fields: Object.fromEntries(ticket.fields),
      audits: ticket.audits.map(viewAudit),
      mails: this.store.mails.filter((mail) => mail.ticketId === id).length,
    };
  }

  tickets(): { id: number; status: Status; subject: string }[] {
    return [...this.store.tickets.values()].map(({ id, status, subject }) => ({ id, status, subject }));
  }

  setStatus(given: Given<typeof define.statusAction>): Promise<DeliveryResult[]> {
    const { id, status, actorId } = define.statusAction.parse(given);
    const ticket = this.store.ticket(id);
    const agent = actorId ?? ticket.assigneeId ?? this.#someAgent();
    const needsAssignee = status === 'solved' && ticket.assigneeId === null;
    return this.#act(
      id,
      { status, ...(needsAssignee ? { assigneeId: agent } : {}) },
      { userId: agent, channel: 'web' },
    );
  }

  /** Solves as an agent would: a ticket nobody has is taken by the actor, or the first agent there is. */
  solve(id: number, actorId?: number): Promise<DeliveryResult[]> {
    return this.setStatus({ id, status: 'solved', ...(actorId === undefined ? {} : { actorId }) });
  }

  reopen(id: number, actorId?: number): Promise<DeliveryResult[]> {
    return this.setStatus({ id, status: 'open', ...(actorId === undefined ? {} : { actorId }) });
  }

  /** Closes as the standard automation does (from solved), or directly. No update is possible afterwards. */
  close(id: number): Promise<DeliveryResult[]> {
    return this.#act(id, { status: 'closed' }, { userId: -1, channel: 'system' });
  }

  /** Changes the status as well where the custom status belongs to another category. */
  async setCustomStatus(given: Given<typeof define.customStatusAction>): Promise<DeliveryResult[]> {
    const { id, customStatusId, actorId } = define.customStatusAction.parse(given);
    const ticket = this.store.ticket(id);
    const category = this.store.customStatuses.get(customStatusId)?.category;
    if (category === undefined) throw new ControlError(`there is no custom status ${customStatusId}`);
    const moved = category === ticket.status ? [] : await this.setStatus({ id, status: category });
    const event = { current: String(customStatusId), previous: String(ticket.customStatusId) };
    ticket.customStatusId = customStatusId;
    ticket.updatedAt = ticket.generatedAt = this.now();
    const agent = actorId ?? this.#someAgent();
    return [...moved, ...(await this.announce(ticket, agent, [{ type: 'custom_status_changed', event }]))];
  }

  comment(given: Given<typeof define.commentAction>): Promise<DeliveryResult[]> {
    const { id, authorId, ...comment } = define.commentAction.parse(given);
    return this.#act(id, { comment: { ...comment, authorId } }, { userId: authorId, channel: 'web' });
  }

  edit(given: Given<typeof define.ticketEdit>): Promise<DeliveryResult[]> {
    const { id, actorId, ...change } = define.ticketEdit.parse(given);
    if (change.requesterId !== undefined) this.store.user(change.requesterId);
    return this.#act(id, change, { userId: actorId ?? this.#someAgent(), channel: 'web' });
  }

  /** Replaces the tags. */
  setTags(given: Given<typeof define.tagAction>): Promise<DeliveryResult[]> {
    const { id, tags, actorId } = define.tagAction.parse(given);
    return this.#act(id, { tags }, { userId: actorId ?? this.#someAgent(), channel: 'web' });
  }

  setField(given: Given<typeof define.fieldAction>): Promise<DeliveryResult[]> {
    const { id, fieldId, value, actorId } = define.fieldAction.parse(given);
    return this.#act(
      id,
      { fields: [{ id: fieldId, value }] },
      { userId: actorId ?? this.#someAgent(), channel: 'web' },
    );
  }

  /** Merges an unsolved ticket into another: the source is closed and tagged, and what the events show of its tags lags behind. */
  merge(given: Given<typeof define.mergeAction>): Promise<DeliveryResult[]> {
    const { id, into, actorId } = define.mergeAction.parse(given);
    const ticket = this.store.ticket(id);
    this.store.ticket(into);
    if (ticket.status === 'solved' || ticket.status === 'closed')
      throw new ControlError(`ticket ${id} is ${ticket.status}: it can't be merged away`);
    const tags = [...ticket.tags];
    const userId = actorId ?? this.#someAgent();
    const { happened } = changeTicket(
      this.store,
      ticket,
      { status: 'closed', addTags: ['closed_by_merge'] },
      { userId, channel: 'system' },
      this.now(),
    );
    return this.announce(ticket, userId, [...happened, { type: 'merged', event: { target_ticket_id: String(into) } }], {
      tags,
    });
  }

  deleteTicket(id: number, actorId?: number): Promise<DeliveryResult[]> {
    return this.#remove(id, 'deleted', 'soft_deleted', actorId);
  }

  /** Takes a soft-deleted ticket back as it was. */
  restore(id: number, actorId?: number): Promise<DeliveryResult[]> {
    return this.#remove(id, 'no', 'undeleted', actorId);
  }

  /** Suspends the requester, too. */
  markAsSpam(id: number, actorId?: number): Promise<DeliveryResult[]> {
    this.changeUser({ id: this.store.ticket(id).requesterId, suspended: true });
    return this.#remove(id, 'spam', 'marked_as_spam', actorId);
  }

  /** A reply to a closed ticket: a new ticket, with the tags of the closed ticket. */
  followUp(id: number): Ticket {
    const { status, tags, requesterId, brandId, formId, followUpIds } = this.store.ticket(id);
    if (status !== 'closed') throw new ControlError(`ticket ${id} is ${status}: it has no follow-up`);
    const made = this.addTicket({ status: 'new', rel: 'follow_up', tags: [...tags], requesterId, brandId, formId });
    followUpIds.push(made.id);
    return made;
  }

  /** The form of the event is not documented: score and comment stand where the connector assumes them. */
  async rate(given: Given<typeof define.ratingAction>): Promise<DeliveryResult[]> {
    const { id, score, comment } = define.ratingAction.parse(given);
    const ticket = this.store.ticket(id);
    if (ticket.status !== 'solved') throw new ControlError(`ticket ${id} is not solved: nobody can rate it`);
    const event = { satisfaction_score: { score: score.toUpperCase(), comment } };
    return await this.announce(ticket, ticket.requesterId, [{ type: 'csat_received', event }]);
  }

  /** Blacks out all comments in which a text occurs; what the changes are marked with stays. */
  redact(id: number, text: string): void {
    for (const event of this.store.ticket(id).audits.flatMap(({ events }) => events)) {
      if (event.type !== 'Comment' || !String(event.body).includes(text)) continue;
      Object.assign(event, { body: '▇▇▇▇', html_body: '▇▇▇▇', plain_body: '▇▇▇▇' });
    }
  }

  /** Sends an event without anything having happened: a second time, out of order, or made up. To subscribed webhooks only. */
  fireWebhook(given: Given<typeof define.delivery>): Promise<DeliveryResult[]> {
    const { type, id, event, eventId, actorId } = define.delivery.parse(given);
    const ticket = this.store.ticket(id);
    const what = {
      type: type.replace(eventPrefix, '').replace(/^ticket\./, ''),
      event: event ?? { current: ticket.status.toUpperCase(), previous: 'OPEN' },
    };
    return this.announce(
      ticket,
      actorId ?? ticket.assigneeId ?? this.#someAgent(),
      [what],
      eventId === undefined ? {} : { eventId },
    );
  }

  protected announce(
    ticket: Ticket,
    actorId: number,
    happened: readonly Happening[],
    more: Pick<Occasion, 'tags' | 'eventId'> = {},
  ): Promise<DeliveryResult[]> {
    const occasion: Occasion = { ticket, actorId, at: this.now(), happened, ...more };
    const { webhooks, admin } = this.store;
    const ports = { sender: this.sender, accountId: this.accountId, random: this.random, wallClock: this.#wallClock };
    return Promise.all(fire({ webhooks, triggers: admin.triggers }, occasion, ports));
  }

  #act(id: number, patch: Patch, actor: Actor): Promise<DeliveryResult[]> {
    const ticket = this.store.ticket(id);
    try {
      const { happened } = changeTicket(this.store, ticket, patch, actor, this.now());
      return this.announce(ticket, actor.userId, happened);
    } catch (error) {
      if (error instanceof Problem) throw new ControlError(`ticket ${id}: ${JSON.stringify(error.response.body)}`);
      throw error;
    }
  }

  #remove(id: number, gone: Ticket['gone'], type: string, actorId?: number): Promise<DeliveryResult[]> {
    const ticket = this.store.ticket(id);
    ticket.gone = gone;
    ticket.updatedAt = this.now();
    ticket.generatedAt = ticket.updatedAt;
    return this.announce(ticket, actorId ?? this.#someAgent(), [{ type, event: {} }]);
  }

  #someAgent(): number {
    return (
      [...this.store.users.values()].find((user) => user.role !== 'end-user' && user.id !== apiUserId)?.id ?? apiUserId
    );
  }
}
