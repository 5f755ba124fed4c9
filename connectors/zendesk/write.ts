import { z } from 'zod';
import { isAnswerTag, type Noted, newestBy, noteText, tagsOf, takesAnswers } from '../../core/connector/answer.ts';
import { chunks, writeInBatches } from '../../core/connector/batches.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { Source, WriteBack } from '../../core/connector/contract.ts';
import { isFailure, type Rows } from '../../core/connector/desk/rows.ts';
import type { ChangedRow, DeskNotes } from '../../core/connector/desk/writing.ts';
import { listOf, orElse } from '../../core/entries.ts';
import type { CloseloopError } from '../../core/errors.ts';
import { type JobResult, readAll, ticketUpdates, type ZendeskApi } from './api.ts';
import { type Elsewhere, placeElsewhere, withPerson } from './elsewhere.ts';
import { type Account, type Field, type FieldWriting, isChoice, mostTextUnits, placeOf, type Value } from './fields.ts';
import { errorName } from './responses.ts';
import { batchSize, isTicketId, showUsers, type Ticket, ticketRows, type User } from './ticket.ts';

/* Writes answers on tickets, on their requesters, and on the records of a custom object. */

/** Changes up to a hundred tickets or users in three calls: update, status of the job, and reading again. */
async function update<Row extends Ticket | User>(
  api: ZendeskApi,
  what: 'tickets' | 'users',
  changes: readonly { id: number }[],
  read: (ids: readonly string[]) => Promise<Rows<Row>>,
): Promise<Map<string, Row | CloseloopError>> {
  const results = await api.updateMany(what, changes);
  const ids = changes.map(({ id }) => String(id));
  const after = await read(ids);
  const outcome = (id: string) => outcomeOf(`Zendesk ${what.slice(0, -1)} ${id}`, results.get(id), after.get(id));
  return new Map(ids.map((id) => [id, outcome(id)]));
}

function failure(place: string, problem: string, more: Partial<ConstructorParameters<typeof VendorError>[1]>) {
  const refused = { advice: { kind: 'permanent' }, outcome: 'refused', status: 422, code: '' } as const;
  return new VendorError(place, { ...refused, remedy: 'nothing is left to do', problem, ...more });
}

/** closeloop's own code for a closed ticket, as Zendesk's refusal has only prose. */
const closedTicket = 'ClosedTicket';
const isOfClosed = (error: unknown): boolean => error instanceof VendorError && error.code === closedTicket;
const ofClosed = (place: string): VendorError => failure(place, 'it is closed', { code: closedTicket });

/** The outcome of one change, by the job's status and by the record that was read again. */
function outcomeOf<Row extends Ticket | User>(
  place: string,
  result: JobResult | undefined,
  now: Row | CloseloopError | undefined,
): Row | CloseloopError {
  const again = { advice: { kind: 'transient' }, remedy: 'it is read before the next attempt' } as const;
  if (result === undefined)
    return failure(place, 'the job ended without a word on it', { ...again, outcome: 'unknown' });
  if (now === undefined) return failure(place, 'it does not exist any more', { status: 404 });
  if (isFailure(now) || result.success) return now;
  // Zendesk's message is in the language of closeloop's user, so the ticket's own status decides.
  if ('status' in now && now.status === 'closed') return ofClosed(place);
  const name = errorName(result) ?? 'refused';
  if (/conflict/i.test(name)) return failure(place, `${name}: somebody changed it at the same time`, again);
  const remedy =
    'if a field that is required to solve is empty on it, an agent must fill that in; else check that the integration user may ' +
    'edit it, and that triggers and field rules allow the values (closeloop check)';
  return failure(place, name, { remedy });
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
export function onTickets(account: Account, rows: Rows<Ticket>, isEdit = false) {
  const { api, kinds, settings } = account;
  const { note, tags } = settings.writeBack;
  return placeOf<Ticket>(kinds.tickets, (inFields) => ({
    ...{ ...inFields, at: valueIn, keepsEarlier: true },
    settings: { ...inFields.settings, note: note && !isEdit, tags },
    rows: { isId: isTicketId, size: batchSize, many: async () => rows },
    tags: (ticket) => ticket.tags,
    tagsGone: (gone) => `the tags ${gone.join(', ')} are not on the ticket; a trigger may take them off again.`,
    closed: (of) => (isOfClosed(of) ? (isEdit ? whyNoEdit : whyClosed) : undefined),
    async putMany(changed) {
      // A closed ticket takes no update; it needs none if it holds the answer.
      const bodies = changed.filter(({ row }) => isEdit || row.status !== 'closed').map((one) => bodyOf(one, inFields));
      const written = await (bodies.length > 0
        ? update<Ticket>(api, 'tickets', bodies, ticketRows(api, '').many)
        : new Map<string, Ticket | CloseloopError>());
      for (const { id, row, change } of changed) {
        const after = written.get(id);
        const print = (one: Ticket) =>
          JSON.stringify([[...change.values.keys()].map((place) => valueIn(one, place)), one.tags]);
        const isUntouched = isEdit && !isFailure(after) && after !== undefined && print(after) === print(row);
        if (after === undefined || isUntouched) written.set(id, ofClosed(`Zendesk ticket ${id}`));
      }
      return written;
    },
    ...(!isEdit && { notes: { ...ticketNotes(api), joins: mayBeNoted(inFields.fields, tags) } }),
  }));
}

function bodyOf(
  { row, change: { values, tags = row.tags }, note }: ChangedRow<Ticket, Value>,
  { fields, sent }: FieldWriting,
) {
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

/** Writes on the requesters. @param known users that were read already */
function onUsers(account: Account, known: ReadonlyMap<string, User>) {
  const { api, kinds } = account;
  async function many(ids: readonly string[]) {
    const unknown = ids.filter((id) => !known.has(id));
    return new Map([...known, ...(await showUsers(api, unknown))].filter(([, { active }]) => active !== false));
  }
  return placeOf<User>(kinds.users, ({ sent, ...inFields }) => ({
    ...{ ...inFields, rows: { isId: isTicketId, size: batchSize, many } },
    at: ({ user_fields }, key) => user_fields?.[key],
    putMany(changed) {
      const fieldsOf = (values: ChangedRow<User, Value>['change']['values']) => Object.fromEntries(sent(values));
      const bodies = changed.map(({ id, change }) => ({ id: Number(id), user_fields: fieldsOf(change.values) }));
      return update(api, 'users', bodies, (ids) => showUsers(api, ids));
    },
  }));
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
function onRecords(account: Account) {
  const { api, kinds, settings } = account;
  const { ticket } = settings.writeBack.customObject ?? {};
  async function many(ids: readonly string[]) {
    const found = await objectRecords(account, ids);
    return new Map(ids.map((id) => [id, found.get(externalId(id)) ?? { custom_object_fields: {} }]));
  }
  return placeOf<ObjectRecord>(kinds.records, ({ sent, ...inFields }) => ({
    ...{ ...inFields, rows: { isId: isTicketId, size: batchSize, many } },
    at: ({ custom_object_fields }, key) => custom_object_fields[key],
    async put({ id, change: { values } }) {
      const custom_object_fields = { ...Object.fromEntries(sent(values)), ...(ticket && { [ticket]: id }) };
      const body = { custom_object_record: { name: `Feedback on ticket ${id}`, custom_object_fields } };
      const path = `${recordsPath(account)}?external_id=${externalId(id)}`;
      return (await api.send('PATCH', path, body, One)).custom_object_record;
    },
  }));
}

/** Deletes the records of these tickets, at most 100: one call finds them, and each deletion takes one call. */
async function deleteRecords(account: Account, ticketIds: readonly string[]): Promise<void> {
  for (const id of (await objectRecords(account, ticketIds)).keys())
    await account.api.send('DELETE', `${recordsPath(account)}?external_id=${id}`, undefined, z.unknown());
}

/** Tickets and, if requesters get answers, the requesters: both are read in one call. */
async function readTickets({ api, settings: { writeBack } }: Account, recordIds: readonly string[]) {
  const ids = recordIds.filter(isTicketId);
  const tickets = await ticketRows(api, writeBack.userFields === undefined ? '' : 'users').many(ids);
  const users = [...tickets.values()].flatMap((row) => (isFailure(row) ? [] : [...row.beside.users]));
  return { tickets, users: new Map(users) };
}

/** Writes on the people who were asked, each person's newest answer. @returns the result for each answer */
async function writeOnPeople(
  account: Account,
  items: readonly WriteBack[],
  { tickets, users }: Awaited<ReturnType<typeof readTickets>>,
) {
  const asked = new Map<WriteBack, string>();
  for (const item of account.settings.writeBack.userFields === undefined ? [] : items) {
    const row = tickets.get(item.recordId);
    // The answer goes to the person who was asked, even if the ticket has another requester now.
    const person = row === undefined || isFailure(row) ? undefined : (item.personId ?? row.requester_id);
    if (item.status === 'answered' && person != null) asked.set(item, person);
  }
  const newest = newestBy(
    asked,
    ([, person]) => person,
    ([{ answeredAt }]) => answeredAt,
  );
  const toWrite = [...newest].map(([recordId, [item]]) => ({ ...item, recordId }));
  const written = toWrite.length === 0 ? [] : await onUsers(account, users).write(toWrite);
  const byPerson = new Map(toWrite.map(({ recordId }, n) => [recordId, written[n]]));
  return (item: WriteBack | undefined) => byPerson.get((item && asked.get(item)) ?? '');
}

/**
 * Writes answers on tickets: four calls per hundred (read, update, status of the job, read again), and three more if the requesters get
 * answers too. Every attempt may be repeated, because an update names the ticket's time of change. If closeloop gives up a job in Zendesk's
 * queue, or is killed, and the ticket changes meanwhile, Zendesk refuses the job: it can't add an older answer or a second note.
 */
export function answerWriter(account: Account): Source['writeBack'] {
  const { writeBack } = account.settings;
  // closeloop never puts a note on a closed ticket.
  const isEditable = takesAnswers({ ...writeBack, note: false });
  const used = writeBack.whenClosed.filter((name) => name !== 'edit' || isEditable);
  const asClosed = 'as the ticket is closed';

  return (all) =>
    writeInBatches(all, batchSize, async (items) => {
      const ids = items.map(({ recordId }) => recordId);
      const read = await readTickets(account, ids);
      // Both writes run at the same time, so that one call reads the status of both jobs. Both end before the failure of one is thrown, so that no
      // update is in progress then.
      const writes = [onTickets(account, read.tickets).write(items), writeOnPeople(account, items, read)] as const;
      await Promise.allSettled(writes);
      const [written, onPerson] = await Promise.all(writes);
      const places: Readonly<Record<(typeof used)[number], Omit<Elsewhere, 'name'>>> = {
        edit: {
          ...{ where: 'the closed ticket, without a note', takesNoAnswer: true },
          write: onTickets(account, read.tickets, true).write,
        },
        userFields: { where: `the requester's user fields, ${asClosed}`, write: async (some) => some.map(onPerson) },
        customObject: { where: `a record of the custom object, ${asClosed}`, write: onRecords(account).write },
      };
      const inOrder = used.map((name) => ({ name, ...places[name] }));
      const placed = await placeElsewhere(inOrder, items, written);
      return placed.map((one, n) => withPerson(one, onPerson(items[n]), 'the requester does not exist any more.'));
    });
}

/**
 * Removes answers from tickets, and from closed tickets if the account allows it: clears the configured fields, removes closeloop's tags,
 * clears the requesters' fields, and deletes the records of the custom object. Takes four calls per hundred tickets, and four more for their
 * requesters. Notes and the tickets' histories stay: only a person can redact notes.
 */
export function forgetter(account: Account): NonNullable<Source['forget']> {
  const { userFields, customObject } = account.settings.writeBack;
  const history = "the internal notes, also those of answer rules (redact them), and the tickets' history";
  return async (recordIds) => {
    const left = new Set<string>();
    for (const ids of chunks([...new Set(recordIds)].filter(isTicketId), batchSize)) {
      const { tickets, users } = await readTickets(account, ids);
      for (const one of await onTickets(account, tickets, true).forget(ids)) left.add(one);
      const ofPeople = userFields && (await onUsers(account, users).forget([...users.keys()], 'now'));
      for (const one of ofPeople ?? []) left.add(one);
      if (customObject !== undefined) await deleteRecords(account, ids);
      if (tickets.size > 0) left.add(history);
    }
    return [...left];
  };
}
