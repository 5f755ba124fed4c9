import { newestBy } from '../../core/connector/answer.ts';
import { chunks, writeInBatches } from '../../core/connector/batches.ts';
import type { Source, WriteBack, WriteResult } from '../../core/connector/contract.ts';
import { isFailure } from '../../core/connector/desk/rows.ts';
import { DeskWriter } from '../../core/connector/desk/write.ts';
import { adviceOf } from '../../core/errors.ts';
import { onFields, resolve } from './fields.ts';
import type { ZendeskSettings } from './settings.ts';
import { batchSize, isTicketId, ticketRows, type User } from './ticket.ts';
import {
  type Account,
  closedTicketWriting,
  deleteRecords,
  recordWriting,
  ticketWriting,
  userWriting,
} from './writing.ts';

const vendor = 'Zendesk';

type Results = Map<WriteBack, WriteResult>;

/**
 * Writes answers on tickets: four calls per hundred (read, update, status of the job, read again), three more where the requesters get
 * them too. Every attempt may be repeated: an update names the state of its ticket that it was made for. Zendesk refuses a job that was
 * still in its queue when closeloop gave the job up, or died, if the ticket has changed meanwhile: no older answer and no second note is
 * put on it.
 */
export function answerWriter(account: Account): Source['writeBack'] {
  const { kinds, settings } = account;
  const { userFields, whenClosed } = settings.writeBack;

  /** Each person's newest answer. */
  async function onPeople(asked: ReadonlyMap<WriteBack, string>, known: ReadonlyMap<string, User>): Promise<Results> {
    const newest = newestBy(
      asked,
      ([, userId]) => userId,
      ([{ answeredAt }]) => answeredAt,
    );
    if (newest.size === 0) return new Map();
    const items = [...newest].map(([recordId, [item]]) => ({ ...item, recordId }));
    const written = await onFields(settings, kinds.users, (targets) =>
      new DeskWriter({ vendor, record: 'user' }, userWriting(account, targets, known)).write(items),
    );
    const byUser = new Map(items.map(({ recordId }, n) => [recordId, written[n]]));
    return new Map(
      [...asked].flatMap(([item, userId]) => {
        const result = byUser.get(userId);
        return result === undefined ? [] : [[item, result] as const];
      }),
    );
  }

  const onRecords = (items: readonly WriteBack[]) =>
    onFields(settings, kinds.records, (targets) =>
      new DeskWriter({ vendor, record: 'record' }, recordWriting(account, targets)).write(items),
    );

  async function writeBatch(items: readonly WriteBack[]): Promise<WriteResult[]> {
    const ids = items.map(({ recordId }) => recordId);
    const { tickets, users } = await readTickets(account, ids);
    const onTickets = (some: readonly WriteBack[], of = (one: ReturnType<typeof ticketWriting>) => one) =>
      onFields(settings, kinds.tickets, (targets) =>
        new DeskWriter({ vendor, record: 'ticket' }, of(ticketWriting(account, targets, tickets))).write(some),
      );
    const asked = new Map(
      items.flatMap((item) => {
        const row = tickets.get(item.recordId);
        if (userFields === undefined || item.status !== 'answered' || row === undefined || isFailure(row)) return [];
        // The person who was asked, even if the ticket has another requester now.
        const person = item.personId ?? row.requester_id;
        return person == null ? [] : [[item, person] as const];
      }),
    );
    // Together, so that one call reads the status of both jobs.
    const [written, people] = await both(onTickets(items), onPeople(asked, users));
    const placed = await placeElsewhere(whenClosed, items, written, {
      edit: (some) => onTickets(some, closedTicketWriting),
      userFields: async (some) => some.flatMap((item) => people.get(item) ?? []),
      customObject: onRecords,
    });
    return items.map((item, n) => together(placed[n], people.get(item)));
  }

  return (items) => writeInBatches(items, batchSize, writeBatch);
}

/** Tickets, and their requesters where these get answers, in one call. */
async function readTickets({ api, settings: { writeBack } }: Account, recordIds: readonly string[]) {
  const ids = recordIds.filter(isTicketId);
  const tickets = await ticketRows(api, writeBack.userFields === undefined ? '' : 'users').many(ids);
  const users = [...tickets.values()].flatMap((row) => (isFailure(row) ? [] : [...row.beside.users]));
  return { tickets, users: new Map(users) };
}

type Step = ZendeskSettings['writeBack']['whenClosed'][number];

/** For the trace: "written on …". */
const places: Readonly<Record<Step, string>> = {
  edit: 'the closed ticket, without a note',
  userFields: "the requester's user fields, as the ticket is closed",
  customObject: 'a record of the custom object, as the ticket is closed',
};

/**
 * Answers to closed tickets: each step of `whenClosed` gets the answers that the steps before it could not place; the rest stays
 * `closed`. After a failure that is transient, or that a person can correct, the next attempt begins at the first step again.
 */
async function placeElsewhere(
  steps: readonly Step[],
  items: readonly WriteBack[],
  written: readonly WriteResult[],
  by: Readonly<Record<Step, (items: readonly WriteBack[]) => Promise<WriteResult[]>>>,
): Promise<WriteResult[]> {
  const results = new Map(items.map((item, n) => [item, written[n]]));
  for (const step of steps) {
    // That no answer came is written on the ticket alone.
    const open = [...results].flatMap(([item, result]) =>
      result?.ok === false && result.why === 'closed' && (step === 'edit' || item.status === 'answered')
        ? [{ item, message: result.message }]
        : [],
    );
    const placed = open.length === 0 ? [] : await by[step](open.map(({ item }) => item));
    for (const [n, { item, message }] of open.entries()) {
      const result = placed[n];
      if (result === undefined) continue;
      if (result.ok) results.set(item, { where: places[step], ...result });
      else if (result.why === 'error' && adviceOf(result.error).kind !== 'permanent') results.set(item, result);
      else {
        const why = result.why === 'error' ? result.error.message : result.message;
        results.set(item, { ok: false, why: 'closed', message: `${message} ${step}: ${why}` });
      }
    }
  }
  return items.flatMap((item) => results.get(item) ?? []);
}

/** The result of a ticket and its requester. A deleted requester does not fail a ticket that has its answer. */
function together(ticket: WriteResult | undefined, person: WriteResult | undefined): WriteResult {
  if (ticket === undefined) throw new TypeError('an answer without a result');
  if (person === undefined) return ticket;
  if (!person.ok && person.why === 'error' && adviceOf(person.error).kind !== 'permanent') return person;
  if (!ticket.ok) return ticket;
  if (!person.ok && person.why !== 'error')
    return { ...ticket, remarks: [...(ticket.remarks ?? []), 'the requester does not exist any more.'] };
  const said = person.ok ? person.findings : [person.error.message];
  return { ...ticket, findings: [...new Set([...ticket.findings, ...said])] };
}

/** Waits for both before it throws the failure of one, so that the next attempt finds no update in progress. */
async function both<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([one, other]);
  return [await one, await other];
}

/**
 * Removes answers from tickets, also from closed ones where the account allows it: clears the configured fields, removes closeloop's
 * tags, clears the requesters' fields, deletes the records of the custom object. Four calls per hundred tickets, four more for their
 * requesters. Notes and the tickets' histories stay: notes can only be redacted by hand.
 */
export function forgetter(account: Account): NonNullable<Source['forget']> {
  const { kinds, settings } = account;
  const { userFields, customObject } = settings.writeBack;

  async function forgetBatch(ids: readonly string[]): Promise<string[]> {
    const { tickets, users } = await readTickets(account, ids);
    // A field that isn't found any more may still hold answers.
    const of = async (kind: typeof kinds.tickets, loaded?: 'now') => {
      const { targets, problems } = resolve(kind, await kind.fields(loaded));
      return { targets, left: problems.map(({ at, problem }) => `${at}: ${problem}`) };
    };
    const ofTickets = await of(kinds.tickets);
    const { notes: _, settings: at, ...writing } = ticketWriting(account, ofTickets.targets, tickets);
    const writer = new DeskWriter({ vendor, record: 'ticket' }, { ...writing, settings: { ...at, tags: true } });
    const left = [...ofTickets.left, ...(await writer.forget(ids))];
    if (userFields !== undefined && users.size > 0) {
      const { targets, left: unfound } = await of(kinds.users, 'now');
      const ofUsers = new DeskWriter({ vendor, record: 'user' }, userWriting(account, targets, users));
      left.push(...unfound, ...(await ofUsers.forget([...users.keys()])));
    }
    if (customObject !== undefined) await deleteRecords(account, ids);
    if (tickets.size > 0)
      left.push("the internal notes, also those of answer rules (redact them), and the tickets' history");
    return left;
  }

  return async (recordIds) => {
    const ids = [...new Set(recordIds)].filter(isTicketId);
    const left: string[] = [];
    for (const some of chunks(ids, batchSize)) left.push(...(await forgetBatch(some)));
    return [...new Set(left)];
  };
}
