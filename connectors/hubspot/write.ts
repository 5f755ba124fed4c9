import {
  type AnswerPart,
  type AnswerPlaces,
  cut,
  instantOf,
  isOlderThan,
  isSameValue,
  newerStays,
  placed,
  placesOf,
  surveyText,
} from '../../core/connector/answer.ts';
import type { Source, WriteBack, WriteResult } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { HubSpotApi } from './api.ts';
import { currentOf, type Update, updateAll, updateConfirmed } from './batch.ts';
import { create, find, noteOn, removeNotes, withoutNotes } from './engagement.ts';
import { maxTextUnits, type ObjectType, objectTypes, type Properties, parseRecordId } from './objects.ts';
import { chooseContacts } from './people.ts';
import type { HubSpotSettings } from './settings.ts';

/** The values of the status property: the internal names of its options. */
export const statusValues = { answered: 'answered', 'no-answer': 'no_answer' } as const;

/** An answer as properties, under the names that the settings give its parts. */
export function propertiesOf(item: WriteBack, names: AnswerPlaces<string>): Record<string, string> {
  return Object.fromEntries(placed(item, names, textOf).map(({ place, value }) => [place, value]));
}

/**
 * Converts a value to text, as HubSpot takes only strings: digits for a number, ISO 8601 UTC for an instant, '' to clear. Several values are
 * joined with `;`, as a property with several choices needs it; this is readable in a text as well.
 */
export function textOf({ part, value }: AnswerPart): string {
  if (value instanceof Date) return value.toISOString();
  if (part === 'status') return statusValues[value];
  return value === null ? '' : cut(surveyText(value, ';'), maxTextUnits);
}

/** Findings for the properties whose present values differ from the sent values. Properties that HubSpot leaves out count as empty. */
export const notTaken = (sent: Record<string, string>, current: Properties): string[] =>
  Object.entries(sent)
    .filter(([name, value]) => !isSameValue(current[name] ?? '', value))
    .map(([name]) => `HubSpot holds another value in ${name} than was sent: check the property's type and rules`);

/** An answer, and its record's present id. */
interface Order {
  item: WriteBack;
  type: ObjectType;
  id: string;
  properties: Record<string, string>;
  /** The record's properties before the write, if they were read. */
  before?: Properties | undefined;
}

/**
 * Writes the properties of records, then the notes, then the properties of contacts: each step takes one call per 100 answers. Notes need a
 * read before, which shows whether an earlier attempt may have written them: one call per 250 records if none of them has a note. Contacts
 * with `answeredAt` need a read too.
 */
export function writer(settings: HubSpotSettings, api: HubSpotApi): Source['writeBack'] {
  const { writeBack } = settings;
  const onContacts = Object.keys(writeBack.contact).length > 0;

  return async (items) => {
    const orders = items.flatMap((item): Order[] => {
      const record = parseRecordId(item.recordId);
      return record === undefined ? [] : [{ ...record, item, properties: propertiesOf(item, writeBack) }];
    });
    const byType = Map.groupBy(orders, ({ type }) => type);
    const written = await Promise.all([...byType].map(([type, own]) => writeOnRecords(writeBack, api, type, own)));
    const results = new Map(written.flat().map(({ order, result }) => [order.item, result]));
    const current = written.flat().map(({ order }) => order);
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
  const orders = writeBack.note ? await withBefore(writeBack, api, type, given) : given;
  const isLate = ({ item, before }: Order) => isOlderThan(item, instantIn(before, writeBack.answeredAt));
  const writes = orders.filter((order) => !isLate(order) && Object.keys(order.properties).length > 0);
  const sent = writes.map(({ id, properties, item }) => ({ id, properties, at: item.answeredAt }));
  const updates = await updateConfirmed(api, objectTypes[type].plural, sent);
  const written = orders.map((order) => {
    const update = updates.get(order.id);
    const id = update?.is === 'done' ? update.result.id : order.id;
    // After a merge the properties that were read under the old id are not those of the surviving record.
    const before = id === order.id ? order.before : undefined;
    return { order: { ...order, id, before }, result: isLate(order) ? late : resultOf(update, type) };
  });
  if (!writeBack.note) return written;
  const done = written.filter(({ result }) => result.ok).map(({ order }) => order);
  const failures = await writeNotes(api, type, done);
  return written.map(({ order, result }) => {
    const error = failures.get(order.item.marker);
    return { order, result: error ? ({ ok: false, why: 'error', error } as const) : result };
  });
}

/**
 * Reads closeloop's properties, so that a newer answer stays and no note is written twice. If no property shows which answer is newer, records
 * without any note need no read: one call finds these among 250 records.
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
  name === undefined ? undefined : instantOf(properties?.[name]);

/**
 * The properties are written before the note, so a record that had no part of this answer has no note of it. If the record had a part of it
 * (from an attempt with an unknown outcome), or if that is unknown, closeloop reads the record's notes.
 */
async function writeNotes(api: HubSpotApi, type: ObjectType, orders: readonly Order[]) {
  const where = { api, type, kind: 'notes' } as const;
  const note = ({ item, id }: Order) => noteOn(id, item, item.answeredAt);
  const there = await find(where, orders.filter(mayHaveNote).map(note));
  const missing = orders.filter(({ item }) => !there.has(item.marker));
  return create(where, missing.map(note));
}

function mayHaveNote({ properties, before }: Order): boolean {
  const values = Object.entries(properties).filter(([, value]) => value !== '');
  if (before === undefined || values.length === 0) return true;
  return values.some(([name, value]) => isSameValue(before[name] ?? '', value));
}

const late: WriteResult = { ok: true, findings: [], remarks: [newerStays('record')] };

function resultOf(update: Update | undefined, type: ObjectType): WriteResult {
  if (update === undefined) return { ok: true, findings: [] };
  if (update.is === 'missing') return gone(type);
  if (update.is === 'refused') return { ok: false, why: 'error', error: update.error };
  return { ok: true, findings: notTaken(update.write.properties, update.result.properties) };
}

const gone = (type: string): WriteResult => {
  return { ok: false, why: 'not-found', message: `HubSpot has no such ${type} any more` };
};

/** The result on the contact: the findings of a written answer; a remark why it is not written; or the error of a refusal. */
type OnContact = { findings: string[] } | { remark: string } | { error: Error };

const noContact: OnContact = {
  remark: 'HubSpot has no contact for this record any more: the answer is on the record alone',
};

/**
 * Writes answers on contacts: the contact who was asked or, if unknown, the contact whom closeloop would ask now. A contact with several
 * records shows the newest answer.
 */
async function writeOnContacts(
  settings: HubSpotSettings,
  api: HubSpotApi,
  orders: readonly Order[],
): Promise<Map<WriteBack, OnContact>> {
  const names = settings.writeBack.contact;
  const contacts = await contactsOf(settings, api, orders);
  const ids = [...contacts.values()].filter((id) => typeof id === 'string');
  const current = names.answeredAt ? await currentOf(api, 'contacts', ids, [names.answeredAt]) : new Map();

  const outcomes = new Map<WriteBack, OnContact>();
  const writes = orders.flatMap(({ item }) => {
    const id = contacts.get(item) ?? noContact;
    const isNewer = typeof id === 'string' && isOlderThan(item, instantIn(current.get(id), names.answeredAt));
    if (typeof id === 'string' && !isNewer)
      return [{ item, id, properties: propertiesOf(item, names), at: item.answeredAt }];
    outcomes.set(item, typeof id === 'string' ? { remark: newerStays('contact') } : id);
    return [];
  });
  const updates = await updateConfirmed(api, 'contacts', writes);
  for (const { item, id } of writes) {
    const update = updates.get(id);
    if (update?.is === 'refused') outcomes.set(item, update);
    else if (update?.is === 'done')
      outcomes.set(item, { findings: notTaken(update.write.properties, update.result.properties) });
    else outcomes.set(item, noContact);
  }
  return outcomes;
}

/** The ids of the contacts, or the result if a record has no contact. Two calls per 100 records whose contact isn't known. */
async function contactsOf(settings: HubSpotSettings, api: HubSpotApi, orders: readonly Order[]) {
  const found = new Map<WriteBack, string | OnContact>();
  for (const { item } of orders) if (item.personId !== undefined) found.set(item, item.personId);
  for (const type of settings.objects) {
    const unknown = orders.filter((order) => order.type === type && !found.has(order.item));
    const ids = [...new Set(unknown.map(({ id }) => id))];
    const choices = await chooseContacts(api, type, ids, { ...settings, contactProperties: [] });
    for (const { item, id } of unknown) {
      const choice = choices.get(id);
      if (choice instanceof CloseloopError) found.set(item, { error: choice });
      else if (choice?.contact) found.set(item, choice.contact.id);
    }
  }
  return found;
}

/** Combines the results. An answer whose record was deleted counts as written if it is on the contact; a refusal of the contact parks the journey. */
function together(record: WriteResult, contact: OnContact | undefined): WriteResult {
  if (contact === undefined || (!record.ok && record.why === 'error')) return record;
  if ('error' in contact) return { ok: false, why: 'error', error: contact.error };
  if ('remark' in contact)
    return record.ok ? { ...record, remarks: [...(record.remarks ?? []), contact.remark] } : record;
  if (record.ok) return { ...record, findings: [...record.findings, ...contact.findings] };
  return { ok: true, findings: contact.findings, where: 'the contact, as HubSpot has the record no more' };
}

/**
 * Removes answers from records: clears the configured properties, also of the contact, and archives closeloop's notes. Takes as few calls as
 * writing, and one more if contacts have properties. HubSpot's history of earlier values can't be changed.
 */
export function forgetter(settings: HubSpotSettings, api: HubSpotApi): NonNullable<Source['forget']> {
  const onRecord = placesOf(settings.writeBack);
  const onContact = placesOf(settings.writeBack.contact);
  const refusalsIn = (updates: ReadonlyMap<string, Update>) =>
    [...updates.values()].flatMap((update) => (update.is === 'refused' ? [update.error.message] : []));

  async function ofType(type: ObjectType, ids: readonly string[]): Promise<string[]> {
    // Contacts come first: closeloop recognises their answers by comparison with the records, which still hold the answers.
    const left = onContact.size > 0 ? await ofContacts(type, ids) : [];
    const updates = await updateAll(api, objectTypes[type].plural, cleared(ids, onRecord));
    const current = ids.map((id) => {
      const update = updates.get(id);
      return update?.is === 'done' ? update.result.id : id;
    });
    // This removes the notes of answer rules, too.
    await removeNotes(api, type, current);
    const isDone = [...updates.values()].some(({ is }) => is === 'done');
    const history = isDone ? [`the history of the ${type}s' properties, which HubSpot keeps`] : [];
    return [...left, ...refusalsIn(updates), ...history];
  }

  /**
   * Clears contacts whose answer is the record's. By now a contact may show the answer to another question, or another contact may have taken
   * the place of a deleted contact.
   */
  async function ofContacts(type: ObjectType, ids: readonly string[]): Promise<string[]> {
    const pairs = [...onContact].flatMap(([part, theirs]) => {
      const mine = onRecord.get(part);
      return mine === undefined ? [] : [{ mine, theirs }];
    });
    if (pairs.length === 0) return ["the contacts' properties: nothing tells whose answer they hold"];
    const choices = await chooseContacts(api, type, ids, { ...settings, contactProperties: [...onContact.values()] });
    const names = pairs.map(({ mine }) => mine);
    const records = await currentOf(api, objectTypes[type].plural, ids, names);
    const ours = new Set<string>();
    for (const [id, choice] of choices) {
      if (choice instanceof CloseloopError) throw choice;
      const { contact } = choice;
      if (contact !== null && isSame(pairs, records.get(id) ?? {}, contact.properties)) ours.add(contact.id);
    }
    return refusalsIn(await updateAll(api, 'contacts', cleared([...ours], onContact)));
  }

  return async (recordIds) => {
    const records = recordIds.flatMap((id) => parseRecordId(id) ?? []);
    const left: string[] = [];
    for (const [type, own] of Map.groupBy(records, ({ type }) => type))
      left.push(...(await ofType(type, [...new Set(own.map(({ id }) => id))])));
    return [...new Set(left)];
  };
}

function cleared(ids: readonly string[], names: ReadonlyMap<unknown, string>) {
  const properties = Object.fromEntries([...names.values()].map((name) => [name, '']));
  return names.size === 0 ? [] : ids.map((id) => ({ id, properties, at: new Date(0) }));
}

function isSame(pairs: readonly { mine: string; theirs: string }[], record: Properties, contact: Properties): boolean {
  const values = pairs.map(({ mine, theirs }) => [record[mine] ?? '', contact[theirs] ?? ''] as const);
  return values.some(([own]) => own !== '') && values.every(([own, other]) => isSameValue(other, own));
}
