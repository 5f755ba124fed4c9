import type { z } from 'zod';
import { ControlError, held } from '../kit/control.ts';
import type * as define from './definitions.ts';
import {
  Admin,
  customStatusIds,
  type FieldValue,
  type Group,
  type KeyedField,
  type ObjectRecord,
  type Organization,
  type Settings,
  type Status,
  type Ticket,
  type TicketField,
  type Token,
  type User,
  type Webhook,
} from './definitions.ts';

interface NewOption {
  id?: number;
  name: string;
  value: string;
}
type NewKeyedField = Omit<KeyedField, 'id' | 'options'> & { options: NewOption[] };
interface NewField {
  id?: number | undefined;
  options: NewOption[];
}

/** Id of the service user behind the API client. */
export const apiUserId = 9900;

/** Everything one account holds. */
export class Store {
  readonly tickets = new Map<number, Ticket>();
  /** Tickets that were created with an idempotency key, and by which body. */
  readonly created = new Map<string, { id: number; body: string; at: number }>();
  readonly users = new Map<number, User>();
  readonly groups = new Map<number, Group>();
  readonly organizations = new Map<number, Organization>();
  readonly fields = new Map<number, TicketField>();
  readonly tokens = new Map<string, Token>();
  readonly mails: { ticketId: number; at: number }[] = [];
  readonly brands = new Map([[3001, 'Acme']]);
  readonly forms = new Map([[4001, 'Default form']]);
  readonly customStatuses = new Map<number, { category: Status; label: string }>(
    (['new', 'open', 'pending', 'hold', 'solved'] as const).map((category) => [
      customStatusIds[category],
      { category, label: `${category.charAt(0).toUpperCase()}${category.slice(1)}` },
    ]),
  );
  /** By `object/external id`. */
  readonly records = new Map<string, ObjectRecord>();
  webhooks: Webhook[] = [];
  readonly admin = new Admin();
  readonly settings: Settings;
  #lastId = 700_000;

  constructor(settings: Settings, now: number) {
    this.settings = { ...settings };
    this.users.set(apiUserId, {
      id: apiUserId,
      name: 'Integration',
      email: 'integration@example.com',
      phone: null,
      sharedPhoneNumber: false,
      role: 'admin',
      active: true,
      suspended: false,
      verified: true,
      locale: 'en-US',
      ianaTimeZone: 'Europe/Tallinn',
      organizationId: null,
      tags: [],
      userFields: {},
      createdAt: now,
      updatedAt: now,
    });
  }

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  addUser({ id = this.nextId(), ...rest }: z.output<typeof define.userDefinition>, now: number): User {
    const userFields = Object.fromEntries([...this.admin.userFields.values()].map(({ key }) => [key, null]));
    const user: User = {
      id,
      ...rest,
      userFields: { ...userFields, ...rest.userFields },
      createdAt: now,
      updatedAt: now,
    };
    return put(this.users, user, 'user');
  }

  addGroup({ id = this.nextId(), name }: z.output<typeof define.groupDefinition>): Group {
    return put(this.groups, { id, name }, 'group');
  }

  addOrganization({ id = this.nextId(), ...rest }: z.output<typeof define.organizationDefinition>): Organization {
    return put(this.organizations, { id, ...rest }, 'organization');
  }

  addField({ id = this.nextId(), options, ...rest }: Omit<TicketField, 'id' | 'options'> & NewField): TicketField {
    return put(this.fields, { id, ...rest, options: this.#numbered(options) }, 'ticket field');
  }

  numbered({ options, ...rest }: NewKeyedField): KeyedField {
    return { id: this.nextId(), ...rest, options: this.#numbered(options) };
  }

  #numbered(options: NewOption[]): TicketField['options'] {
    return options.map((option) => ({ id: option.id ?? this.nextId(), name: option.name, value: option.value }));
  }

  /** Every user has every user field. */
  addUserField(given: NewKeyedField): KeyedField {
    const field = this.numbered(given);
    for (const user of this.users.values()) user.userFields = { [field.key]: null, ...user.userFields };
    return put(this.admin.userFields, field, 'user field');
  }

  addTicket(definition: z.output<typeof define.ticketDefinition>, now: number): Ticket {
    const { id = this.nextId(), customFields, requesterId, submitterId = requesterId, ...rest } = definition;
    this.user(requesterId);
    const fields = new Map<number, FieldValue>();
    for (const [key, value] of Object.entries(customFields)) {
      if (!this.fields.has(Number(key))) throw new ControlError(`there is no ticket field ${key}`);
      fields.set(Number(key), value);
    }
    const ticket: Ticket = {
      id,
      ...rest,
      customStatusId: customStatusIds[rest.status],
      requesterId,
      submitterId,
      fields,
      tags: [...rest.tags],
      createdAt: now,
      updatedAt: now,
      generatedAt: now,
      gone: 'no',
      audits: [],
      followUpIds: [],
      metrics: {
        id: this.nextId(),
        reopens: 0,
        replies: 0,
        solvedAt: rest.status === 'solved' || rest.status === 'closed' ? now : null,
        statusUpdatedAt: now,
      },
    };
    return put(this.tickets, ticket, 'ticket');
  }

  ticket(id: number): Ticket {
    return held(this.tickets, id, 'ticket');
  }

  user(id: number): User {
    return held(this.users, id, 'user');
  }
}

function put<Item extends { id: number }>(map: Map<number, Item>, item: Item, kind: string): Item {
  if (map.has(item.id)) throw new ControlError(`there is a ${kind} ${item.id} already`);
  map.set(item.id, item);
  return item;
}
