import type { z } from 'zod';
import { ControlError, held } from '../kit/control.ts';
import type * as define from './definitions.ts';
import type { Attribute, Author, Category, Contact, Conversation, Part, TicketType } from './definitions.ts';
import { viewConversation, viewTicket } from './views.ts';

type Definition = z.output<typeof define.conversationDefinition>;

/** What a search finds: as it was when the index took it up. */
interface Indexed {
  at: number;
  conversation: Record<string, unknown>;
  ticket: Record<string, unknown> | null;
}

export const bot: Author = { id: '7700099', type: 'bot', name: 'Fin', email: 'operator+standin@intercom.io' };
/** The app's, on every part that it makes by API. */
export const appCode = 'closeloop-standin-1a2b';

export class Store {
  readonly conversations = new Map<string, Conversation>();
  readonly contacts = new Map<string, Contact>();
  readonly admins = new Map<string, Author>();
  readonly teams = new Map<number, string>();
  /** Their ids, by name. */
  readonly tags = new Map<string, string>();
  readonly attributes: Attribute[] = [];
  readonly types: TicketType[] = [
    { id: '4401', name: 'Support request', category: 'Customer', attributes: [] },
    { id: '4402', name: 'Bug', category: 'Back-office', attributes: [] },
  ];
  readonly #index = new Map<string, Indexed[]>();
  #next = 0;

  constructor() {
    this.admins.set('7700001', {
      id: '7700001',
      type: 'admin',
      name: 'Feedback service',
      email: 'feedback@standin.example',
    });
    this.admins.set('7700042', { id: '7700042', type: 'admin', name: 'Mara Vogel', email: 'mara@standin.example' });
  }

  nextId(): number {
    this.#next += 1;
    return this.#next;
  }

  add(definition: Definition, nowMs: number, typeName?: string): Conversation {
    const { id = String(215_477_000_000_000 + this.nextId()), imported, attributes, team, ...rest } = definition;
    if (this.conversations.has(id)) throw new ControlError(`there is a conversation ${id} already`);
    const type = typeName === undefined ? undefined : this.type(typeName);
    const at = Math.floor(nowMs / 1_000);
    const starter = this.contacts.get(rest.contacts[0] ?? '');
    const one: Conversation = {
      ...rest,
      startedBy: {
        id: rest.contacts[0] ?? '',
        type: starter?.role ?? 'user',
        name: starter?.name ?? null,
        email: starter?.email ?? '',
      },
      id,
      team,
      createdAt: at,
      updatedAt: at,
      state: 'open',
      admin: null,
      values: type === undefined ? attributes : {},
      parts: [],
      rating: null,
      statistics: imported
        ? null
        : { lastCloseAt: null, lastClosedBy: null, lastReplyAt: rest.deliveredAs === 'customer_initiated' ? at : null },
      aiParticipated: false,
      ticket: type === undefined ? null : { typeId: type.id, category: 'submitted', values: attributes },
    };
    this.conversations.set(id, one);
    this.touch(one, nowMs);
    return one;
  }

  conversation(id: string): Conversation {
    return held(this.conversations, id, 'conversation');
  }

  contact(id: string): Contact {
    return held(this.contacts, id, 'contact');
  }

  type(name: string): TicketType {
    return held(new Map(this.types.map((type) => [type.name, type])), name, 'ticket type');
  }

  /** An admin's id, `bot`, `customer`; left out: the first teammate. */
  author(one: Conversation, by = '7700042'): Author {
    if (by === 'bot') return bot;
    if (by !== 'customer') return held(this.admins, by, 'admin');
    const contact = this.contact(one.contacts[0] ?? '');
    return { id: contact.id, type: contact.role, name: contact.name, email: contact.email ?? '' };
  }

  addPart(one: Conversation, nowMs: number, part: Pick<Part, 'type' | 'author'> & Partial<Part>): Part {
    const id = String(81_000_000 + this.nextId());
    const made: Part = { id, body: null, at: Math.floor(nowMs / 1_000), app: null, redacted: false, ...part };
    one.parts.push(made);
    this.touch(one, nowMs);
    return made;
  }

  /** Closes it; undefined where it was closed. */
  close(one: Conversation, author: Author, nowMs: number, app: string | null = null): Part | undefined {
    if (one.state === 'closed') return undefined;
    one.state = 'closed';
    if (one.statistics)
      Object.assign(one.statistics, {
        lastCloseAt: Math.floor(nowMs / 1_000),
        lastClosedBy: author.type === 'admin' ? author.id : null,
      });
    return this.addPart(one, nowMs, { type: 'close', author, app });
  }

  open(one: Conversation, author: Author, nowMs: number, app: string | null = null): Part | undefined {
    if (one.state === 'open') return undefined;
    one.state = 'open';
    return this.addPart(one, nowMs, { type: 'open', author, app });
  }

  setCategory(one: Conversation, now: Category, author: Author, nowMs: number): Part {
    const { ticket } = one;
    if (ticket === null) throw new ControlError(`${one.id} is no ticket`);
    const before = ticket.category;
    ticket.category = now;
    return this.addPart(one, nowMs, { type: `ticket_state_updated_by_${author.type}`, author, state: { now, before } });
  }

  /** Every change reaches the index, later. */
  touch(one: Conversation, nowMs: number): void {
    one.updatedAt = Math.max(one.updatedAt, Math.floor(nowMs / 1_000));
    const views = { conversation: viewConversation(this, one), ticket: viewTicket(this, one) };
    const history = this.#index.get(one.id) ?? [];
    this.#index.set(one.id, [...history.slice(-20), { at: nowMs, ...structuredClone(views) }]);
  }

  remove(id: string): void {
    this.conversations.delete(id);
    this.#index.delete(id);
  }

  /** What a search knows at that moment. */
  indexed(what: 'conversation' | 'ticket', atMs: number): Record<string, unknown>[] {
    return [...this.#index.values()].flatMap((history) => {
      const view = history.findLast(({ at }) => at <= atMs)?.[what];
      return view ? [view] : [];
    });
  }
}
