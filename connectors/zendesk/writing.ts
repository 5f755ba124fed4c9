import { z } from 'zod';
import { isAnswerTag, type Noted, noteText, tagsOf } from '../../core/connector/answer.ts';
import { VendorError } from '../../core/connector/classify.ts';
import { isFailure, type RowReading, type Rows } from '../../core/connector/desk/rows.ts';
import type { ChangedRow, DeskNotes, DeskWriting } from '../../core/connector/desk/write.ts';
import { listOf, orElse } from '../../core/entries.ts';
import type { CloseloopError } from '../../core/errors.ts';
import { readAll, ticketUpdates, type ZendeskApi } from './api.ts';
import type { FieldKinds, Targets } from './fields.ts';
import { type JobResult, type JobWatch, updateMany } from './jobs.ts';
import { errorName } from './responses.ts';
import type { ZendeskSettings } from './settings.ts';
import { batchSize, isTicketId, showUsers, type Ticket, ticketRows, type User } from './ticket.ts';
import { fieldWriting, isChoice, mostTextUnits, type Value } from './values.ts';

/* How answers get on tickets, on their requesters, and on the records of a custom object. */

/** What writing needs to know. */
export interface Account {
  settings: Pick<ZendeskSettings, 'subdomain' | 'writeBack'>;
  api: ZendeskApi;
  kinds: FieldKinds;
  finished: JobWatch;
}

type Writing<Row> = DeskWriting<Row, Value> & { rows: RowReading<Row> };
type Written<Row> = Map<string, Row | CloseloopError>;

/** Changes up to a hundred tickets or users in three calls: update, status of the job, read again. */
async function update<Row extends Ticket | User>(
  what: 'tickets' | 'users',
  changes: readonly { id: number }[],
  { api, finished }: Account,
  read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Row | CloseloopError>>,
): Promise<Written<Row>> {
  const results = await updateMany(api, finished, what, changes);
  const ids = changes.map(({ id }) => String(id));
  const after = await read(ids);
  return new Map(
    ids.map((id) => [id, outcomeOf(`Zendesk ${what.slice(0, -1)} ${id}`, results.get(id), after.get(id))]),
  );
}

/** The code of our own: Zendesk's refusal tells it in words only. */
const closedTicket = 'ClosedTicket';

type Failure = Partial<ConstructorParameters<typeof VendorError>[1]>;
const failure = (place: string, problem: string, remedy: string, more: Failure): VendorError =>
  new VendorError(place, {
    ...{ advice: { kind: 'permanent' }, outcome: 'refused', problem, remedy, status: 422, code: '' },
    ...more,
  });

/** By the job's status and by the record that was read again. */
function outcomeOf<Row extends Ticket | User>(
  place: string,
  result: JobResult | undefined,
  now: Row | CloseloopError | undefined,
): Row | CloseloopError {
  const failed = (problem: string, remedy: string, more: Failure = {}) => failure(place, problem, remedy, more);
  const transient = { advice: { kind: 'transient' } } as const;
  if (result === undefined)
    return failed('the job ended without a word on it', 'it is read before the next attempt', {
      ...transient,
      outcome: 'unknown',
    });
  if (now === undefined) return failed('it does not exist any more', 'nothing is left to do', { status: 404 });
  if (isFailure(now) || result.success) return now;
  // Zendesk's message is in the API user's language, so the ticket itself decides.
  if ('status' in now && now.status === 'closed')
    return failed('it is closed', 'nothing is left to do', { code: closedTicket });
  const name = errorName(result) ?? 'refused';
  if (/conflict/i.test(name))
    return failed(`${name}: somebody changed it at the same time`, 'it is tried again', transient);
  const remedy =
    'if a field that is required to solve is empty on it, an agent must fill that in; else check that the integration user may ' +
    'edit it, and that triggers and field rules allow the values (closeloop check)';
  return failed(name, remedy);
}

const Audit = z.object({
  events: listOf(z.object({ type: z.string().nullish(), body: z.unknown().optional() })).default([]),
  metadata: orElse(z.object({ custom: z.object({ closeloop_ref: z.unknown() }).partial().nullish() }), null),
});

/** The note's reference is in the metadata of the change as well, which an agent who edits or redacts the note doesn't change. */
export const noteOn = (about: Noted): object => ({
  comment: { body: noteText(about, mostTextUnits), public: false },
  metadata: { closeloop_ref: about.marker },
});

/** Looked for in the ticket's whole history, 100 entries per call. */
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

/** An update names the state of the ticket that it was made for: it is not put over another change. */
export const guarded = ({ updated_at }: Ticket, change: object): object => ({
  ...{ ...change, safe_update: true, updated_stamp: updated_at },
});
export const changeTicket = (api: ZendeskApi, ticket: Ticket, change: object): Promise<unknown> =>
  api.send('PUT', `/api/v2/tickets/${ticket.id}.json`, { ticket: guarded(ticket, change) }, z.unknown(), ticketUpdates);

/**
 * On tickets. Fields, tags and note of an answer are one change, and its parts arrive together. Never the status, and never `tags` as a
 * whole, which would replace the tags of others.
 * @param rows as they were read
 */
export function ticketWriting(account: Account, targets: Targets, rows: Rows<Ticket>): Writing<Ticket> {
  const { api, kinds, settings } = account;
  const { writeBack } = settings;
  const inFields = fieldWriting(kinds.tickets, targets, writeBack);
  const fields = [...targets.values()];
  /** Fields that show that an earlier attempt arrived. A dropdown does not: a value without an option is dropped. */
  const marks = new Set(fields.filter((field) => !isChoice(field)).map(({ id }) => id));
  const isTick = (id: string) => fields.some((field) => field.id === id && field.type === 'checkbox');

  function bodyOf({ row, change: { values, tags }, note }: ChangedRow<Ticket, Value>) {
    // A dropdown's value is also a tag, which changes with the field; removing the tag would clear the field.
    const ofFields = fields.flatMap(({ id }) => valueIn(row, id));
    const added = tags?.filter((tag) => !row.tags.includes(tag)) ?? [];
    const removed =
      tags && row.tags.filter((tag) => isAnswerTag(tag) && !tags.includes(tag) && !ofFields.includes(tag));
    const custom_fields = [...values].map(([id, value]) => ({
      id: Number(id),
      value: value ?? (isTick(id) ? false : null),
    }));
    const change = {
      ...(custom_fields.length > 0 && { custom_fields }),
      ...(added.length > 0 && { additional_tags: added }),
      ...(removed && removed.length > 0 && { remove_tags: removed }),
      ...(note && noteOn(note)),
    };
    return { id: Number(row.id), ...guarded(row, change) };
  }

  return {
    ...inFields,
    settings: { ...inFields.settings, note: writeBack.note, tags: writeBack.tags },
    rows: { isId: isTicketId, size: batchSize, many: async () => rows },
    at: valueIn,
    keepsEarlier: true,
    tags: ({ tags }) => tags,
    tagsGone: (tags) => `the tags ${tags.join(', ')} are not on the ticket; a trigger may take them off again.`,
    closed(of) {
      const isClosed = of instanceof VendorError ? of.code === closedTicket : of.status === 'closed';
      const why =
        'it is closed; a longer time before closing (automation "Close ticket") leaves room for late answers, writeBack.whenClosed names other places';
      return isClosed ? why : undefined;
    },
    putMany: (changed) => update<Ticket>('tickets', changed.map(bodyOf), account, ticketRows(api, '').many),
    notes: {
      ...ticketNotes(api),
      joins(ticket, item, wanted, lacking) {
        const given = [...wanted.values].flatMap(([id, value]) => (value !== null && marks.has(id) ? [id] : []));
        const own = writeBack.tags ? tagsOf(item) : [];
        // Nothing but the time: with five minutes for the difference between Zendesk's clock and the Feedback service's.
        if (given.length + own.length === 0)
          return Date.parse(ticket.updated_at) >= item.answeredAt.getTime() - 5 * 60_000;
        return given.some((id) => !lacking.values.has(id)) || own.some((tag) => ticket.tags.includes(tag));
      },
    },
  };
}

/** On closed tickets, which take fields and tags where the account allows that, and never a note. */
export function closedTicketWriting(of: Writing<Ticket>): Writing<Ticket> {
  const { putMany, at, settings, ...writing } = of;
  return {
    ...{ ...writing, at, settings: { ...settings, note: false } },
    closed: (failure) => (failure instanceof VendorError && failure.code === closedTicket ? whyNoEdit : undefined),
    async putMany(changed) {
      const written = new Map(await putMany?.(changed));
      for (const { id, row, change } of changed) {
        const print = (one: Ticket) =>
          JSON.stringify([[...change.values.keys()].map((place) => at(one, place)), one.tags]);
        const after = written.get(id);
        const isUntouched = after !== undefined && 'custom_fields' in after && print(after) === print(row);
        if (isUntouched) written.set(id, failure(`Zendesk ticket ${id}`, whyNoEdit, '', { code: closedTicket }));
      }
      return written;
    },
  };
}

const whyNoEdit =
  'Zendesk did not take it; "Modify closed ticket" must be on (Admin Center > Objects and rules > Tickets > Settings), ' +
  'the integration user an admin, and the fields of a type that it may change';

/** On the requesters. @param known users that have been read */
export function userWriting(account: Account, targets: Targets, known: ReadonlyMap<string, User>): Writing<User> {
  const { api, kinds, settings } = account;
  const put = ({ id, change }: ChangedRow<User, Value>) => ({
    id: Number(id),
    user_fields: Object.fromEntries(change.values),
  });
  return {
    ...fieldWriting(kinds.users, targets, settings.writeBack),
    rows: {
      ...{ isId: isTicketId, size: batchSize },
      async many(ids) {
        const others = await showUsers(
          api,
          ids.filter((id) => !known.has(id)),
        );
        return new Map([...known, ...others].filter(([, { active }]) => active !== false));
      },
    },
    at: ({ user_fields }, key) => user_fields?.[key],
    putMany: (changed) => update('users', changed.map(put), account, (ids) => showUsers(api, ids)),
  };
}

const ObjectRecord = z.object({
  external_id: z.string().nullish(),
  custom_object_fields: z.record(z.string(), z.unknown()).default({}),
});
type ObjectRecord = z.output<typeof ObjectRecord>;
const externalId = (ticketId: string): string => `ticket-${ticketId}`;

/** On records of the custom object: one for each ticket, by whose id a record is found. One call to find a hundred, and one to write each. */
export function recordWriting(
  { api, kinds, settings: { writeBack } }: Account,
  targets: Targets,
): Writing<ObjectRecord> {
  const { ticket } = writeBack.customObject ?? {};
  return {
    ...fieldWriting(kinds.records, targets, writeBack),
    rows: {
      ...{ isId: isTicketId, size: batchSize },
      async many(ids) {
        const found = await objectRecords(api, writeBack, ids);
        return new Map(ids.map((id) => [id, found.get(externalId(id)) ?? { custom_object_fields: {} }]));
      },
    },
    at: ({ custom_object_fields }, key) => custom_object_fields[key],
    async put({ id, change: { values } }) {
      const custom_object_fields = { ...Object.fromEntries(values), ...(ticket !== undefined && { [ticket]: id }) };
      const body = { custom_object_record: { name: `Feedback on ticket ${id}`, custom_object_fields } };
      const path = `${pathOf(writeBack)}?external_id=${externalId(id)}`;
      return (await api.send('PATCH', path, body, z.object({ custom_object_record: ObjectRecord })))
        .custom_object_record;
    },
  };
}

/** Deletes the records of these tickets, at most 100: one call to find them, and one per record. */
export async function deleteRecords(
  { api, settings: { writeBack } }: Account,
  ticketIds: readonly string[],
): Promise<void> {
  for (const id of (await objectRecords(api, writeBack, ticketIds)).keys())
    await api.send('DELETE', `${pathOf(writeBack)}?external_id=${id}`, undefined, z.unknown());
}

const pathOf = ({ customObject }: ZendeskSettings['writeBack']): string =>
  `/api/v2/custom_objects/${customObject?.object}/records`;

/** By external id. */
async function objectRecords(api: ZendeskApi, writeBack: ZendeskSettings['writeBack'], ticketIds: readonly string[]) {
  const path = `${pathOf(writeBack)}?filter[external_ids]=${ticketIds.map(externalId).join(',')}&page[size]=100`;
  const { custom_object_records } = await api.get(path, z.object({ custom_object_records: listOf(ObjectRecord) }));
  return new Map(
    custom_object_records.flatMap((one) => (one.external_id == null ? [] : [[one.external_id, one] as const])),
  );
}
