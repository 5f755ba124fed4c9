import { z } from 'zod';
import type { Stored } from '../kit/control.ts';
import type { VendorOptions } from '../kit/vendor-standin.ts';

/** What the control surface takes: the stand-in's own words, not the vendor's. */
const id = z.union([z.int().positive(), z.string().min(1)]).transform(String);
const values = z.record(z.string(), z.unknown());

export const named = z.strictObject({ id });
export const conversationDefinition = z.strictObject({
  id: id.optional(),
  /** Contacts; the first one began it. */
  contacts: z.array(id).default([]),
  subject: z.string().default('Where is my order?'),
  deliveredAs: z.enum(['customer_initiated', 'automated', 'admin_initiated']).default('customer_initiated'),
  team: z.int().nullable().default(null),
  tags: z.array(z.string()).default([]),
  /** Imported ones have no statistics. */
  imported: z.boolean().default(false),
  attributes: values.default({}),
});
export const ticketDefinition = conversationDefinition.extend({
  type: z.string().default('Support request'),
});
export const contactDefinition = z.strictObject({
  id: z.string().optional(),
  externalId: z.string().nullable().default(null),
  role: z.enum(['user', 'lead']).default('user'),
  email: z.string().nullable().default(null),
  phone: z.string().nullable().default(null),
  name: z.string().nullable().default(null),
  language: z.string().nullable().default(null),
  country: z.string().nullable().default(null),
  region: z.string().nullable().default(null),
  unsubscribedFromEmails: z.boolean().default(false),
  hasHardBounced: z.boolean().default(false),
  markedEmailAsSpam: z.boolean().default(false),
  attributes: values.default({}),
});
/** What a teammate corrects in a contact; what is left out stays. */
export const contactChange = z.strictObject({
  id,
  email: z.string().nullable().exactOptional(),
  phone: z.string().nullable().exactOptional(),
  name: z.string().nullable().exactOptional(),
});
/** Whose conversation it is from now on. */
export const contactReplacement = z.strictObject({ id, contact: id });
export const merger = z.strictObject({ id, into: id });
/** Who does it: an admin's id, `bot`, or `customer`. Default: the first teammate. */
export const act = z.strictObject({ id, by: id.optional() });
export const massClose = z.strictObject({ ids: z.array(id) });
export const stateChange = z.strictObject({
  id,
  category: z.enum(['submitted', 'in_progress', 'waiting_on_customer', 'resolved']),
});
export const ratingDefinition = z.strictObject({
  id,
  rating: z.int().min(1).max(5),
  remark: z.string().nullable().default(null),
});
export const teamDefinition = z.strictObject({ id: z.int(), name: z.string() });
export const attributeDefinition = z.strictObject({
  /** A ticket type's name; left out: of conversations. */
  type: z.string().optional(),
  name: z.string(),
  dataType: z.enum(['string', 'integer', 'decimal', 'boolean', 'list', 'datetime']).default('string'),
  required: z.boolean().default(false),
  /** Writes to it are taken, and lost without a word. */
  deaf: z.boolean().default(false),
});
export const webhookDefinition = z.strictObject({
  url: z.string(),
  secret: z.string().min(1).default('intercom-client-secret'),
  /** Default: the topics that the connector needs. Nobody can make or read a subscription by API. */
  topics: z
    .array(z.string())
    .default([
      'conversation.admin.closed',
      'conversation.admin.opened',
      'conversation.admin.snoozed',
      'conversation.user.replied',
      'conversation.deleted',
      'conversation.rating.added',
      'ticket.resolved',
      'ticket.closed',
      'ticket.state.updated',
      'ticket.rating.provided',
      'contact.deleted',
    ]),
});
export const settingsChange = z.strictObject({
  region: z.enum(['US', 'EU', 'AU']).exactOptional(),
  timezone: z.string().exactOptional(),
  /** The app's own version, which shapes its webhooks. */
  appVersion: z.string().exactOptional(),
  /** What "after" means in a search: from the next UTC day on, as measured in 2026, or to the second. */
  searchBy: z.enum(['day', 'second']).exactOptional(),
  /** A search shows what was so long ago. */
  indexLagMs: z.number().nonnegative().exactOptional(),
  /**
   * What a PUT of attributes on a closed ticket leads to: `honoured`, it stays closed where the call says `open: false` (else it is open
   * again);
   * `reopens`, it is open again whatever the call says, and a second PUT closes it; `stubborn`, only a part does.
   */
  ticketWrites: z.enum(['honoured', 'reopens', 'stubborn']).exactOptional(),
  /** Permissions that the token lacks. */
  refuses: z.array(z.enum(['conversations', 'tickets', 'contacts', 'admins', 'attributes', 'tags'])).exactOptional(),
  /** Calls in ten seconds. */
  limit: z.int().positive().exactOptional(),
});

/** Times are epoch seconds, as Intercom counts. */
export interface Part {
  id: string;
  type: string;
  body: string | null;
  at: number;
  author: Author;
  /** Of the app that made it by API; null for everything done in the Inbox. */
  app: string | null;
  redacted: boolean;
  /** Of a change of a ticket's state. */
  state?: { now: Category; before: Category };
}

export interface Author {
  id: string;
  type: 'admin' | 'bot' | 'user' | 'lead';
  name: string | null;
  email: string;
}

export type Category = z.output<typeof stateChange>['category'];

export type Values = Record<string, unknown>;

/** A conversation; with `ticket` one that was made a ticket, which keeps its id. */
export interface Conversation extends Omit<Stored<typeof conversationDefinition, string>, 'imported' | 'attributes'> {
  createdAt: number;
  updatedAt: number;
  state: 'open' | 'closed' | 'snoozed';
  /** Who began it, as that person was then. */
  startedBy: Author;
  admin: number | null;
  values: Values;
  parts: Part[];
  rating: (Omit<z.output<typeof ratingDefinition>, 'id'> & { at: number }) | null;
  /** Null on imported ones. */
  statistics: { lastCloseAt: number | null; lastClosedBy: string | null; lastReplyAt: number | null } | null;
  aiParticipated: boolean;
  ticket: { typeId: string; category: Category; values: Values } | null;
}

export type Contact = Stored<typeof contactDefinition, string>;
export type Attribute = Omit<z.output<typeof attributeDefinition>, 'type'> & { id: number; archived: boolean };
export type Webhook = z.output<typeof webhookDefinition>;

export interface TicketType {
  id: string;
  name: string;
  category: 'Customer' | 'Back-office' | 'Tracker';
  attributes: Attribute[];
}

/** What views of a conversation look things up in. */
export interface Directory {
  contacts: ReadonlyMap<string, Contact>;
  types: readonly TicketType[];
}

export interface IntercomStandinOptions extends VendorOptions {
  /** Default `intercom-token`. */
  accessToken?: string;
}

export type Settings = Required<z.output<typeof settingsChange>>;

export const openSettings = (): Settings => ({
  region: 'US',
  timezone: 'Europe/Berlin',
  appVersion: '2.16',
  searchBy: 'day',
  indexLagMs: 0,
  ticketWrites: 'honoured',
  refuses: [],
  limit: 1_667,
});
