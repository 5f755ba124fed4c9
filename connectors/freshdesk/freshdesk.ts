import { z } from 'zod';
import { cut, isSameText, noteHtml } from '../../core/connector/answer.ts';
import { cached } from '../../core/connector/cached.ts';
import { VendorError } from '../../core/connector/classify.ts';
import { type ConnectorPorts, defineConnector } from '../../core/connector/contract.ts';
import { customerOf } from '../../core/connector/customer.ts';
import { noteAction, tagAction } from '../../core/connector/desk/act.ts';
import { desk } from '../../core/connector/desk/desk.ts';
import { pollInTurn, pollWindow } from '../../core/connector/desk/poll.ts';
import {
  type ChangedRow,
  type DeskWriting,
  holdsValue,
  inPlainForm,
  Refusal,
} from '../../core/connector/desk/write.ts';
import { linkedPages } from '../../core/connector/pages.ts';
import { listOf } from '../../core/entries.ts';
import { actions, Reopen } from './actions.ts';
import { type Account, errorsIn, openAccount, rowsPerPage } from './api.ts';
import { closedEvent, events, isId, Rating, ratingEvent } from './events.ts';
import { fieldsOf, preflight } from './preflight.ts';
import { secretHeader } from './rules.ts';
import { type FreshdeskSettings, settings } from './settings.ts';
import { present, stateOf, Ticket } from './ticket.ts';

type Value = string | number;

/** Freshdesk reads no tickets by their ids: a list of what changed since the oldest closing, where it costs fewer calls than single reads. */
const listed =
  (account: Account) =>
  async (ids: readonly string[], since?: Date): Promise<Map<string, Ticket>> => {
    const found = new Map<string, Ticket>();
    let from = since && new Date(since.getTime() - 120_000);
    for (let left = Math.floor(ids.length / 2); from !== undefined && left > 0 && found.size < ids.length; left--) {
      const rows = await account.changedSince(from, 1, 'work');
      for (const row of rows) if (ids.includes(row.id)) found.set(row.id, row);
      const last = rows.at(-1)?.updated_at;
      from = rows.length < rowsPerPage || last === undefined || last <= from ? undefined : last;
    }
    return found;
  };

/** An archived ticket has an address of its own, and takes nothing any more. */
async function writable(account: Account, id: string): Promise<Ticket | undefined> {
  const ticket = await account.find({ method: 'GET', path: `/tickets/${id}` }, Ticket);
  return ticket ?? (await account.find({ method: 'GET', path: `/tickets/archived/${id}` }, Ticket));
}

function closed(of: Ticket | VendorError): string | undefined {
  if (of instanceof VendorError) return of.status === 405 ? inTrash : undefined;
  if (of.archived) return 'it is archived';
  return of.deleted || of.spam ? inTrash : undefined;
}
const inTrash = 'it is in the trash, or marked as spam';

const mostOfLine = 250;

/** A field of one line holds the beginning of a long text. A dropdown holds the grade as a text. */
const holds = (current: unknown, value: Value | null): boolean =>
  holdsValue(current, value) || (value !== null && isSameText(String(current ?? ''), cut(String(value), mostOfLine)));

/** Only the named fields change. Freshdesk refuses the whole call for one value, also for an empty required field of somebody else. */
const putOn =
  (account: Account, typeOf: () => Promise<ReadonlyMap<string, string>>) =>
  async ({ id, change }: ChangedRow<Ticket, Value>): Promise<Ticket | Refusal> => {
    const types = await typeOf();
    const inForm = ([name, value]: [string, Value | null]) => {
      if (value === null || /number|decimal/.test(types.get(name) ?? '')) return [name, value];
      return [name, types.get(name) === 'custom_paragraph' ? String(value) : cut(String(value), mostOfLine)];
    };
    const { values, tags } = change;
    const body = {
      ...(values.size > 0 && { custom_fields: Object.fromEntries([...values].map(inForm)) }),
      ...(tags && { tags }),
    };
    const call = { method: 'PUT', path: `/tickets/${id}`, body, endpoint: 'update' } as const;
    const response = await account.exchange(call);
    const refused =
      response.status === 400 ? errorsIn(response.json).filter(({ code }) => code !== 'invalid_field') : [];
    const ours = refused.map(({ field }) => field.replace(/^custom_fields\./, '')).filter((name) => values.has(name));
    if (ours.length > 0)
      return new Refusal(ours, [
        `the fields ${ours.join(', ')} do not take their values: look at their types and choices`,
      ]);
    if (refused.length > 0)
      return new Refusal([...values.keys()], [`ticket ${id} takes no fields, as a required one is empty: fill it in`]);
    await account.accept(call, response);
    return account.parse(call, response, Ticket);
  };

const Conversation = z.object({
  id: z.int().transform(String),
  body: z.string().catch(''),
  private: z.boolean().catch(false),
});

const notes = (account: Account): NonNullable<DeskWriting<Ticket, Value>['notes']> => ({
  async list({ id }) {
    const found: { id: string; text: string }[] = [];
    const call = { method: 'GET', path: `/tickets/${id}/conversations?per_page=100` } as const;
    for await (const page of linkedPages(account, account.account, call, listOf(Conversation)))
      for (const { id, body: text, private: isPrivate } of page) if (isPrivate) found.push({ id, text });
    return found;
  },
  add: ({ id }, item) => {
    const body = { body: noteHtml(item, 60_000), private: true };
    return account.call({ method: 'POST', path: `/tickets/${id}/notes`, body }, z.unknown());
  },
  remove: (_, id) => account.find({ method: 'DELETE', path: `/conversations/${id}` }, z.unknown()),
});

function poller(settings: FreshdeskSettings, account: Account, ports: ConnectorPorts) {
  const tickets = pollWindow<Ticket>(
    {
      async page(from, page) {
        const rows = await account.changedSince(from, page, 'background');
        return { rows, isFull: rows.length >= rowsPerPage };
      },
      changedAt: ({ updated_at }) => updated_at,
      events(ticket) {
        const state = stateOf(ticket, settings);
        return state.is === 'closed' ? [closedEvent(ticket.id, state)] : [];
      },
    },
    ports,
  );
  const { ratings } = settings;
  if (ratings === undefined) return tickets;
  const rated = pollWindow<Rating>(
    {
      isUnordered: true,
      async page(from, page) {
        const path = `/surveys/satisfaction_ratings?created_since=${from.toISOString()}&page=${page}&per_page=${rowsPerPage}`;
        const rows = await account.call(
          { method: 'GET', path, urgency: 'background', endpoint: 'list' },
          listOf(Rating),
        );
        return { rows, isFull: rows.length >= rowsPerPage };
      },
      changedAt: ({ created_at }) => created_at,
      events: (rating) => ratingEvent(rating, ratings),
    },
    ports,
  );
  return pollInTurn([tickets, rated]);
}

/**
 * Freshdesk: tickets that are resolved or closed.
 *
 * Automation rules tell of changed statuses, with a shared secret, as Freshdesk signs nothing. They share the account's calls and are
 * dropped after a day, so the poll is part of the connector. A closed ticket is writable until it is archived.
 */
export const freshdesk = defineConnector({
  name: 'freshdesk',
  settings,
  account: ({ subdomain }) => subdomain,
  actions: { reopen: Reopen, note: noteAction, tag: tagAction },
  parts: {
    tags: ['ticket.tags'],
    groups: ['group.name', 'group.id'],
    channels: ['ticket.source'],
    agents: ['agent.name', 'agent.id'],
    openedAt: ['ticket.createdAt'],
    customer: ['requester.email', 'requester.phone', 'requester.mobile'],
  },
  open(settings, ports) {
    const account = openAccount(settings, ports);
    const { writeBack, webhookSecrets, subdomain } = settings;
    const typeOf = cached(
      async () => new Map((await fieldsOf(account)).map(({ name, type }) => [name, type])),
      900_000,
      ports.now,
    );
    return desk({
      vendor: 'Freshdesk',
      record: 'ticket',
      intake: {
        secrets: webhookSecrets,
        proof: { secretIn: secretHeader },
        events: (body, delivery) => events(body, delivery, settings),
      },
      read: {
        isId,
        many: listed(account),
        one: (id) => account.find({ method: 'GET', path: `/tickets/${id}?include=requester,stats` }, Ticket),
        async present() {
          const names = { agents: await account.agents(), groups: await account.groups() };
          return (ticket) => ({
            state: stateOf(ticket, settings, names.agents),
            shape: present(ticket, names),
            ...customerOf({ personId: ticket.requester_id }),
          });
        },
      },
      poll: poller(settings, account, ports),
      write: {
        settings: writeBack,
        rows: { isId, one: (id) => writable(account, id) },
        written: inPlainForm,
        at: ({ custom_fields }, name) => custom_fields[name],
        holds,
        tags: ({ tags }) => tags,
        closed,
        put: putOn(account, typeOf),
        notes: notes(account),
      },
      actions: actions(settings, account),
      preflight: preflight(settings, account),
      own: {
        bringsExternalGrades: settings.ratings !== undefined,
        recordUrl: (id) => `https://${subdomain}.freshdesk.com/a/tickets/${id}`,
      },
    });
  },
});
