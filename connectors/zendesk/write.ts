import { newestBy } from '../../core/connector/answer.ts';
import { chunks, writeInBatches } from '../../core/connector/batches.ts';
import type { Source, WriteBack, WriteResult } from '../../core/connector/contract.ts';
import { isFailure } from '../../core/connector/desk/rows.ts';
import { DeskWriter } from '../../core/connector/desk/write.ts';
import { adviceOf } from '../../core/errors.ts';
import type { Account } from './account.ts';
import { type FieldKind, onFields, resolve } from './fields.ts';
import type { ZendeskSettings } from './settings.ts';
import { batchSize, isTicketId, ticketRows, type User } from './ticket.ts';
import { deleteRecords, recordWriting, ticketWriting, userWriting, type Writing } from './writing.ts';

type Items = readonly WriteBack[];

const writer = <Row>(record: string, writing: Writing<Row>) => new DeskWriter({ vendor: 'Zendesk', record }, writing);

/** Tickets, and their requesters where these get answers, in one call. */
async function readTickets({ api, settings: { writeBack } }: Account, recordIds: readonly string[]) {
  const ids = recordIds.filter(isTicketId);
  const tickets = await ticketRows(api, writeBack.userFields === undefined ? '' : 'users').many(ids);
  const users = [...tickets.values()].flatMap((row) => (isFailure(row) ? [] : [...row.beside.users]));
  return { tickets, users: new Map(users) };
}

/**
 * Writes answers on tickets: four calls per hundred (read, update, status of the job, read again), three more where the requesters get
 * them too. Every attempt may be repeated: an update names the state of its ticket that it was made for. Zendesk refuses a job that was
 * still in its queue when closeloop gave the job up, or died, if the ticket has changed meanwhile: no older answer and no second note is
 * put on it.
 */
export function answerWriter(account: Account): Source['writeBack'] {
  const { kinds, settings } = account;
  const { userFields, whenClosed } = settings.writeBack;

  /** Writes each person's newest answer. Returns the result for each answer. */
  async function onPeople(asked: ReadonlyMap<WriteBack, string>, known: ReadonlyMap<string, User>) {
    const newest = newestBy(
      asked,
      ([, userId]) => userId,
      ([{ answeredAt }]) => answeredAt,
    );
    const items = [...newest].map(([recordId, [item]]) => ({ ...item, recordId }));
    if (items.length === 0) return () => undefined;
    const written = await onFields(settings, kinds.users, (targets) =>
      writer('user', userWriting(account, targets, known)).write(items),
    );
    const userIds = [...newest.keys()];
    return (item: WriteBack | undefined) => written[userIds.indexOf((item && asked.get(item)) ?? '')];
  }

  const onRecords = (items: Items) =>
    onFields(settings, kinds.records, (targets) => writer('record', recordWriting(account, targets)).write(items));

  async function writeBatch(items: Items): Promise<WriteResult[]> {
    const ids = items.map(({ recordId }) => recordId);
    const { tickets, users } = await readTickets(account, ids);
    const onTickets = (some: Items, isEdit = false) =>
      onFields(settings, kinds.tickets, (targets) =>
        writer('ticket', ticketWriting(account, targets, tickets, isEdit)).write(some),
      );
    const asked = new Map<WriteBack, string>();
    for (const item of userFields === undefined ? [] : items) {
      const row = tickets.get(item.recordId);
      // The person who was asked, even if the ticket has another requester now.
      const person = row === undefined || isFailure(row) ? undefined : (item.personId ?? row.requester_id);
      if (item.status === 'answered' && person != null) asked.set(item, person);
    }
    // Together, so that one call reads the status of both jobs.
    const [written, onPerson] = await both(onTickets(items), onPeople(asked, users));
    const placed = await placeElsewhere(whenClosed, items, written, {
      edit: (some) => onTickets(some, true),
      userFields: async (some) => some.map(onPerson),
      customObject: onRecords,
    });
    return placed.map((result, n) => together(result, onPerson(items[n])));
  }

  return (items) => writeInBatches(items, batchSize, writeBatch);
}

type Step = ZendeskSettings['writeBack']['whenClosed'][number];
type Placing = (items: Items) => Promise<(WriteResult | undefined)[]>;

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
  items: Items,
  written: readonly WriteResult[],
  by: Readonly<Record<Step, Placing>>,
): Promise<WriteResult[]> {
  const results = [...written];
  for (const step of steps) {
    const open = results.flatMap((result, n) => {
      const item = items[n];
      // That no answer came is written on the ticket alone.
      const isFor = item !== undefined && (step === 'edit' || item.status === 'answered');
      return isFor && !result.ok && result.why === 'closed' ? [{ n, item, message: result.message }] : [];
    });
    const placed = open.length === 0 ? [] : await by[step](open.map(({ item }) => item));
    for (const [index, { n, message }] of open.entries()) {
      const result = placed[index];
      if (result?.ok) results[n] = { where: places[step], ...result };
      else if (result?.why === 'error' && adviceOf(result.error).kind !== 'permanent') results[n] = result;
      else if (result) results[n] = { ok: false, why: 'closed', message: `${message} ${step}: ${messageIn(result)}` };
    }
  }
  return results;
}

const messageIn = (result: Exclude<WriteResult, { ok: true }>): string =>
  result.why === 'error' ? result.error.message : result.message;

/** The result of a ticket and its requester. A deleted requester does not fail a ticket that has its answer. */
function together(ticket: WriteResult, person: WriteResult | undefined): WriteResult {
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

/** The fields to be emptied. One that isn't found any more may still hold answers. */
async function toEmpty(kind: FieldKind, loaded?: 'now') {
  const { targets, problems } = resolve(kind, await kind.fields(loaded));
  return { targets, unfound: problems.map(({ at, problem }) => `${at}: ${problem}`) };
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
    const inTickets = await toEmpty(kinds.tickets);
    const { notes: _, ...writing } = ticketWriting(account, inTickets.targets, tickets);
    const withTags = { ...writing, settings: { ...writing.settings, tags: true } };
    const left = [...inTickets.unfound, ...(await writer('ticket', withTags).forget(ids))];
    if (userFields !== undefined) {
      const { targets, unfound } = await toEmpty(kinds.users, 'now');
      left.push(...unfound, ...(await writer('user', userWriting(account, targets, users)).forget([...users.keys()])));
    }
    if (customObject !== undefined) await deleteRecords(account, ids);
    const history = "the internal notes, also those of answer rules (redact them), and the tickets' history";
    return tickets.size > 0 ? [...left, history] : left;
  }

  return async (recordIds) => {
    const left: string[] = [];
    for (const some of chunks([...new Set(recordIds)].filter(isTicketId), batchSize))
      left.push(...(await forgetBatch(some)));
    return [...new Set(left)];
  };
}
