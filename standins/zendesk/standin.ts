import { randomBytes, randomUUID } from 'node:crypto';
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
import { accountRoutes } from './account-endpoints.ts';
import type { Admin, CustomObject, KeyedField } from './admin.ts';
import { authenticate, type Credentials, issueToken } from './auth.ts';
import type { Context, NewWebhook } from './context.ts';
import { createZendeskControl } from './control.ts';
import { customObjectRoutes } from './custom-object-endpoints.ts';
import * as define from './definitions.ts';
import { fieldRoutes } from './field-endpoints.ts';
import { Jobs } from './jobs.ts';
import type { Audit, Group, Organization, Status, Ticket, TicketField, User, Webhook } from './model.ts';
import { nameRoutes } from './name-endpoints.ts';
import { otherRoutes } from './other-endpoints.ts';
import { invalidEndpoint, Problem } from './problem.ts';
import { type Limit, RateLimits } from './rate-limits.ts';
import { type ObjectRecord, recordRoutes } from './record-endpoints.ts';
import { ruleRoutes } from './rule-endpoints.ts';
import { callsOf, type Rule } from './rules.ts';
import { apiUserId, type Settings, Store } from './store.ts';
import { type Actor, changeTicket, type Happening, type Patch } from './ticket-change.ts';
import { ticketRoutes } from './ticket-endpoints.ts';
import { userRoutes } from './user-endpoints.ts';
import { viewAudit, viewMetricSet, viewTicket } from './views.ts';
import { webhookRoutes } from './webhook-endpoints.ts';
import { eventPrefix, fire, type Occasion, zendeskRetries } from './webhooks.ts';

export interface ZendeskStandinOptions {
  /** The account's clock: records, tokens, limits. Left out: the system's. */
  now?: () => Date;
  /** For the signatures' timestamps. Left out: the system's. */
  wallClock?: () => Date;
  /** 0 ≤ x < 1 */
  random?: () => number;
  sleep?: (ms: number) => Promise<void>;
  fetch?: typeof globalThis.fetch;
  /** Calls of the account per minute (default 700, plan Enterprise) and PUTs on tickets (default 100). */
  rateLimit?: { perMinute?: number; ticketUpdatesPerMinute?: number };
  /** Default client `closeloop`, secret `zendesk-client-secret`, token `zendesk-api-token` of integration@example.com. */
  credentials?: Partial<Credentials>;
  accountId?: number;
  webhooks?: SenderSettings;
  jobs?: { queuedMs?: number; workingMs?: number };
}

type Given<Schema extends z.ZodType> = z.input<Schema>;

/** Everything about one ticket: as the API shows it, and what happened to it. */
export interface TicketReport {
  ticket: object;
  metric_set: object;
  tags: string[];
  /** Custom field values by id; fields without a value are left out. */
  fields: Record<string, unknown>;
  audits: object[];
  /** Public comments by staff, each of which mails the requester. */
  mails: number;
}

/**
 * The stand-in of one Zendesk account. Its API under `/api/v2` and `/oauth/tokens`, its control surface under `/_control`
 * (control.ts), the same as methods here. These take what definitions.ts describes; they throw a ControlError for what
 * isn't there, a ZodError for what is malformed. Built from the facts, not from the connector.
 */
export class ZendeskStandin {
  readonly faults = new FaultQueue();
  readonly credentials: Credentials;
  readonly accountId: number;
  readonly #options: ZendeskStandinOptions;
  readonly #sender: WebhookSender;
  readonly #control: (req: StandinRequest) => Promise<StandinResponse>;
  readonly #find = createRouter<Context>([
    ...ticketRoutes,
    ...otherRoutes,
    ...fieldRoutes,
    ...webhookRoutes,
    ...ruleRoutes,
    ...accountRoutes,
    ...nameRoutes,
    ...userRoutes,
    ...recordRoutes,
    ...customObjectRoutes,
  ]);
  #store: Store;
  #jobs = new Jobs();
  #limits = new RateLimits();
  #calls: Call[] = [];

  constructor(options: ZendeskStandinOptions = {}) {
    this.#options = options;
    this.accountId = options.accountId ?? 7_654_321;
    this.credentials = {
      clientId: 'closeloop',
      clientSecret: 'zendesk-client-secret',
      apiToken: 'zendesk-api-token',
      ...options.credentials,
    };
    const ports = {
      fetch: options.fetch ?? globalThis.fetch,
      random: options.random ?? Math.random,
      sleep: this.#sleep,
    };
    this.#sender = createWebhookSender(zendeskRetries, ports, { ...options.webhooks });
    this.#control = createZendeskControl(this);
    this.#store = this.#openStore();
  }

  /** Bound, so that it can be handed on. Not for HEAD or OPTIONS. */
  readonly handle = async (req: StandinRequest): Promise<StandinResponse> => {
    if (req.path.startsWith('/_control/')) return this.#control(req);
    const now = this.#now();
    const path = req.path.endsWith('.json') ? req.path.slice(0, -'.json'.length) : req.path;
    const found = this.#find(req.method, path);
    const endpoint = found?.endpoint ?? (path === '/oauth/tokens' ? path : req.path);
    this.#calls.push({ method: req.method, path: endpoint, at: new Date(now) });
    const requestId = randomUUID();
    const headers: Record<string, string> = {
      'x-request-id': requestId,
      'x-zendesk-request-id': requestId.slice(0, 8),
    };
    try {
      if (path === '/oauth/tokens' && req.method === 'POST')
        return merge(issueToken(this.#store, this.credentials, req, now), headers);
      const user = authenticate(this.#store, this.credentials, req, resourceOf(path), now);
      const limit = (limits: readonly Limit[]): void => void Object.assign(headers, this.#limits.take(limits, now));
      limit([{ key: 'account', limit: this.#store.settings.perMinute, windowMs: 60_000, what: 'API requests' }]);
      if (found === undefined) return merge(invalidEndpoint(), headers);
      const context: Context = {
        req,
        store: this.#store,
        jobs: this.#jobs,
        user,
        base: `http://${req.headers.host ?? 'zendesk.test'}`,
        now,
        clock: () => this.#now(),
        sleep: this.#sleep,
        announce: (ticket, actorId, happened) => void this.#announce(ticket, actorId, happened),
        addWebhook: (given) => this.#addWebhook(given),
        limit,
      };
      return merge(await found.route.answer(context, found.params), headers);
    } catch (error) {
      if (error instanceof Problem) return merge(error.response, headers);
      throw error;
    }
  };

  get calls(): readonly Call[] {
    return this.#calls;
  }

  /** Calls per endpoint, refused ones included, keyed `GET /api/v2/tickets/show_many`. */
  callCounts(): Record<string, number> {
    return countCalls(this.#calls);
  }

  totalCalls(): number {
    return this.#calls.length;
  }

  clearCalls(): void {
    this.#calls = [];
  }

  addUser(given: Given<typeof define.userDefinition> = {}): User {
    return this.#store.addUser(define.userDefinition.parse(given), this.#now());
  }

  changeUser(given: Given<typeof define.userChange>): User {
    const { id, ...changes } = define.userChange.parse(given);
    const named = Object.entries(changes).filter(([key, value]) => value !== undefined && Object.hasOwn(given, key));
    return Object.assign(this.#store.user(id), Object.fromEntries(named), { updatedAt: this.#now() });
  }

  addGroup(given: Given<typeof define.groupDefinition>): Group {
    return this.#store.addGroup(define.groupDefinition.parse(given));
  }

  addOrganization(given: Given<typeof define.organizationDefinition>): Organization {
    return this.#store.addOrganization(define.organizationDefinition.parse(given));
  }

  addTicketField(given: Given<typeof define.fieldDefinition>): TicketField {
    return this.#store.addField(define.fieldDefinition.parse(given));
  }

  addTicket(given: Given<typeof define.ticketDefinition>): Ticket {
    const ticket = this.#store.addTicket(define.ticketDefinition.parse(given), this.#now());
    void this.#announce(ticket, ticket.submitterId, [{ type: 'created', event: {} }]);
    return ticket;
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

  setStatus(given: Given<typeof define.statusAction>): Promise<DeliveryResult[]> {
    const { id, status, actorId } = define.statusAction.parse(given);
    const ticket = this.#store.ticket(id);
    const agent = actorId ?? ticket.assigneeId ?? this.#someAgent();
    const needsAssignee = status === 'solved' && ticket.assigneeId === null;
    return this.#act(
      id,
      { status, ...(needsAssignee ? { assigneeId: agent } : {}) },
      { userId: agent, channel: 'web' },
    );
  }

  comment(given: Given<typeof define.commentAction>): Promise<DeliveryResult[]> {
    const { id, authorId, ...comment } = define.commentAction.parse(given);
    return this.#act(id, { comment: { ...comment, authorId } }, { userId: authorId, channel: 'web' });
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
    const ticket = this.#store.ticket(id);
    this.#store.ticket(into);
    if (ticket.status === 'solved' || ticket.status === 'closed')
      throw new ControlError(`ticket ${id} is ${ticket.status}: it can't be merged away`);
    const tags = [...ticket.tags];
    const userId = actorId ?? this.#someAgent();
    const { happened } = changeTicket(
      this.#store,
      ticket,
      { status: 'closed', addTags: ['closed_by_merge'] },
      { userId, channel: 'system' },
      this.#now(),
    );
    return this.#announce(
      ticket,
      userId,
      [...happened, { type: 'merged', event: { target_ticket_id: String(into) } }],
      { tags },
    );
  }

  deleteTicket(id: number, actorId?: number): Promise<DeliveryResult[]> {
    return this.#remove(id, 'deleted', 'soft_deleted', actorId);
  }

  deletePermanently(id: number, actorId?: number): Promise<DeliveryResult[]> {
    return this.#remove(id, 'deleted', 'permanently_deleted', actorId);
  }

  /** Takes a soft-deleted ticket back as it was. */
  restore(id: number, actorId?: number): Promise<DeliveryResult[]> {
    return this.#remove(id, 'no', 'undeleted', actorId);
  }

  /** A reply to a closed ticket: a new one, with its tags. */
  followUp(id: number): Ticket {
    const { status, tags, requesterId, brandId, formId } = this.#store.ticket(id);
    if (status !== 'closed') throw new ControlError(`ticket ${id} is ${status}: it has no follow-up`);
    return this.addTicket({ status: 'new', rel: 'follow_up', tags: [...tags], requesterId, brandId, formId });
  }

  /** Suspends the requester, too. */
  markAsSpam(id: number, actorId?: number): Promise<DeliveryResult[]> {
    this.changeUser({ id: this.#store.ticket(id).requesterId, suspended: true });
    return this.#remove(id, 'spam', 'marked_as_spam', actorId);
  }

  /** Replaces all webhooks by this one, with the trigger that calls it. */
  setWebhook(given: Given<typeof define.webhookTarget>): Webhook {
    this.removeWebhooks();
    return this.addWebhook(given);
  }

  addWebhook(given: Given<typeof define.webhookTarget>): Webhook {
    const target = define.webhookTarget.parse(given);
    const { name, url, active, secrets, style, subscriptions, template, statuses, httpMethod } = target;
    const prefixed = subscriptions.map((event) => (event.startsWith(eventPrefix) ? event : `${eventPrefix}${event}`));
    const webhook = this.#addWebhook({
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
    const { admin } = this.#store;
    admin.triggers = admin.triggers.filter((trigger) => callsOf(trigger).length === 0);
    this.#store.webhooks = [];
  }

  addTrigger(given: Given<typeof define.rule>): Rule {
    const rule = { id: this.#store.nextId(), ...define.rule.parse(given) };
    this.#store.admin.triggers.push(rule);
    return rule;
  }

  addAutomation(given: Given<typeof define.rule>): Rule {
    const rule = { id: this.#store.nextId(), ...define.rule.parse(given) };
    this.#store.admin.automations.push(rule);
    return rule;
  }

  addBrand(given: Given<typeof define.named>): number {
    return this.#name(this.#store.brands, given);
  }

  addForm(given: Given<typeof define.named>): number {
    return this.#name(this.#store.forms, given);
  }

  addCustomStatus(given: Given<typeof define.customStatus>): number {
    const { id = this.#store.nextId(), name, category } = define.customStatus.parse(given);
    this.#store.customStatuses.set(id, { category, label: name });
    return id;
  }

  /** Changes the status as well where the custom status belongs to another category. */
  async setCustomStatus(given: Given<typeof define.customStatusAction>): Promise<DeliveryResult[]> {
    const { id, customStatusId, actorId } = define.customStatusAction.parse(given);
    const ticket = this.#store.ticket(id);
    const category = this.#store.customStatuses.get(customStatusId)?.category;
    if (category === undefined) throw new ControlError(`there is no custom status ${customStatusId}`);
    const moved = category === ticket.status ? [] : await this.setStatus({ id, status: category });
    const event = { current: String(customStatusId), previous: String(ticket.customStatusId) };
    ticket.customStatusId = customStatusId;
    ticket.updatedAt = ticket.generatedAt = this.#now();
    const agent = actorId ?? this.#someAgent();
    return [...moved, ...(await this.#announce(ticket, agent, [{ type: 'custom_status_changed', event }]))];
  }

  /** What the event holds is not documented: score and comment stand where the connector assumes them. */
  async rate(given: Given<typeof define.ratingAction>): Promise<DeliveryResult[]> {
    const { id, score, comment } = define.ratingAction.parse(given);
    const ticket = this.#store.ticket(id);
    if (ticket.status !== 'solved') throw new ControlError(`ticket ${id} is not solved: nobody can rate it`);
    const event = { satisfaction_score: { score: score.toUpperCase(), comment } };
    return await this.#announce(ticket, ticket.requesterId, [{ type: 'csat_received', event }]);
  }

  /** Blacks out all comments in which a text occurs; what the changes are marked with stays. */
  redact(id: number, text: string): void {
    for (const event of this.#store.ticket(id).audits.flatMap(({ events }) => events)) {
      if (event.type !== 'Comment' || !String(event.body).includes(text)) continue;
      Object.assign(event, { body: '▇▇▇▇', html_body: '▇▇▇▇', plain_body: '▇▇▇▇' });
    }
  }

  user(id: number): User {
    return this.#store.user(id);
  }

  /** Records of a custom object. */
  objectRecords(key: string): ObjectRecord[] {
    return [...this.#store.records.values()].filter(({ object }) => object === key);
  }

  addUserField(given: Given<typeof define.keyedField>): KeyedField {
    return this.#store.addUserField(define.keyedField.parse(given));
  }

  addCustomObject(given: Given<typeof define.customObject>): CustomObject {
    const { key, title, fields } = define.customObject.parse(given);
    const object = { key, title, fields: fields.map((field) => this.#store.numbered(field)) };
    this.#store.admin.customObjects.set(key, object);
    return object;
  }

  /** A field as it is, to spoil. */
  ticketField(id: number): TicketField {
    const field = this.#store.fields.get(id);
    if (field === undefined) throw new ControlError(`there is no ticket field ${id}`);
    return field;
  }

  /** The account as it is, to look into and to spoil. */
  get admin(): Admin {
    return this.#store.admin;
  }

  get webhooks(): readonly Webhook[] {
    return this.#store.webhooks;
  }

  /** Sends an event without anything having happened: a second time, out of order, or made up. To subscribed webhooks only. */
  fireWebhook(given: Given<typeof define.delivery>): Promise<DeliveryResult[]> {
    const { type, id, event, eventId, actorId } = define.delivery.parse(given);
    const ticket = this.#store.ticket(id);
    const what = {
      type: type.replace(eventPrefix, '').replace(/^ticket\./, ''),
      event: event ?? { current: ticket.status.toUpperCase(), previous: 'OPEN' },
    };
    return this.#announce(
      ticket,
      actorId ?? ticket.assigneeId ?? this.#someAgent(),
      [what],
      eventId === undefined ? {} : { eventId },
    );
  }

  changeSender(given: Given<typeof define.senderChange>): SenderSettings {
    return Object.assign(this.#sender.settings, define.senderChange.parse(given));
  }

  changeSettings(given: Given<typeof define.settingsChange>): Settings {
    const { apiRole, admin, ...settings } = define.settingsChange.parse(given);
    if (apiRole !== undefined) this.#store.user(apiUserId).role = apiRole;
    Object.assign(this.#store.admin.settings, admin);
    return Object.assign(this.#store.settings, settings);
  }

  /** Every token issued so far stops working. */
  revokeTokens(): void {
    this.#store.tokens.clear();
  }

  ticket(id: number): TicketReport {
    const ticket = this.#store.ticket(id);
    return {
      ticket: viewTicket(this.#store, ticket, ''),
      metric_set: viewMetricSet(ticket, ''),
      tags: [...ticket.tags],
      fields: Object.fromEntries(ticket.fields),
      audits: ticket.audits.map((audit: Audit) => viewAudit(audit)),
      mails: this.#store.mails.filter((mail) => mail.ticketId === id).length,
    };
  }

  tickets(): { id: number; status: Status; subject: string }[] {
    return [...this.#store.tickets.values()].map(({ id, status, subject }) => ({ id, status, subject }));
  }

  /** Resolves when no job and no delivery is under way. */
  async idle(): Promise<void> {
    do {
      await this.#jobs.idle();
      await this.#sender.idle();
    } while (this.#jobs.open > 0);
  }

  /** Back to the state right after construction. What is under way still ends, on the old data. */
  reset(): void {
    this.#store = this.#openStore();
    this.#jobs = new Jobs();
    this.#limits = new RateLimits();
    this.#calls = [];
    this.#sender.settings = { ...this.#options.webhooks };
    this.faults.clear();
  }

  readonly #sleep = (ms: number): Promise<void> => (this.#options.sleep ?? realSleep)(ms);

  #now(): number {
    return (this.#options.now?.() ?? new Date()).getTime();
  }

  #openStore(): Store {
    const { rateLimit, jobs } = this.#options;
    const settings: Settings = {
      modifyClosedTickets: false,
      legacyTokens: true,
      perMinute: rateLimit?.perMinute ?? 700,
      ticketUpdatesPerMinute: rateLimit?.ticketUpdatesPerMinute ?? 100,
      jobQueuedMs: jobs?.queuedMs ?? 50,
      jobWorkingMs: jobs?.workingMs ?? 50,
      exportsPerMinute: 10,
      exportLagMs: 60_000,
      metricSets: 'beside',
      nameSideloads: true,
    };
    return new Store(settings, this.#now());
  }

  #act(id: number, patch: Patch, actor: Actor): Promise<DeliveryResult[]> {
    const ticket = this.#store.ticket(id);
    try {
      const { happened } = changeTicket(this.#store, ticket, patch, actor, this.#now());
      return this.#announce(ticket, actor.userId, happened);
    } catch (error) {
      if (error instanceof Problem) throw new ControlError(`ticket ${id}: ${JSON.stringify(error.response.body)}`);
      throw error;
    }
  }

  #remove(id: number, gone: Ticket['gone'], type: string, actorId?: number): Promise<DeliveryResult[]> {
    const ticket = this.#store.ticket(id);
    ticket.gone = gone;
    ticket.updatedAt = this.#now();
    ticket.generatedAt = ticket.updatedAt;
    return this.#announce(ticket, actorId ?? this.#someAgent(), [{ type, event: {} }]);
  }

  #name(names: Map<number, string>, given: Given<typeof define.named>): number {
    const { id = this.#store.nextId(), name } = define.named.parse(given);
    names.set(id, name);
    return id;
  }

  #someAgent(): number {
    return (
      [...this.#store.users.values()].find((user) => user.role !== 'end-user' && user.id !== apiUserId)?.id ?? apiUserId
    );
  }

  #addWebhook(given: NewWebhook): Webhook {
    const id = `01${randomBytes(12).toString('hex').toUpperCase()}`;
    const webhook: Webhook = { id, turn: 0, invocations: [], ...given };
    this.#store.webhooks.push(webhook);
    return webhook;
  }

  #announce(
    ticket: Ticket,
    actorId: number,
    happened: readonly Happening[],
    more: Pick<Occasion, 'tags' | 'eventId'> = {},
  ): Promise<DeliveryResult[]> {
    const occasion: Occasion = { ticket, actorId, at: this.#now(), happened, ...more };
    const { wallClock = () => new Date(), random = Math.random } = this.#options;
    const { webhooks, admin } = this.#store;
    return Promise.all(
      fire({ webhooks, triggers: admin.triggers }, occasion, {
        sender: this.#sender,
        accountId: this.accountId,
        random,
        wallClock,
      }),
    );
  }
}

export function createZendeskStandin(options: ZendeskStandinOptions = {}): ZendeskStandin {
  return new ZendeskStandin(options);
}

/** The same over HTTP; `url` stands for `https://{subdomain}.zendesk.com`. */
export async function startZendeskStandin(
  options: ZendeskStandinOptions & { port?: number } = {},
): Promise<StandinServer & { standin: ZendeskStandin }> {
  const standin = createZendeskStandin(options);
  const server = await serve(standin.handle, {
    faults: standin.faults,
    ...(options.port === undefined ? {} : { port: options.port }),
  });
  return { ...server, standin };
}

function merge(response: StandinResponse, headers: Record<string, string>): StandinResponse {
  return { ...response, headers: { ...headers, ...response.headers } };
}

/** The scope of its own an endpoint has. Fields, jobs, groups and incremental exports have none: plain `read` or `write`. */
function resourceOf(path: string): string | undefined {
  const name = path.split('/')[3] ?? '';
  return ['tickets', 'users', 'organizations', 'webhooks', 'triggers', 'automations'].includes(name) ? name : undefined;
}

function realSleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
