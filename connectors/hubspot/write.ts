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
import { isFailure } from '../../core/connector/desk/rows.ts';
import type { CloseloopError } from '../../core/errors.ts';
import type { HubSpotApi } from './api.ts';
import { currentOf, updateAll, type Write } from './batch.ts';
import { create, find, noteOn, removeNotes, withoutNotes } from './engagement.ts';
import { type CrmObject, maxTextUnits, type ObjectType, type Properties, parseRecordId, pluralOf } from './objects.ts';
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
function textOf({ part, value }: AnswerPart): string {
  if (value instanceof Date) return value.toISOString();
  if (part === 'status') return statusValues[value];
  return value === null ? '' : cut(surveyText(value, ';'), maxTextUnits);
}

/** An answer to write on a record or contact. */
interface Order extends Write {
  item: WriteBack;
  /** The properties before the write, if they were read. */
  before?: Properties | undefined;
}

const orderOf = (item: WriteBack, id: string, names: AnswerPlaces<string>): Order => {
  return { item, id, at: item.answeredAt, properties: propertiesOf(item, names) };
};

/** A written answer, with the present id of its record. */
interface Written {
  order: Order;
  result: WriteResult;
}

/**
 * Writes the properties of records, then the notes, then the properties of contacts: each step takes one call per 100 answers. Notes need a
 * read before, which shows whether an earlier attempt may have written them: one call per 250 records if none of them has a note. Contacts
 * with `answeredAt` need a read too.
 */
export function writer(settings: HubSpotSettings, api: HubSpotApi): Source['writeBack'] {
  const { writeBack } = settings;

  async function ofType(type: ObjectType, given: readonly Order[]) {
    const orders = writeBack.note ? await withBefore(writeBack, api, type, given) : given;
    const written = await writeNewest(api, type, orders, writeBack.answeredAt);
    const failures = writeBack.note ? await writeNotes(api, type, written) : new Map<string, CloseloopError>();
    return written.map(({ order, result }): Written & { type: ObjectType } => {
      const error = failures.get(order.item.marker);
      return { type, order, result: error ? { ok: false, why: 'error', error } : result };
    });
  }

  return async (items) => {
    const orders = items.flatMap((item) => {
      const record = parseRecordId(item.recordId);
      return record === undefined ? [] : [{ type: record.type, order: orderOf(item, record.id, writeBack) }];
    });
    const byType = [...Map.groupBy(orders, ({ type }) => type)];
    const writing = byType.map(([type, own]) =>
      ofType(
        type,
        own.map(({ order }) => order),
      ),
    );
    const written = (await Promise.all(writing)).flat();
    const results = new Map(written.map(({ order, result }) => [order.item, result]));
    const contacts = await writeOnContacts(settings, api, written);
    return items.map((item) => together(results.get(item) ?? gone('record'), contacts.get(item)));
  };
}

/** Writes answers, except where the record holds a newer answer. */
async function writeNewest(
  api: HubSpotApi,
  object: CrmObject,
  orders: readonly Order[],
  answeredAt: string | undefined,
): Promise<Written[]> {
  const isLate = ({ item, before }: Order) =>
    answeredAt !== undefined && isOlderThan(item, instantOf(before?.[answeredAt]));
  const writes = orders.filter((order) => !isLate(order) && Object.keys(order.properties).length > 0);
  const updates = await updateAll(api, pluralOf(object), writes);
  const stays = newerStays(object === 'contact' ? object : 'record');
  return orders.map((order) => {
    if (isLate(order)) return { order, result: { ok: true, findings: [], remarks: [stays] } };
    const update = updates.get(order.id);
    if (isFailure(update)) return { order, result: { ok: false, why: 'error', error: update } };
    if (update === undefined) {
      return { order, result: writes.includes(order) ? gone(object) : { ok: true, findings: [] } };
    }
    const { id, findings } = update;
    // After a merge the properties that were read under the old id are not those of the surviving record.
    return { order: id === order.id ? order : { ...order, id, before: undefined }, result: { ok: true, findings } };
  });
}

const gone = (object: CrmObject | 'record'): WriteResult => {
  return { ok: false, why: 'not-found', message: `HubSpot has no such ${object} any more` };
};

/**
 * Reads closeloop's properties, so that a newer answer stays and no note is written twice. If no property shows which answer is newer, records
 * without any note need no read: one call finds these among 250 records.
 */
async function withBefore(
  { answeredAt }: HubSpotSettings['writeBack'],
  api: HubSpotApi,
  type: ObjectType,
  orders: readonly Order[],
): Promise<readonly Order[]> {
  const properties = [...new Set(orders.flatMap((order) => Object.keys(order.properties)))];
  if (properties.length === 0) return orders;
  const ids = orders.map(({ id }) => id);
  const bare = answeredAt === undefined ? await withoutNotes(api, type, ids) : new Set<string>();
  const toRead = ids.filter((id) => !bare.has(id));
  const current = await currentOf(api, pluralOf(type), toRead, properties);
  return orders.map((order) => ({ ...order, before: bare.has(order.id) ? {} : current.get(order.id) }));
}

/**
 * The properties are written before the note, so a record that had no part of this answer has no note of it. If the record had a part of it
 * (from an attempt with an unknown outcome), or if that is unknown, closeloop reads the record's notes.
 * @returns the errors by marker
 */
async function writeNotes(api: HubSpotApi, type: ObjectType, written: readonly Written[]) {
  const where = { api, type, kind: 'notes' } as const;
  const orders = written.filter(({ result }) => result.ok).map(({ order }) => order);
  const note = ({ item, id, at }: Order) => noteOn(id, item, at);
  const there = await find(where, orders.filter(mayHaveNote).map(note));
  const missing = orders.filter(({ item }) => !there.has(item.marker));
  return await create(where, missing.map(note));
}

function mayHaveNote({ properties, before }: Order): boolean {
  const values = Object.entries(properties).filter(([, value]) => value !== '');
  if (before === undefined || values.length === 0) return true;
  return values.some(([name, value]) => isSameValue(before[name] ?? '', value));
}

/**
 * Writes answers on contacts: the contact who was asked or, if unknown, the contact whom closeloop would ask now. A contact with several
 * records shows the newest answer.
 */
async function writeOnContacts(
  settings: HubSpotSettings,
  api: HubSpotApi,
  written: readonly (Written & { type: ObjectType })[],
): Promise<Map<WriteBack, WriteResult>> {
  const names = settings.writeBack.contact;
  if (placesOf(names).size === 0) return new Map();
  const contacts = new Map<WriteBack, string | CloseloopError | undefined>();
  const answered = written.filter(({ order }) => order.item.status === 'answered');
  for (const {
    order: { item },
  } of answered)
    contacts.set(item, item.personId);
  const unknown = answered.filter(({ order: { item } }) => item.personId === undefined);
  for (const [type, own] of Map.groupBy(unknown, ({ type }) => type)) {
    const ids = [...new Set(own.map(({ order }) => order.id))];
    const choices = await chooseContacts(api, type, ids, { ...settings, contactProperties: [] });
    for (const { order } of own) {
      const choice = choices.get(order.id);
      contacts.set(order.item, isFailure(choice) ? choice : choice?.contact?.id);
    }
  }
  const orders = [...contacts].flatMap(([item, id]) => (typeof id === 'string' ? [orderOf(item, id, names)] : []));
  const { answeredAt } = names;
  const ids = orders.map(({ id }) => id);
  const current = answeredAt ? await currentOf(api, 'contacts', ids, [answeredAt]) : new Map();
  const known = orders.map((order) => ({ ...order, before: current.get(order.id) }));
  const results = new Map(
    (await writeNewest(api, 'contact', known, answeredAt)).map(({ order, result }) => [order.item, result]),
  );
  return new Map(
    [...contacts].map(([item, id]) => [
      item,
      isFailure(id) ? { ok: false, why: 'error', error: id } : (results.get(item) ?? gone('contact')),
    ]),
  );
}

const noContact = 'HubSpot has no contact for this record any more: the answer is on the record alone';

/** Combines the results. An answer whose record was deleted counts as written if it is on the contact; a refusal of the contact parks the journey. */
function together(record: WriteResult, contact: WriteResult | undefined): WriteResult {
  if (contact === undefined || (!record.ok && record.why === 'error')) return record;
  if (!contact.ok && contact.why === 'error') return contact;
  const { findings = [], remarks = [] } = contact.ok ? contact : { remarks: [noContact] };
  if (record.ok) {
    const all = [...(record.remarks ?? []), ...remarks];
    return { ...record, findings: [...record.findings, ...findings], ...(all.length > 0 && { remarks: all }) };
  }
  if (remarks.length > 0) return record;
  return { ok: true, findings, where: 'the contact, as HubSpot has the record no more' };
}

/**
 * Removes answers from records: clears the configured properties, also of the contact, and archives closeloop's notes. Takes as few calls as
 * writing, and one more if contacts have properties. HubSpot's history of earlier values can't be changed.
 */
export function forgetter(settings: HubSpotSettings, api: HubSpotApi): NonNullable<Source['forget']> {
  const onRecord = placesOf(settings.writeBack);
  const onContact = placesOf(settings.writeBack.contact);

  /** Clears properties. @returns the present ids by the given ids, and the refusals */
  async function clear(object: CrmObject, ids: readonly string[], names: ReadonlyMap<unknown, string>) {
    const properties = Object.fromEntries([...names.values()].map((name) => [name, '']));
    const writes = names.size === 0 ? [] : ids.map((id) => ({ id, properties, at: new Date(0) }));
    const updates = await updateAll(api, pluralOf(object), writes);
    const all = [...updates.values()];
    return { updates, refusals: all.flatMap((update) => (isFailure(update) ? [update.message] : [])) };
  }

  async function ofType(type: ObjectType, ids: readonly string[]): Promise<string[]> {
    // Contacts come first: closeloop recognises their answers by comparison with the records, which still hold the answers.
    const left = onContact.size > 0 ? await ofContacts(type, ids) : [];
    const { updates, refusals } = await clear(type, ids, onRecord);
    const done = new Map(
      [...updates].flatMap(([id, update]) => (!update || isFailure(update) ? [] : [[id, update.id]])),
    );
    // This removes the notes of answer rules, too.
    await removeNotes(
      api,
      type,
      ids.map((id) => done.get(id) ?? id),
    );
    const history = done.size > 0 ? [`the history of the ${type}s' properties, which HubSpot keeps`] : [];
    return [...left, ...refusals, ...history];
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
    const records = await currentOf(api, pluralOf(type), ids, names);
    const ours = [...choices].flatMap(([id, choice]) => {
      if (isFailure(choice)) throw choice;
      const { contact } = choice;
      const held = pairs.map(({ mine, theirs }) => [records.get(id)?.[mine] ?? '', contact?.properties[theirs] ?? '']);
      const isOurs =
        held.some(([own]) => own !== '') && held.every(([own = '', other = '']) => isSameValue(other, own));
      return contact !== null && isOurs ? [contact.id] : [];
    });
    return (await clear('contact', ours, onContact)).refusals;
  }

  return async (recordIds) => {
    const records = recordIds.flatMap((id) => parseRecordId(id) ?? []);
    const left: string[] = [];
    for (const [type, own] of Map.groupBy(records, ({ type }) => type))
      left.push(...(await ofType(type, [...new Set(own.map(({ id }) => id))])));
    return [...new Set(left)];
  };
}
