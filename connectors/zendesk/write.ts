import { z } from 'zod';
import { isAnswerTag, type Noted, newestBy, noteText, tagsOf, takesAnswers } from '../../core/connector/answer.ts';
import { chunks, writeInBatches } from '../../core/connector/batches.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { Source, WriteBack, WriteResult } from '../../core/connector/contract.ts';
import { isFailure, type RowReading, type Rows } from '../../core/connector/desk/rows.ts';
import { type ChangedRow, type DeskNotes, DeskWriter, type DeskWriting } from '../../core/connector/desk/write.ts';
import { listOf, orElse } from '../../core/entries.ts';
import type { CloseloopError } from '../../core/errors.ts';
import { type Account, type JobResult, updateMany } from './account.ts';
import { readAll, ticketUpdates, type ZendeskApi } from './api.ts';
import { type Elsewhere, placeElsewhere, withPerson } from './elsewhere.ts';
import { type Field, type FieldKind, onFields, resolve, type Targets } from './fields.ts';
import { errorName } from './responses.ts';
import { batchSize, isTicketId, showUsers, type Ticket, ticketRows, type User } from './ticket.ts';
import { fieldWriting, isChoice, mostTextUnits, type Value } from './values.ts';

/* Writes answers on tickets, on their requesters, and on the records of a custom object. */

type Writing<Row> = DeskWriting<Row, Value> & { rows: RowReading<Row> };
type Failure = Partial<ConstructorParameters<typeof VendorError>[1]>;

/** Changes up to a hundred tickets or users in three calls: update, status of the job, and reading again. */
async function update<Row extends Ticket | User>(
  what: 'tickets' | 'users',
  changes: readonly { id: number }[],
  account: Account,
  read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Row | CloseloopError>>,
): Promise<Map<string, Row | CloseloopError>> {
  const results = await updateMany(account, what, changes);
  const ids = changes.map(({ id }) => String(id));
  const after = await read(ids);
  const outcome = (id: string) => outcomeOf(`Zendesk ${what.slice(0, -1)} ${id}`, results.get(id), after.get(id));
  return new Map(ids.map((id) => [id, outcome(id)]));
}

/** closeloop's own code for a closed ticket, as Zendesk's refusal has only prose. */
const closedTicket = 'ClosedTicket';
const isOfClosed = (error: unknown): boolean => error instanceof VendorError && error.code === closedTicket;

function failure(place: string, problem: string, remedy = 'nothing is left to do', more: Failure = {}): VendorError {
  const refused = { advice: { kind: 'permanent' }, outcome: 'refused', status: 422, code: '' } as const;
  return new VendorError(place, { ...refused, problem, remedy, ...more });
}

/** The outcome of one change, by the job's status and by the record that was read again. */
function outcomeOf<Row extends Ticket | User>(
  place: string,
  result: JobResult | undefined,
  now: Row | CloseloopError | undefined,
): Row | CloseloopError {
  const transient = { advice: { kind: 'transient' } } as const;
  const again = 'it is read before the next attempt';
  if (result === undefined)
    return failure(place, 'the job ended without a word on it', again, { ...transient, outcome: 'unknown' });
  if (now === undefined) return failure(place, 'it does not exist any more', undefined, { status: 404 });
  if (isFailure(now) || result.success) return now;
  // Zendesk's message is in the language of closeloop's user, so the ticket's own status decides.
  if ('status' in now && now.status === 'closed')
    return failure(place, 'it is closed', undefined, { code: closedTicket });
  const name = errorName(result) ?? 'refused';
  if (/conflict/i.test(name)) return failure(place, `${name}: somebody changed it at the same time`, again, transient);
  const remedy =
    'if a field that is required to solve is empty on it, an agent must fill that in; else check that the integration user may ' +
    'edit it, and that triggers and field rules allow the values (closeloop check)';
  return failure(place, name, remedy);
}

const Audit = z.object({
  events: listOf(z.object({ type: z.string().nullish(), body: z.unknown().optional() })).default([]),
  metadata: orElse(z.object({ custom: z.object({ closeloop_ref: z.unknown() }).partial().nullish() }), null),
});

/** A note. Its reference is also in the metadata of the change, which stays when an agent edits or redacts the note. */
export const noteOn = (about: Noted) => ({
  comment: { body: noteText(about, mostTextUnits), public: false },
  metadata: { closeloop_ref: about.marker },
});

/** Looks for notes in the ticket's whole history, 100 entries per call. */
export const ticketNotes = (api: ZendeskApi): DeskNotes<Ticket> => ({
  async list({ id }) {
    const audits = await readAll(api, `/api/v2/tickets/${id}/audits.json`, 'audits', Audit);
    return audits.flatMap(({ events, metadata }) => {
      const texts = events.flatMap(({ type, body }) => (type === 'Comment' ? [String(body)] : []));
      const marker = metadata?.custom?.closeloop_ref;
      const isOurs = typeof marker === 'string' && texts.length > 0;
      return (isOurs ? [noteText({ text: '', marker })] : texts).map((text) => ({ id: '', text }));
    });
  },
  add: (ticket, about) => changeTicket(api, ticket, noteOn(about)),
});

const valueIn = ({ custom_fields }: Ticket, id: string) =>
  custom_fields.find((field) => field.id === id)?.value ?? null;

/** Adds the ticket's time of change to an update: Zendesk refuses the update if the ticket has changed meanwhile. */
export const guarded = ({ updated_at }: Ticket, change: object): object => ({
  ...{ ...change, safe_update: true, updated_stamp: updated_at },
});
export const changeTicket = (api: ZendeskApi, ticket: Ticket, change: object): Promise<unknown> =>
  api.send('PUT', `/api/v2/tickets/${ticket.id}.json`, { ticket: guarded(ticket, change) }, z.unknown(), ticketUpdates);

/** Whether a ticket shows that an earlier attempt arrived: by tags, or by fields other than dropdowns, which drop a value without an option. */
function mayBeNoted(fields: readonly Field[], isTagged: boolean): NonNullable<DeskNotes<Ticket>['joins']> {
  const marks = new Set(fields.filter((field) => !isChoice(field)).map(({ id }) => id));
  return (ticket, item, wanted, lacking) => {
    const given = [...wanted.values].flatMap(([id, value]) => (value !== null && marks.has(id) ? [id] : []));
    const own = isTagged ? tagsOf(item) : [];
    const isMarked = given.some((id) => !lacking.values.has(id)) || own.some((tag) => ticket.tags.includes(tag));
    if (given.length + own.length > 0) return isMarked;
    // Without such marks only the time decides, with five minutes for the difference between the clocks of Zendesk and of the Feedback service.
    return Date.parse(ticket.updated_at) >= item.answeredAt.getTime() - 5 * 60_000;
  };
}

const whyClosed =
  'it is closed; a longer time before closing (automation "Close ticket") leaves room for late answers, writeBack.whenClosed names other places';
const whyNoEdit =
  'Zendesk did not take it; "Modify closed ticket" must be on (Admin Center > Objects and rules > Tickets > Settings), ' +
  'the integration user an admin, and the fields of a type that it may change';

/**
 * Writes on tickets. Fields, tags and note of an answer are one change, so they arrive together. Never writes the status, and never `tags` as
 * a whole, which would replace the tags of others.
 * @param rows the tickets as they were read
 * @param isEdit whether to write on closed tickets, too: they take fields and tags if the account allows it, and never a note
 */
export function ticketWriting(account: Account, targets: Targets, rows: Rows<Ticket>, isEdit = false): Writing<Ticket> {
  const { api, kinds, settings } = account;
  const { writeBack } = settings;
  const { sent, ...inFields } = fieldWriting(kinds.tickets, targets, writeBack);
  const fields = [...targets.values()];

  function bodyOf({ row, change: { values, tags = row.tags }, note }: ChangedRow<Ticket, Value>) {
    // A dropdown's value is also a tag, which changes together with the field; removing the tag would clear the field.
    const ofFields = fields.flatMap(({ id }) => valueIn(row, id));
    const [added, removed] = [tags.filter((tag) => !row.tags.includes(tag)), row.tags.filter(isAnswerTag)];
    const remove_tags = removed.filter((tag) => !tags.includes(tag) && !ofFields.includes(tag));
    const change = {
      ...(values.size > 0 && { custom_fields: sent(values).map(([id, value]) => ({ id: Number(id), value })) }),
      ...(added.length > 0 && { additional_tags: added }),
      ...(remove_tags.length > 0 && { remove_tags }),
      ...(note && noteOn(note)),
    };
    return { id: Number(row.id), ...guarded(row, change) };
  }
  async function put(changed: readonly ChangedRow<Ticket, Value>[]) {
    // A closed ticket takes no update; it needs none if it holds the answer.
    const isShut = ({ row }: ChangedRow<Ticket, Value>) => row.status === 'closed' && !isEdit;
    const bodies = changed.filter((one) => !isShut(one)).map(bodyOf);
    const read = ticketRows(api, '').many;
    const written =
      bodies.length > 0
        ? await update<Ticket>('tickets', bodies, account, read)
        : new Map<string, Ticket | CloseloopError>();
    const closed = (id: string, why: string) => failure(`Zendesk ticket ${id}`, why, undefined, { code: closedTicket });
    for (const { id } of changed.filter(isShut)) written.set(id, closed(id, 'it is closed'));
    for (const { id, row, change } of isEdit ? changed : []) {
      const after = written.get(id);
      const print = (one: Ticket) =>
        JSON.stringify([[...change.values.keys()].map((place) => valueIn(one, place)), one.tags]);
      const isUntouched = after !== undefined && !isFailure(after) && print(after) === print(row);
      if (isUntouched) written.set(id, closed(id, whyNoEdit));
    }
    return written;
  }

  return {
    ...inFields,
    settings: { ...inFields.settings, note: writeBack.note && !isEdit, tags: writeBack.tags },
    rows: { isId: isTicketId, size: batchSize, many: async () => rows },
    at: valueIn,
    keepsEarlier: true,
    tags: ({ tags }) => tags,
    tagsGone: (tags) => `the tags ${tags.join(', ')} are not on the ticket; a trigger may take them off again.`,
    closed: (of) => (isOfClosed(of) ? (isEdit ? whyNoEdit : whyClosed) : undefined),
    putMany: put,
    notes: {
      ...ticketNotes(api),
      joins: mayBeNoted(fields, writeBack.tags),
    },
  };
}

/** Writes on the requesters. @param known users that were read already */
function userWriting(account: Account, targets: Targets, known: ReadonlyMap<string, User>): Writing<User> {
  const { api, kinds, settings } = account;
  const { sent, ...inFields } = fieldWriting(kinds.users, targets, settings.writeBack);
  const put = ({ id, change }: ChangedRow<User, Value>) => {
    return { id: Number(id), user_fields: Object.fromEntries(sent(change.values)) };
  };
  async function many(ids: readonly string[]) {
    const unknown = ids.filter((id) => !known.has(id));
    return new Map([...known, ...(await showUsers(api, unknown))].filter(([, { active }]) => active !== false));
  }
  return {
    ...{ ...inFields, rows: { isId: isTicketId, size: batchSize, many } },
    at: ({ user_fields }, key) => user_fields?.[key],
    putMany: (changed) => update('users', changed.map(put), account, (ids) => showUsers(api, ids)),
  };
}

const ObjectRecord = z.object({
  external_id: z.string().nullish(),
  custom_object_fields: z.record(z.string(), z.unknown()).default({}),
});
type ObjectRecord = z.output<typeof ObjectRecord>;
const One = z.object({ custom_object_record: ObjectRecord });
const Many = z.object({ custom_object_records: listOf(ObjectRecord) });
const externalId = (ticketId: string): string => `ticket-${ticketId}`;
const recordsPath = ({ settings: { writeBack } }: Account): string =>
  `/api/v2/custom_objects/${writeBack.customObject?.object}/records`;

/** Finds records of the custom object by their external ids. */
async function objectRecords(account: Account, ticketIds: readonly string[]): Promise<Map<string, ObjectRecord>> {
  const path = `${recordsPath(account)}?filter[external_ids]=${ticketIds.map(externalId).join(',')}&page[size]=100`;
  const found = (await account.api.get(path, Many)).custom_object_records;
  return new Map(found.flatMap((one) => (one.external_id == null ? [] : [[one.external_id, one]])));
}

/**
 * Writes on records of the custom object: one record for each ticket, found by the ticket's id. One call finds a hundred records; writing
 * takes one call per record.
 */
function recordWriting(account: Account, targets: Targets): Writing<ObjectRecord> {
  const { api, kinds, settings } = account;
  const { sent, ...inFields } = fieldWriting(kinds.records, targets, settings.writeBack);
  const { ticket } = settings.writeBack.customObject ?? {};
  async function many(ids: readonly string[]) {
    const found = await objectRecords(account, ids);
    return new Map(ids.map((id) => [id, found.get(externalId(id)) ?? { custom_object_fields: {} }]));
  }
  return {
    ...{ ...inFields, rows: { isId: isTicketId, size: batchSize, many } },
    at: ({ custom_object_fields }, key) => custom_object_fields[key],
    async put({ id, change: { values } }) {
      const custom_object_fields = {
        ...Object.fromEntries(sent(values)),
        ...(ticket !== undefined && { [ticket]: id }),
      };
      const body = { custom_object_record: { name: `Feedback on ticket ${id}`, custom_object_fields } };
      const path = `${recordsPath(account)}?external_id=${externalId(id)}`;
      return (await api.send('PATCH', path, body, One)).custom_object_record;
    },
  };
}

/** Deletes the records of these tickets, at most 100: one call finds them, and each deletion takes one call. */
async function deleteRecords(account: Account, ticketIds: readonly string[]): Promise<void> {
  for (const id of (await objectRecords(account, ticketIds)).keys())
    await account.api.send('DELETE', `${recordsPath(account)}?external_id=${id}`, undefined, z.unknown());
}

type Items = readonly WriteBack[];
const asClosed = 'as the ticket is closed';

const writer = <Row>(record: string, writing: Writing<Row>) => new DeskWriter({ vendor: 'Zendesk', record }, writing);

/** Reads tickets and, if requesters get answers, the requesters, in one call. */
async function readTickets({ api, settings: { writeBack } }: Account, recordIds: readonly string[]) {
  const ids = recordIds.filter(isTicketId);
  const tickets = await ticketRows(api, writeBack.userFields === undefined ? '' : 'users').many(ids);
  const users = [...tickets.values()].flatMap((row) => (isFailure(row) ? [] : [...row.beside.users]));
  return { tickets, users: new Map(users) };
}

/**
 * Writes answers on tickets: four calls per hundred (read, update, status of the job, read again), and three more if the requesters get
 * answers too. Every attempt may be repeated, because an update names the ticket's time of change. If closeloop gives up a job in Zendesk's
 * queue, or is killed, and the ticket changes meanwhile, Zendesk refuses the job: it can't add an older answer or a second note.
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
    const written = await onFields(kinds.users, (targets) =>
      writer('user', userWriting(account, targets, known)).write(items),
    );
    const userIds = [...newest.keys()];
    return (item: WriteBack | undefined) => written[userIds.indexOf((item && asked.get(item)) ?? '')];
  }

  const onRecords = (items: Items) =>
    onFields(kinds.records, (targets) => writer('record', recordWriting(account, targets)).write(items));

  async function writeBatch(items: Items): Promise<WriteResult[]> {
    const ids = items.map(({ recordId }) => recordId);
    const { tickets, users } = await readTickets(account, ids);
    const onTickets = (some: Items, isEdit = false) =>
      onFields(kinds.tickets, (targets) =>
        writer('ticket', ticketWriting(account, targets, tickets, isEdit)).write(some),
      );
    const asked = new Map<WriteBack, string>();
    for (const item of userFields === undefined ? [] : items) {
      const row = tickets.get(item.recordId);
      // The answer goes to the person who was asked, even if the ticket has another requester now.
      const person = row === undefined || isFailure(row) ? undefined : (item.personId ?? row.requester_id);
      if (item.status === 'answered' && person != null) asked.set(item, person);
    }
    // Both writes run at the same time, so that one call reads the status of both jobs. Both end before the failure of one is thrown, so that no
    // update is in progress then.
    const writes = [onTickets(items), onPeople(asked, users)] as const;
    await Promise.allSettled(writes);
    const [written, onPerson] = await Promise.all(writes);
    const steps: Readonly<Record<(typeof whenClosed)[number], Omit<Elsewhere, 'name'>>> = {
      edit: { where: 'the closed ticket, without a note', write: (some) => onTickets(some, true), takesNoAnswer: true },
      userFields: { where: `the requester's user fields, ${asClosed}`, write: async (some) => some.map(onPerson) },
      customObject: { where: `a record of the custom object, ${asClosed}`, write: onRecords },
    };
    // closeloop never puts a note on a closed ticket.
    const isEditable = takesAnswers({ ...settings.writeBack, note: false });
    const used = whenClosed.filter((name) => name !== 'edit' || isEditable);
    const places = used.map((name) => ({ name, ...steps[name] }));
    const placed = await placeElsewhere(places, items, written);
    return placed.map((result, n) => withPerson(result, onPerson(items[n]), 'the requester does not exist any more.'));
  }

  return (items) => writeInBatches(items, batchSize, writeBatch);
}

/** The fields to clear. A field that isn't found any more may still hold answers. */
async function toEmpty(kind: FieldKind, loaded?: 'now') {
  const { targets, problems } = resolve(kind, await kind.fields(loaded));
  return { targets, unfound: problems.map(({ at, problem }) => `${at}: ${problem}`) };
}

/**
 * Removes answers from tickets, and from closed tickets if the account allows it: clears the configured fields, removes closeloop's tags,
 * clears the requesters' fields, and deletes the records of the custom object. Takes four calls per hundred tickets, and four more for their
 * requesters. Notes and the tickets' histories stay: only a person can redact notes.
 */
export function forgetter(account: Account): NonNullable<Source['forget']> {
  const { kinds, settings } = account;
  const { userFields, customObject } = settings.writeBack;

  async function forgetBatch(ids: readonly string[]): Promise<string[]> {
    const { tickets, users } = await readTickets(account, ids);
    const inTickets = await toEmpty(kinds.tickets);
    const { notes: _, ...writing } = ticketWriting(account, inTickets.targets, tickets, true);
    const left = [...inTickets.unfound, ...(await writer('ticket', writing).forget(ids))];
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
