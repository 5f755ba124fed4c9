import { isOlderThan, newerStays } from '../../core/connector/answer.ts';
import type { WriteBack, WriteResult } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import { instant, isSameValue, notTaken, propertiesOf } from './answer.ts';
import type { HubSpotApi } from './api.ts';
import { currentOf } from './batch.ts';
import { chooseContacts } from './contacts.ts';
import { create, find, noteOn, withoutNotes } from './engagement.ts';
import { type ObjectType, objectTypes, type Properties, parseRecordId } from './objects.ts';
import type { HubSpotSettings } from './settings.ts';
import { type Update, updateConfirmed } from './update.ts';

/** An answer and its record, by the record's present id. */
interface Order {
  item: WriteBack;
  type: ObjectType;
  id: string;
  properties: Record<string, string>;
  /** The record's properties before the write, where read. */
  before?: Properties | undefined;
}

/**
 * Writes the answers' properties, then the notes, then the contacts' properties: each one call per 100. Notes need a read before, which
 * shows whether an earlier attempt may have written the note: one call per 250 where no record has one; so do contacts with `answeredAt`.
 */
export function writer(settings: HubSpotSettings, api: HubSpotApi) {
  const { writeBack } = settings;
  const onContacts = Object.keys(writeBack.contact).length > 0;

  return async (items: readonly WriteBack[]): Promise<WriteResult[]> => {
    const orders = items.flatMap((item): Order[] => {
      const record = parseRecordId(item.recordId);
      return record === undefined ? [] : [{ ...record, item, properties: propertiesOf(item, writeBack) }];
    });
    const results = new Map<WriteBack, WriteResult>();
    const current: Order[] = [];
    await Promise.all(
      (['ticket', 'deal'] as const).map(async (type) => {
        const own = orders.filter((order) => order.type === type);
        for (const { order, result } of await writeOnRecords(writeBack, api, type, own)) {
          results.set(order.item, result);
          current.push(order);
        }
      }),
    );
    const answered = current.filter(({ item }) => onContacts && item.status === 'answered');
    const contacts = answered.length > 0 ? await writeOnContacts(settings, api, answered) : new Map();
    return items.map((item) => together(results.get(item) ?? gone('record'), contacts.get(item)));
  };
}

/** @returns the orders with the present ids of their records */
async function writeOnRecords(
  writeBack: HubSpotSettings['writeBack'],
  api: HubSpotApi,
  type: ObjectType,
  given: readonly Order[],
) {
  const { plural } = objectTypes[type];
  const orders = writeBack.note ? await withBefore(writeBack, api, type, given) : given;

  const isLate = ({ item, before }: Order) => isOlderThan(item, instantIn(before, writeBack.answeredAt));
  const writes = orders.filter((order) => !isLate(order) && Object.keys(order.properties).length > 0);
  const updates = await updateConfirmed(
    api,
    plural,
    writes.map(({ id, properties, item }) => ({ id, properties, at: item.answeredAt })),
  );
  const written = orders.map((order) => {
    const update = updates.get(order.id);
    const id = update?.is === 'done' ? update.result.id : order.id;
    // What was read under the id of before a merge says nothing of the record that lives on.
    const before = id === order.id ? order.before : undefined;
    return { order: { ...order, id, before }, result: isLate(order) ? late : resultOf(update, type) };
  });
  if (!writeBack.note) return written;
  const failures = await writeNotes(
    api,
    type,
    written.flatMap(({ order, result }) => (result.ok ? [order] : [])),
  );
  return written.map(({ order, result }) => {
    const error = failures.get(order.item.marker);
    return { order, result: error ? ({ ok: false, why: 'error', error } as const) : result };
  });
}

/**
 * Reads closeloop's properties, so that a newer answer stays and no note is written twice. Where no property tells which answer is newer
 * a record without any note need not be read: one call tells that of 250 records.
 */
async function withBefore(
  { answeredAt }: HubSpotSettings['writeBack'],
  api: HubSpotApi,
  type: ObjectType,
  orders: readonly Order[],
): Promise<Order[]> {
  const properties = [...new Set(orders.flatMap((order) => Object.keys(order.properties)))];
  if (properties.length === 0) return [...orders];
  const ids = orders.map(({ id }) => id);
  const bare = answeredAt === undefined ? await withoutNotes(api, type, ids) : new Set<string>();
  const toRead = ids.filter((id) => !bare.has(id));
  const current = await currentOf(api, objectTypes[type].plural, toRead, properties);
  return orders.map((order) => ({ ...order, before: bare.has(order.id) ? {} : current.get(order.id) }));
}

const instantIn = (properties: Properties | undefined, name: string | undefined) =>
  name === undefined ? undefined : instant(properties?.[name]);

/**
 * The properties are written first, so a record without any part of this answer has no note of it. Where the record had one (from an
 * attempt with an unknown outcome), or where that is unknown, the record's notes are read.
 */
async function writeNotes(api: HubSpotApi, type: ObjectType, orders: readonly Order[]) {
  const note = ({ item, id }: Order) => noteOn(id, item, item.answeredAt);
  const doubtful = orders.filter(mayHaveNote);
  const there = await find(api, 'notes', type, doubtful.map(note));
  const missing = orders.filter(({ item }) => !there.has(item.marker));
  return create(api, 'notes', type, missing.map(note));
}

function mayHaveNote({ properties, before }: Order): boolean {
  const values = Object.entries(properties).filter(([, value]) => value !== '');
  if (before === undefined || values.length === 0) return true;
  return values.some(([name, value]) => isSameValue(value, before[name] ?? ''));
}

const late: WriteResult = { ok: true, findings: [], remarks: [newerStays('record')] };

function resultOf(update: Update | undefined, type: ObjectType): WriteResult {
  if (update === undefined) return { ok: true, findings: [] };
  if (update.is === 'missing') return gone(type);
  if (update.is === 'refused') return { ok: false, why: 'error', error: update.error };
  return { ok: true, findings: notTaken(update.write.properties, update.result.properties) };
}

const gone = (type: string): WriteResult => ({
  ok: false,
  why: 'not-found',
  message: `HubSpot has no such ${type} any more`,
});

type OnContact =
  | { is: 'written'; findings: string[] }
  | { is: 'not-written'; remark: string }
  | { is: 'refused'; error: Error };

const noContact: OnContact = {
  is: 'not-written',
  remark: 'HubSpot has no contact for this record any more: the answer is on the record alone',
};

/**
 * Writes answers on contacts: the contact who was asked or, if unknown, the one who would be asked now. A contact with several records
 * shows its newest answer.
 */
async function writeOnContacts(
  settings: HubSpotSettings,
  api: HubSpotApi,
  orders: readonly Order[],
): Promise<Map<WriteBack, OnContact>> {
  const names = settings.writeBack.contact;
  const contacts = await contactsOf(settings, api, orders);
  const outcomes = new Map<WriteBack, OnContact>();
  const ids = [...contacts.values()].filter((id) => typeof id === 'string');
  const current =
    names.answeredAt === undefined ? new Map() : await currentOf(api, 'contacts', ids, [names.answeredAt]);

  const writes = orders.flatMap(({ item }) => {
    const id = contacts.get(item) ?? noContact;
    if (typeof id !== 'string') {
      outcomes.set(item, id);
      return [];
    }
    if (isOlderThan(item, instantIn(current.get(id), names.answeredAt))) {
      outcomes.set(item, { is: 'not-written', remark: newerStays('contact') });
      return [];
    }
    return [{ item, id, properties: propertiesOf(item, names), at: item.answeredAt }];
  });
  const updates = await updateConfirmed(api, 'contacts', writes);
  for (const { item, id } of writes) {
    const update = updates.get(id);
    if (update?.is === 'refused') outcomes.set(item, update);
    else if (update?.is === 'done') {
      outcomes.set(item, { is: 'written', findings: notTaken(update.write.properties, update.result.properties) });
    } else outcomes.set(item, noContact);
  }
  return outcomes;
}

/** The ids of the contacts, or the result where there is none. Two calls per 100 records whose contact isn't known. */
async function contactsOf(settings: HubSpotSettings, api: HubSpotApi, orders: readonly Order[]) {
  const found = new Map<WriteBack, string | OnContact>();
  for (const { item } of orders) if (item.personId !== undefined) found.set(item, item.personId);
  for (const type of settings.objects) {
    const unknown = orders.filter((order) => order.type === type && !found.has(order.item));
    const ids = [...new Set(unknown.map(({ id }) => id))];
    const choices = await chooseContacts(api, type, ids, { ...settings, contactProperties: [] });
    for (const { item, id } of unknown) {
      const choice = choices.get(id);
      if (choice instanceof CloseloopError) found.set(item, { is: 'refused', error: choice });
      else if (choice?.contact) found.set(item, choice.contact.id);
    }
  }
  return found;
}

/** An answer whose record was deleted is a success on its contact; a refusal of the contact parks the journey. */
function together(record: WriteResult, contact: OnContact | undefined): WriteResult {
  if (contact === undefined || (!record.ok && record.why === 'error')) return record;
  if (contact.is === 'refused') return { ok: false, why: 'error', error: contact.error };
  if (contact.is === 'not-written') {
    return record.ok ? { ...record, remarks: [...(record.remarks ?? []), contact.remark] } : record;
  }
  if (record.ok) return { ...record, findings: [...record.findings, ...contact.findings] };
  return { ok: true, findings: contact.findings, where: 'the contact, as HubSpot has the record no more' };
}
