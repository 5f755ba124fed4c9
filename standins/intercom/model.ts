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

export type Category = 'submitted' | 'in_progress' | 'waiting_on_customer' | 'resolved';

export interface Rating {
  rating: number;
  remark: string | null;
  at: number;
}

export type Values = Record<string, unknown>;

/** A conversation; with `ticket` one that was made a ticket, which keeps its id. */
export interface Conversation {
  id: string;
  createdAt: number;
  updatedAt: number;
  state: 'open' | 'closed' | 'snoozed';
  subject: string;
  deliveredAs: string;
  contacts: string[];
  /** Who began it, as that person was then. */
  startedBy: Author;
  admin: number | null;
  team: number | null;
  tags: string[];
  values: Values;
  parts: Part[];
  rating: Rating | null;
  /** Null on imported ones. */
  statistics: { lastCloseAt: number | null; lastClosedBy: string | null; lastReplyAt: number | null } | null;
  aiParticipated: boolean;
  ticket: { typeId: string; category: Category; values: Values } | null;
}

export interface Contact {
  id: string;
  externalId: string | null;
  role: 'user' | 'lead';
  email: string | null;
  phone: string | null;
  name: string | null;
  language: string | null;
  country: string | null;
  region: string | null;
  unsubscribedFromEmails: boolean;
  hasHardBounced: boolean;
  markedEmailAsSpam: boolean;
  attributes: Values;
  /** It was merged into that one. */
  mergedInto: string | null;
}

export interface Attribute {
  id: number;
  name: string;
  dataType: string;
  required: boolean;
  archived: boolean;
  /** Writes to it are taken, and lost without a word. */
  deaf: boolean;
}

export interface TicketType {
  id: string;
  name: string;
  category: 'Customer' | 'Back-office' | 'Tracker';
  attributes: Attribute[];
}

export interface Webhook {
  url: string;
  secret: string;
  topics: readonly string[];
}

/** What views of a conversation look things up in. */
export interface Directory {
  contacts: ReadonlyMap<string, Contact>;
  types: readonly TicketType[];
}
