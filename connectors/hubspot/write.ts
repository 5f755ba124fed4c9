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
import type { HubSpotApi } from './api.ts';
import { create, find, noteOn, removeNotes, withoutNotes } from './engagement.ts';
import {
  type CrmObject,
  idsByType,
  maxTextUnits,
  type ObjectType,
  type Properties,
  parseRecordId,
  pluralOf,
} from './objects.ts';
import { chooseContacts } from './people.ts';
import { isFound, Records, type Write } from './records.ts';
import type { HubSpotSettings } from './settings.ts';

/** The values of the status property: the internal names of its options. */
export const statusValues = { answered: 'answered', 'no-answer': 'no_answer' } as const;

/** An answer as properties, under the names that the settings give its parts. */
export function propertiesOf(item: WriteBack, names: AnswerPlaces<string>): Record<string, string> {
  return Object.fromEntries(placed(item, names, textOf).map(({ place, value }) => [place, value]));
}

/**
 * Converts a value to text, as HubSpot takes only strings: digits for a number, ISO 8601 UTC for an instant, '' to clear. Several values
 * are joined with `;`, as a property with several choices needs it; this is readable in a text as well.
 */
function textOf({ part, value }: AnswerPart): string {
  if (value instanceof Date) return value.toISOString();
  if (part === 'status') return statusValues[value];
  return value === null ? '' : cut(surveyText(value, ';'), maxTextUnits);
}

/** An answer that is being written on its record or contact. */
interface Job extends Write {
  item: WriteBack;
  /** The properties before the write, if they were read. */
  before?: Properties | undefined;
  result: WriteResult;
}

const jobOf = (item: WriteBack, id: string, names: AnswerPlaces<string>): Job => {
  const { answeredAt: at } = item;
  return { item, id, at, properties: propertiesOf(item, names), result: { ok: true, findings: [] } };
};

/**
 * Writes the properties of records, then the notes, then the properties of contacts: each step takes one call per 100 answers. Notes need a
 * read before, which shows whether an earlier attempt may have written them: one call per 250 records if none of them has a note. Contacts
 * with `answeredAt` need a read too.
 */
export function writer(settings: HubSpotSettings, api: HubSpotApi): Source['writeBack'] {
  const { writeBack } = settings;
  return async (items) => {
    const jobs = items.flatMap((item) => {
      const record = parseRecordId(item.recordId);
      return record === undefined ? [] : [{ ...jobOf(item, record.id, writeBack), type: record.type }];
    });
    const writing = [...Map.groupBy(jobs, ({ type }) => type)].map(async ([type, own]) => {
      if (writeBack.note) await readBefore(api, type, own, writeBack.answeredAt);
      await writeNewest(api, type, own, writeBack.answeredAt);
      if (writeBack.note) await writeNotes(api, type, own);
    });
    await Promise.all(writing);
    const onRecords = new Map(jobs.map(({ item, result }) => [item, result]));
    const onContacts = await writeOnContacts(settings, api, jobs);
    return items.map((item) => together(onRecords.get(item) ?? gone('record'), onContacts.get(item)));
  };
}

const gone = (object: CrmObject | 'record'): WriteResult => {
  return { ok: false, why: 'not-found', message: `HubSpot has no such ${object} any more` };
};

/** Writes answers, except where the record holds a newer answer. A merged record's job gets the id of the surviving record. */
async function writeNewest(api: HubSpotApi, object: CrmObject, jobs: readonly Job[], answeredAt: string | undefined) {
  const isLate = ({ item, before }: Job) =>
    answeredAt !== undefined && isOlderThan(item, instantOf(before?.[answeredAt]));
  const [late, others] = [true, false].map((is) => jobs.filter((job) => isLate(job) === is));
  const remarks = [newerStays(object === 'contact' ? object : 'record')];
  for (const job of late ?? []) job.result = { ok: true, findings: [], remarks };
  const writes = (others ?? []).filter(({ properties }) => Object.keys(properties).length > 0);
  const updates = await new Records(api, pluralOf(object)).update(writes);
  for (const job of writes) {
    const update = updates.get(job.id);
    if (isFailure(update)) job.result = { ok: false, why: 'error', error: update };
    else if (update === undefined) job.result = gone(object);
    else {
      job.result = { ok: true, findings: update.findings };
      // The properties that were read under the old id are not those of the surviving record.
      if (job.id !== update.id) Object.assign(job, { id: update.id, before: undefined });
    }
  }
}

/**
 * Reads closeloop's properties, so that a newer answer stays and no note is written twice. If no property shows which answer is newer,
 * records without any note need no read: one call finds these among 250 records.
 */
async function readBefore(api: HubSpotApi, type: ObjectType, jobs: readonly Job[], answeredAt: string | undefined) {
  const properties = [...new Set(jobs.flatMap((job) => Object.keys(job.properties)))];
  if (properties.length === 0) return;
  const ids = jobs.map(({ id }) => id);
  const bare = answeredAt === undefined ? await withoutNotes(api, type, ids) : new Set<string>();
  const toRead = ids.filter((id) => !bare.has(id));
  const current = await new Records(api, pluralOf(type)).current(toRead, properties);
  for (const job of jobs) job.before = bare.has(job.id) ? {} : current.get(job.id);
}

/**
 * The properties are written before the note, so a record that had no part of this answer has no note of it. If the record had a part of it
 * (from an attempt with an unknown outcome), or if that is unknown, closeloop reads the record's notes.
 */
async function writeNotes(api: HubSpotApi, type: ObjectType, jobs: readonly Job[]) {
  const where = { api, type, kind: 'notes' } as const;
  const written = jobs.filter(({ result }) => result.ok);
  const note = ({ item, id, at }: Job) => noteOn(id, item, at);
  const there = await find(where, written.filter(mayHaveNote).map(note));
  const failures = await create(where, written.filter(({ item }) => !there.has(item.marker)).map(note));
  for (const job of written) {
    const error = failures.get(job.item.marker);
    if (error) job.result = { ok: false, why: 'error', error };
  }
}

function mayHaveNote({ properties, before }: Job): boolean {
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
  onRecords: readonly (Job & { type: ObjectType })[],
): Promise<Map<WriteBack, WriteResult>> {
  const names = settings.writeBack.contact;
  const { answeredAt } = names;
  const answered = placesOf(names).size > 0 ? onRecords.filter(({ item }) => item.status === 'answered') : [];
  const results = new Map(answered.map(({ item }) => [item, gone('contact')]));
  const jobs: Job[] = [];
  for (const [type, own] of Map.groupBy(answered, ({ type }) => type)) {
    const unknown = new Set(own.flatMap(({ id, item }) => (item.personId === undefined ? [id] : [])));
    const choices = await chooseContacts(api, type, [...unknown], { ...settings, contactProperties: [] });
    for (const { id, item } of own) {
      const choice = choices.get(id);
      const contactId = item.personId ?? (isFailure(choice) ? undefined : choice?.contact?.id);
      if (contactId !== undefined) jobs.push(jobOf(item, contactId, names));
      else if (isFailure(choice)) results.set(item, { ok: false, why: 'error', error: choice });
    }
  }
  const ids = jobs.map(({ id }) => id);
  const current = answeredAt === undefined ? new Map() : await new Records(api, 'contacts').current(ids, [answeredAt]);
  for (const job of jobs) job.before = current.get(job.id);
  await writeNewest(api, 'contact', jobs, answeredAt);
  for (const { item, result } of jobs) results.set(item, result);
  return results;
}

const noContact = 'HubSpot has no contact for this record any more: the answer is on the record alone';

/**
 * Combines the results. An answer whose record was deleted counts as written if it is on the contact; a refusal of the contact parks the
 * journey.
 */
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
 * Removes answers from records: clears the configured properties, also of the contact, and archives closeloop's notes. Takes as few calls
 * as writing, and one more if contacts have properties. HubSpot's history of earlier values can't be changed.
 */
export function forgetter(settings: HubSpotSettings, api: HubSpotApi): NonNullable<Source['forget']> {
  return async (recordIds) => {
    const left = new Set<string>();
    for (const [type, ids] of idsByType(recordIds))
      for (const said of await forgetOn(settings, api, type, ids)) left.add(said);
    return [...left];
  };
}

async function forgetOn(settings: HubSpotSettings, api: HubSpotApi, type: ObjectType, ids: readonly string[]) {
  const [onRecord, onContact] = [placesOf(settings.writeBack), placesOf(settings.writeBack.contact)];
  const clear = async (object: CrmObject, some: readonly string[], names: ReadonlyMap<unknown, string>) => {
    const properties = Object.fromEntries([...names.values()].map((name) => [name, '']));
    const writes = names.size === 0 ? [] : some.map((id) => ({ id, properties, at: new Date(0) }));
    return await new Records(api, pluralOf(object)).update(writes);
  };
  const pairs = [...onContact].flatMap(([part, theirs]) => {
    const mine = onRecord.get(part);
    return mine === undefined ? [] : [{ mine, theirs }];
  });
  // Contacts come first: closeloop recognises their answers by comparison with the records, which still hold the answers.
  const ours = pairs.length > 0 ? await contactsHolding(pairs, settings, api, type, ids) : [];
  const contacts = await clear('contact', ours, onContact);
  const records = await clear(type, ids, onRecord);
  const present = ids.map((id) => {
    const update = records.get(id);
    return isFound(update) ? update.id : id;
  });
  // This removes the notes of answer rules, too.
  await removeNotes(api, type, present);
  const refusals = [...contacts.values(), ...records.values()].filter(isFailure);
  const isUnknown = onContact.size > 0 && pairs.length === 0;
  return [
    ...(isUnknown ? ["the contacts' properties: nothing tells whose answer they hold"] : []),
    ...refusals.map(({ message }) => message),
    ...([...records.values()].some(isFound) ? [`the history of the ${type}s' properties, which HubSpot keeps`] : []),
  ];
}

/**
 * The contacts whose answer is the record's. By now a contact may show the answer to another question, or another contact may have taken
 * the place of a deleted contact.
 * @param pairs a record's property and the contact's property for the same part of an answer
 */
async function contactsHolding(
  pairs: readonly { mine: string; theirs: string }[],
  settings: HubSpotSettings,
  api: HubSpotApi,
  type: ObjectType,
  ids: readonly string[],
): Promise<string[]> {
  const contactProperties = pairs.map(({ theirs }) => theirs);
  const choices = await chooseContacts(api, type, ids, { ...settings, contactProperties });
  const names = pairs.map(({ mine }) => mine);
  const records = await new Records(api, pluralOf(type)).current(ids, names);
  return [...choices].flatMap(([id, choice]) => {
    if (isFailure(choice)) throw choice;
    const { contact } = choice;
    const held = pairs.map(({ mine, theirs }) => [records.get(id)?.[mine] ?? '', contact?.properties[theirs] ?? '']);
    const isOurs = held.some(([own]) => own !== '') && held.every(([own = '', other = '']) => isSameValue(other, own));
    return contact !== null && isOurs ? [contact.id] : [];
  });
}
