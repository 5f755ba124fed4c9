import { z } from 'zod';
import { aboutRecords } from '../../core/connector/calls.ts';
import { namesOf } from '../../core/connector/check.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { DeskReading } from '../../core/connector/desk/desk.ts';
import type { VendorApi } from '../../core/connector/vendor-api.ts';
import { listOf, orElse, text } from '../../core/entries.ts';
import { closedBy, closingsOf, Id, isClosed } from './changes.ts';
import type { RequestTrackerSettings } from './settings.ts';

const Person = z.object({ id: Id, type: text, Name: text, RealName: text, EmailAddress: text });
const Requestor = Person.extend({ MobilePhone: text, Lang: text, Timezone: text });
const Ticket = z.object({
  ...{ id: Id, Subject: text, Status: text, Created: text, Owner: Person },
  Queue: z.object({ id: Id, Name: text }),
  Requestor: orElse(listOf(Requestor), []),
  CustomFields: orElse(listOf(z.object({ name: z.string(), values: listOf(text) })), []),
});
export const User = z.object({ Privileged: z.coerce.number() });
/** `out`: why a ticket that was read by its id neither asks nor takes answers. */
export type Row = z.output<typeof Ticket> & { out?: string };

/** The fields that a search has to return, people included. */
const search = {
  fields: 'Subject,Status,Created,Queue,Owner,Requestor,CustomFields',
  'fields[Queue]': 'Name',
  'fields[Owner]': 'Name,RealName,EmailAddress',
  'fields[Requestor]': 'id,RealName,EmailAddress,MobilePhone,Lang,Timezone',
  per_page: '100',
};

/** A ticket as rules and fields see it: `ticket.queue.name`, `ticket.fields.Store`, `requestor.email`. Unknown values are empty texts. */
export interface RequestTrackerShape {
  ticket: {
    id: string;
    subject: string;
    status: string;
    queue: { id: string; name: string };
    /** ISO 8601, UTC. */
    createdAt: string;
    /** Custom fields with a value, by name: a text, or a list for several values. */
    fields: Record<string, string | string[]>;
  };
  /**
   * The first requestor with an e-mail address who is not one of the company's own users. `phone`: the mobile number as typed; reading it
   * needs the right AdminUsers.
   */
  requestor: { id: string; name: string; email: string; phone: string; language: string };
  /** The owner; empty for RT's user "Nobody". */
  owner: { name: string; email: string };
}

function presented(row: Row, person: Partial<Row['Requestor'][number]> = {}): RequestTrackerShape {
  const { id, Subject: subject, Status: status, Created: createdAt, Queue, Owner, CustomFields } = row;
  const { RealName: name = '', EmailAddress: email = '', MobilePhone: phone = '', Lang = '' } = person;
  const held = CustomFields.flatMap(({ name, values }) => {
    const [first = '', ...more] = values;
    return first === '' ? [] : [[name, more.length === 0 ? first : values] as const];
  });
  const owner = { name: Owner.RealName || Owner.Name, email: Owner.EmailAddress };
  const queue = { id: Queue.id, name: Queue.Name };
  return {
    ticket: { id, subject, status, queue, createdAt, fields: Object.fromEntries(held) },
    requestor: { id: person.id ?? '', name, email, phone, language: Lang.replaceAll('_', '-') },
    owner: Owner.Name === 'Nobody' ? { name: '', email: '' } : owner,
  };
}

const blank = (id: string): Row => Ticket.parse({ id, Queue: { id: '' }, Owner: { id: '' } });
const unlessForbidden = (error: unknown): Row => {
  if (error instanceof VendorError && error.status === 403) return blank('');
  throw error;
};
/** The names that `check` compares expressions with. */
export const shapeNames = namesOf(presented(blank('')));

/** Reads tickets by search, which silently leaves out merged, deleted and forbidden tickets; reading such a ticket alone shows which it is. */
export function reading(settings: RequestTrackerSettings, api: VendorApi): DeskReading<Row, RequestTrackerShape> {
  let known = new Map<string, boolean>();
  async function many(ids: readonly string[]): Promise<Map<string, Row>> {
    const form = { query: ids.map((id) => `id = ${id}`).join(' OR '), ...search };
    const { items } = await api.call({ method: 'POST', path: '/tickets', form }, z.object({ items: listOf(Ticket) }));
    return new Map(items.map((ticket) => [ticket.id, ticket]));
  }
  return {
    // A larger id would cause an error of the database, and closeloop would try again and again.
    isId: (id) => /^[1-9]\d{0,8}$/.test(id),
    many,
    async one(id) {
      const found = await api.find({ method: 'GET', path: `/ticket/${id}` }, Ticket).catch(unlessForbidden);
      if (found === undefined) return undefined;
      if (found.id === '') return { ...found, id, out: "closeloop's user may not see it (ShowTicket)" };
      if (found.Status === 'deleted') return { ...found, out: 'it is deleted' };
      // For a merged ticket Request Tracker returns the surviving ticket, which a write would change.
      const left = found.id === id ? undefined : (await many([found.id])).get(found.id);
      return left ?? { ...found, out: 'no search shows it, as it is a reminder or the like' };
    },
    async present(rows) {
      const closed = rows.filter(({ out, Status }) => out === undefined && isClosed(settings, Status));
      const closings = await closingsOf(settings, api, closed);
      // No search shows who is staff: this takes one call of about 0.2 s for each user.
      if (known.size > 10_000) known = new Map();
      const staff = known;
      for (const row of closed)
        for (const { id } of peopleOn(row)) {
          // A user's id is their name.
          const call = { method: 'GET', path: `/user/${id}`, place: 'GET /user/{name}' } as const;
          if (!staff.has(id))
            staff.set(id, (await aboutRecords([row.id], () => api.find(call, User)))?.Privileged === 1);
        }
      return (row) => {
        const people = peopleOn(row);
        const requestor = people.find(({ id }) => staff.get(id) !== true);
        const shape = presented(row, requestor);
        const why = row.out ?? (people.length > 0 && requestor === undefined ? 'its requestor is staff' : undefined);
        const now = closed.includes(row) ? closedBy(row, closings.get(row.id)) : { is: 'open' as const };
        const { id: personId, language: locale } = shape.requestor;
        const customer = { personId, locale, timeZone: requestor?.Timezone };
        return { currentId: row.id, state: why === undefined ? now : { is: 'out', why }, shape, ...customer };
      };
    },
  };
}

/** The people who may be asked, without groups. */
const peopleOn = ({ Requestor }: Row) =>
  Requestor.filter(({ type, EmailAddress }) => type === 'user' && EmailAddress !== '');
