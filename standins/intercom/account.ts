import { ControlError, type Given } from '../kit/control.ts';
import { VendorStandin } from '../kit/vendor-standin.ts';
import { problem } from './context.ts';
import * as define from './definitions.ts';
import {
  type Attribute,
  type Contact,
  type Conversation,
  type IntercomStandinOptions,
  openSettings,
  type Part,
  type Settings,
  type Webhook,
} from './definitions.ts';
import { bot, Store } from './store.ts';
import { viewContact, viewConversation, viewTicket } from './views.ts';
import { intercomRetries, Outbox } from './webhooks.ts';

/** Dealt out in windows of ten seconds. */
class RateLimits {
  #window = 0;
  #used = 0;

  /** @param headers get the calls that are left. @throws Problem 429 */
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

/** The workspace as it is set up, and what teammates, bots and customers do with conversations. Every change is sent to the webhook. */
export abstract class IntercomWorkspace extends VendorStandin {
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

  addConversation(given: Given<typeof define.conversationDefinition> = {}): Conversation {
    return this.store.add(define.conversationDefinition.parse(given), this.now());
  }

  addTicket(given: Given<typeof define.ticketDefinition> = {}): Conversation {
    const { type, ...rest } = define.ticketDefinition.parse(given);
    return this.store.add(rest, this.now(), type);
  }

  /** Everything about one; `notes` are those that are still readable. */
  conversation(id: string): Conversation & { notes: string[] } {
    const one = this.store.conversation(id);
    const notes = one.parts.flatMap(({ type, body }) => (type === 'note' && body !== null ? [body] : []));
    return structuredClone({ ...one, notes });
  }

  /** Closed in the Inbox: a ticket becomes resolved in the same second. `bot`: the ticket's state stays as it is. */
  async close(given: Given<typeof define.act>): Promise<void> {
    const { id, by } = define.act.parse(given);
    const one = this.store.conversation(id);
    const author = this.store.author(one, by);
    const part = this.store.close(one, author, this.now());
    if (author === bot) one.aiParticipated = true;
    const isTicket = one.ticket !== null && one.ticket.category !== 'resolved' && author !== bot;
    if (isTicket) this.store.setCategory(one, 'resolved', author, this.now());
    await Promise.all([
      this.notify('conversation.admin.closed', one, part),
      ...(isTicket
        ? [this.#notifyTicket('ticket.state.updated', one), this.#notifyTicket('ticket.resolved', one)]
        : []),
      ...(one.ticket && part ? [this.#notifyTicket('ticket.closed', one)] : []),
    ]);
  }

  async closeAll({ ids }: Given<typeof define.massClose>): Promise<void> {
    await Promise.all(ids.map((id) => this.close({ id })));
  }

  async reopen(given: Given<typeof define.act>): Promise<void> {
    const { id, by } = define.act.parse(given);
    const one = this.store.conversation(id);
    const author = this.store.author(one, by);
    const part = this.store.open(one, author, this.now());
    if (one.ticket?.category === 'resolved') this.store.setCategory(one, 'in_progress', author, this.now());
    await Promise.all([
      this.notify('conversation.admin.opened', one, part),
      ...(one.ticket ? [this.#notifyTicket('ticket.state.updated', one)] : []),
    ]);
  }

  /** The customer writes: what was closed is open again, without a part that says so. */
  async reply(given: Given<typeof define.named>): Promise<void> {
    const one = this.store.conversation(define.named.parse(given).id);
    const author = this.store.author(one, 'customer');
    one.state = 'open';
    if (one.statistics) one.statistics.lastReplyAt = Math.floor(this.now() / 1_000);
    const part = this.store.addPart(one, this.now(), { type: 'comment', body: 'One more thing', author });
    if (one.ticket?.category === 'resolved') this.store.setCategory(one, 'in_progress', author, this.now());
    await this.notify('conversation.user.replied', one, part);
  }

  async snooze(given: Given<typeof define.named>): Promise<void> {
    const one = this.store.conversation(define.named.parse(given).id);
    one.state = 'snoozed';
    const author = this.store.author(one);
    await this.notify(
      'conversation.admin.snoozed',
      one,
      this.store.addPart(one, this.now(), { type: 'snoozed', author }),
    );
  }

  async setCategory(given: Given<typeof define.stateChange>): Promise<void> {
    const { id, category } = define.stateChange.parse(given);
    const one = this.store.conversation(id);
    this.store.setCategory(one, category, this.store.author(one), this.now());
    await this.#notifyTicket('ticket.state.updated', one);
    if (category === 'resolved') await this.#notifyTicket('ticket.resolved', one);
  }

  /** This one goes into another: it is closed by the bot, and no field says where it went. */
  async merge(given: Given<typeof define.merger>): Promise<void> {
    const { id, into } = define.merger.parse(given);
    const [one, other] = [this.store.conversation(id), this.store.conversation(into)];
    this.store.addPart(one, this.now(), { type: 'merged_secondary_conversation', author: bot });
    this.store.addPart(other, this.now(), { type: 'merged_primary_conversation', author: bot });
    await this.notify('conversation.admin.closed', one, this.store.close(one, bot, this.now()));
  }

  async remove(given: Given<typeof define.named>): Promise<void> {
    const { id } = define.named.parse(given);
    this.store.conversation(id);
    this.store.remove(id);
    await this.outbox.send('conversation.deleted', { type: 'conversation', conversation_id: id });
  }

  async rate(given: Given<typeof define.ratingDefinition>): Promise<void> {
    const { id, rating, remark } = define.ratingDefinition.parse(given);
    const one = this.store.conversation(id);
    one.rating = { rating, remark, at: Math.floor(this.now() / 1_000) };
    this.store.touch(one, this.now());
    if (one.ticket === null) await this.notify('conversation.rating.added', one, undefined);
    else await this.outbox.send('ticket.rating.provided', viewConversation(this.store, one, []));
  }

  /** Conversations go on showing who began them as that person was. */
  async changeContact(given: Given<typeof define.contactChange>): Promise<void> {
    const { id, ...change } = define.contactChange.parse(given);
    const contact = this.store.contact(id);
    const isOther = change.email !== undefined && change.email !== contact.email;
    Object.assign(contact, change);
    await this.outbox.send(`contact.${contact.role}.updated`, viewContact(contact));
    if (isOther) await this.outbox.send('contact.email.updated', viewContact(contact));
  }

  /** Another contact takes the place of all that were there; who began it stays. */
  async replaceContact(given: Given<typeof define.contactReplacement>): Promise<void> {
    const { id, contact } = define.contactReplacement.parse(given);
    const one = this.store.conversation(id);
    one.contacts = [this.store.contact(contact).id];
    this.store.touch(one, this.now());
    const view = viewConversation(this.store, one);
    await this.outbox.send('conversation.contact.attached', view);
    await this.outbox.send('conversation.contact.detached', view);
  }

  async deleteContact(given: Given<typeof define.named>): Promise<void> {
    const { id, externalId } = this.store.contact(define.named.parse(given).id);
    this.store.contacts.delete(id);
    await this.outbox.send('contact.deleted', { id, external_id: externalId, type: 'contact', deleted: true });
  }

  /** Only the causing part is in it. */
  protected async notify(topic: string, one: Conversation, part: Part | undefined): Promise<void> {
    if (part === undefined && topic !== 'conversation.rating.added') return;
    await this.outbox.send(topic, viewConversation(this.store, one, part ? [part] : []));
  }

  async #notifyTicket(topic: string, one: Conversation): Promise<void> {
    const ticket = viewTicket(this.store, one);
    if (ticket === null) throw new ControlError(`${one.id} is no ticket`);
    await this.outbox.send(topic, topic === 'ticket.closed' ? { type: 'ticket_conversation', ticket } : ticket);
  }
}
