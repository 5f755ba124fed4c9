/** Instants are epoch ms; the API shows whole seconds. */
export interface Ticket {
  id: number;
  subject: string | null;
  status: number;
  priority: number;
  type: string | null;
  source: number;
  tags: string[];
  requesterId: number;
  responderId: number | null;
  groupId: number | null;
  /** 1 parent, 2 child, 3 tracker, 4 related. */
  associationType: number | null;
  is: 'live' | 'deleted' | 'spam' | 'archived';
  /** Custom fields by name; a field that nobody filled in is absent. */
  values: Record<string, unknown>;
  createdAt: number;
  updatedAt: number;
  resolvedAt: number | null;
  closedAt: number | null;
  statusUpdatedAt: number;
  conversations: Conversation[];
  /** How often the customer was mailed because of a public note. */
  mails: number;
}

export interface Conversation {
  id: number;
  body: string;
  isPrivate: boolean;
  userId: number;
  at: number;
}

export interface Person {
  id: number;
  name: string;
  email: string | null;
  phone: string | null;
  mobile: string | null;
}

export interface Agent extends Person {
  key: string;
  isAdmin: boolean;
  /** 1 sees all tickets, 2 those of its groups, 3 its own. */
  scope: 1 | 2 | 3;
  groupIds: number[];
}

export interface Field {
  id: number;
  name: string;
  label: string;
  type: string;
  isRequired: boolean;
  isRequiredForClosure: boolean;
  isReadOnly: boolean;
  choices: string[];
}

export interface Rating {
  id: number;
  ticketId: number;
  value: number;
  feedback: string | null;
  at: number;
}

export interface Settings {
  /** Credits a minute: in all, and for the two kinds of calls that no header reports. */
  limits: { total: number; list: number; update: number };
  /** A 429 without Retry-After and without a body. */
  bare429: boolean;
  suspended: boolean;
  /** The plan has surveys. */
  surveys: boolean;
  /** A reopened ticket keeps its first resolution for ever. */
  keepsStats: boolean;
  /** What `{{ticket.modified_on}}` becomes. */
  modifiedOn: 'iso' | 'empty' | 'local';
  /** Fields that are created get a number behind their names. */
  suffixes: boolean;
  /** A rule's headers are read as asterisks. */
  hidesHeaders: boolean;
  statuses: Record<string, string>;
}

export const openSettings = (): Settings => ({
  limits: { total: 400, list: 100, update: 160 },
  ...{ bare429: false, suspended: false, surveys: true, keepsStats: false },
  ...{ modifiedOn: 'iso', suffixes: false, hidesHeaders: false },
  statuses: {
    2: 'Open',
    3: 'Pending',
    4: 'Resolved',
    5: 'Closed',
    6: 'Waiting on Customer',
    7: 'Waiting on Third Party',
  },
});
