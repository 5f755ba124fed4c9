import { ControlError, type Given, held } from '../kit/control.ts';
import { Problem } from '../kit/message.ts';
import { type VendorOptions, VendorStandin } from '../kit/vendor-standin.ts';
import type { DeliveryResult } from '../kit/webhook-sender.ts';
import * as define from './definitions.ts';
import {
  type Agent,
  type Field,
  openSettings,
  type Person,
  type Rating,
  type Settings,
  type Ticket,
} from './definitions.ts';
import { type FieldMove, freshdeskRetries, handmadeRule, type Performer, type Rule, Rules } from './rules.ts';

const windowMs = 60_000;

/** Credits of one minute. All keys, all apps and webhooks share them; failed calls count. */
class Credits {
  readonly #used = { total: 0, list: 0, update: 0 };
  #window = -1;

  /** @param headers of the answer. @throws Problem 429 */
  take(
    { limits, bare429 }: Settings,
    now: number,
    { cost, lane }: { cost: number; lane?: 'list' | 'update' | undefined },
    headers: Record<string, string>,
  ): void {
    this.#turn(now);
    const isOver =
      this.#used.total + cost > limits.total || (lane !== undefined && this.#used[lane] + 1 > limits[lane]);
    if (!isOver && lane !== undefined) this.#used[lane] += 1;
    this.#used.total = Math.min(limits.total, this.#used.total + cost);
    if (isOver && bare429) throw new Problem({ status: 429, body: '' });
    headers['x-ratelimit-total'] = `${limits.total}.0`;
    headers['x-ratelimit-remaining'] = String(limits.total - this.#used.total);
    headers['x-ratelimit-used-currentrequest'] = String(cost);
    if (!isOver) return;
    const seconds = String(Math.ceil((windowMs - (now % windowMs)) / 1_000));
    const message = 'You have exceeded the limit of requests per minute';
    throw new Problem({ status: 429, headers: { 'retry-after': seconds }, body: { message } });
  }

  /** For a delivery. */
  takeOne({ limits }: Settings, now: number): boolean {
    this.#turn(now);
    if (this.#used.total >= limits.total) return false;
    this.#used.total += 1;
    return true;
  }

  #turn(now: number): void {
    const window = Math.floor(now / windowMs);
    if (window === this.#window) return;
    this.#window = window;
    Object.assign(this.#used, { total: 0, list: 0, update: 0 });
  }
}

export interface FreshdeskStandinOptions extends VendorOptions {
  /** Of an agent who sees every ticket. Default `freshdesk-key`. */
  apiKey?: string;
  /** Of an administrator. Default `freshdesk-admin-key`. */
  adminKey?: string;
}

const closed = [4, 5];
/** What every account has; `type` may be made one that agents have to fill in. */
const defaults = ['subject', 'status', 'priority', 'type'];

/** One account: what administrators set up in it, and what agents and customers do with tickets, told to the rules. */
export abstract class FreshdeskAccount extends VendorStandin {
  readonly apiKey: string;
  readonly adminKey: string;
  readonly tickets = new Map<number, Ticket>();
  readonly contacts = new Map<number, Person>();
  readonly agents = new Map<number, Agent>();
  readonly groups = new Map<number, { id: number; name: string }>();
  readonly fields = new Map<string, Field>();
  readonly ratings: Rating[] = [];
  readonly settings: Settings = openSettings();
  readonly rules: Rules;
  protected readonly credits = new Credits();
  #lastId = 48_000_000_000;

  constructor({
    apiKey = 'freshdesk-key',
    adminKey = 'freshdesk-admin-key',
    ...options
  }: FreshdeskStandinOptions = {}) {
    super(freshdeskRetries, options);
    this.apiKey = apiKey;
    this.adminKey = adminKey;
    const takes = () => this.credits.takeOne(this.settings, this.now());
    this.rules = new Rules({ sender: this.sender, settings: () => this.settings, takes });
    for (const name of defaults) this.addField({ name, type: `default_${name}` });
    this.addAgent({ name: 'closeloop', email: 'closeloop@acme.example', key: this.apiKey });
    this.addAgent({ name: 'Ada Admin', email: 'ada@acme.example', key: this.adminKey, isAdmin: true });
  }

  nextId(): number {
    return ++this.#lastId;
  }

  addContact(given: Given<typeof define.contactDefinition>): Person {
    const contact = { id: this.nextId(), ...define.contactDefinition.parse(given) };
    this.contacts.set(contact.id, contact);
    return contact;
  }

  changeContact(given: Given<typeof define.contactChange>): Person {
    const { id, ...changes } = define.contactChange.parse(given);
    return Object.assign(held(this.contacts, id, 'contact'), changes);
  }

  addAgent(given: Given<typeof define.agentDefinition>): Agent {
    const agent = { id: this.nextId(), mobile: null, ...define.agentDefinition.parse(given) };
    this.agents.set(agent.id, agent);
    return agent;
  }

  changeAgent(given: Given<typeof define.agentChange>): Agent {
    const { id, ...changes } = define.agentChange.parse(given);
    return Object.assign(held(this.agents, id, 'agent'), changes);
  }

  addGroup(given: Given<typeof define.groupDefinition>): { id: number; name: string } {
    const group = { id: this.nextId(), ...define.groupDefinition.parse(given) };
    this.groups.set(group.id, group);
    return group;
  }

  /** A field of the same name is replaced. */
  addField(given: Given<typeof define.fieldDefinition>): Field {
    const { label, ...field } = define.fieldDefinition.parse(given);
    const added = { id: this.nextId(), label: label ?? field.name, ...field };
    this.fields.set(field.name, added);
    return added;
  }

  removeField({ name }: Given<typeof define.fieldName>): void {
    if (!this.fields.delete(name)) throw new ControlError(`there is no field ${name}`);
  }

  addTicket(given: Given<typeof define.ticketDefinition>): Ticket {
    const { ageMs, id = this.nextId(), ...ticket } = define.ticketDefinition.parse(given);
    const at = this.now() - ageMs;
    const times = { createdAt: at, updatedAt: at, resolvedAt: null, closedAt: null, statusUpdatedAt: at };
    const added: Ticket = { id, ...ticket, ...times, is: 'live', conversations: [], mails: 0 };
    this.tickets.set(id, added);
    return added;
  }

  ticket(id: number): Ticket {
    return held(this.tickets, id, 'ticket');
  }

  /** People edit a ticket, throw it away, mark it as spam, restore it; or it is archived. */
  changeTicket(given: Given<typeof define.ticketChange>): Ticket {
    const { id, values, ...changes } = define.ticketChange.parse(given);
    const ticket = this.ticket(id);
    Object.assign(ticket.values, values);
    return Object.assign(ticket, changes, { updatedAt: this.now() });
  }

  async setStatus(given: Given<typeof define.statusChange>): Promise<DeliveryResult[]> {
    const { id, by, ...changes } = define.statusChange.parse(given);
    return await this.move(this.ticket(id), changes, by);
  }

  resolve(id: number): Promise<DeliveryResult[]> {
    return this.setStatus({ id, status: 4 });
  }

  async resolveAll(given: Given<typeof define.massChange>): Promise<DeliveryResult[]> {
    const { ids, status } = define.massChange.parse(given);
    return (await Promise.all(ids.map((id) => this.setStatus({ id, status })))).flat();
  }

  /** The customer replies. */
  reopen(id: number): Promise<DeliveryResult[]> {
    return this.setStatus({ id, status: 2, by: 'requester' });
  }

  rate(given: Given<typeof define.ratingDefinition>): Rating {
    const rating = { id: this.nextId(), at: this.now(), ...define.ratingDefinition.parse(given) };
    this.ratings.push(rating);
    return rating;
  }

  setWebhook(given: Given<typeof define.webhookDefinition>): Rule[] {
    const { url, secret } = define.webhookDefinition.parse(given);
    this.rules.all.clear();
    for (const type of [3, 4] as const) {
      const id = this.nextId();
      this.rules.all.set(id, { id, type: 4, outdated: false, ...handmadeRule(url, secret, type) });
    }
    return [...this.rules.all.values()];
  }

  changeRule(given: Given<typeof define.ruleChange>): Rule {
    const { id, url, secret, ...changes } = define.ruleChange.parse(given);
    const rule = held(this.rules.all, id, 'rule');
    for (const action of rule.actions) {
      if (url !== undefined) Object.assign(action, { url });
      if (secret === undefined) continue;
      Object.assign(action, { custom_headers: secret === null ? {} : { 'x-closeloop-secret': secret } });
    }
    return Object.assign(rule, changes);
  }

  changeSettings(given: Given<typeof define.settingsChange>): Settings {
    return Object.assign(this.settings, define.settingsChange.parse(given));
  }

  addNote(ticket: Ticket, body: string, userId: number, isPrivate = true): Ticket['conversations'][number] {
    const note = { id: this.nextId(), body, isPrivate, userId, at: this.now() };
    ticket.conversations.push(note);
    ticket.updatedAt = this.now();
    if (!isPrivate) ticket.mails += 1;
    return note;
  }

  /** @param changes numbers, in the order in which they are told */
  async move(
    ticket: Ticket,
    { priority, status }: { priority?: number | undefined; status?: number | undefined },
    by: Performer,
  ): Promise<DeliveryResult[]> {
    const changes = Object.entries({ priority, status }) as ['priority' | 'status', number | undefined][];
    const moves: FieldMove[] = [];
    for (const [field, to] of changes) {
      if (to === undefined || to === ticket[field]) continue;
      moves.push({ field, from: ticket[field], to });
      if (field === 'status') this.#enter(ticket, to);
      ticket[field] = to;
    }
    ticket.updatedAt = this.now();
    return await this.rules.tell({ ...ticket }, moves, by);
  }

  /** A first resolution stays while the ticket is closed; closed directly, it was never resolved. */
  #enter(ticket: Ticket, status: number): void {
    const now = this.now();
    ticket.statusUpdatedAt = now;
    if (!closed.includes(status)) {
      if (!this.settings.keepsStats) Object.assign(ticket, { resolvedAt: null, closedAt: null });
    } else if (status === 4) ticket.resolvedAt ??= now;
    else ticket.closedAt ??= now;
  }
}
