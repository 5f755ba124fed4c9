import type { WriteBack, WriteResult } from '../../core/connector/contract.ts';
import { holdsLater, laterStays, notTaken, propertiesOf, sameValue } from './answer.ts';
import type { HubSpotApi } from './client.ts';
import { updateConfirmed } from './confirmed.ts';
import { type About, type OnContact, writeOnContacts } from './contact-answer.ts';
import { heldBy } from './held.ts';
import { createNotes, findNotes, type Note } from './note.ts';
import { type ObjectType, objectTypes, type Properties, parseRecordId } from './objects.ts';
import type { HubSpotSettings } from './settings.ts';
import type { Plural, Update } from './update.ts';

/** One answer on its way to one record. */
interface Answer extends About {
  properties: Record<string, string>;
  /** What the record held before, where that was looked at. */
  before?: Properties | undefined;
}

/**
 * Writes the answers' properties, then the notes, then the contacts' properties: each one call per 100. A note costs
 * another one before, whose answer tells that no earlier attempt has written it; so do contacts with `answeredAt`.
 */
export function writer(settings: HubSpotSettings, api: HubSpotApi) {
  const onContacts = Object.keys(settings.writeBack.contact).length > 0;

  return async (items: readonly WriteBack[]): Promise<WriteResult[]> => {
    const answers = items.flatMap((item): Answer[] => {
      const record = parseRecordId(item.recordId);
      return record === undefined ? [] : [{ ...record, item, properties: propertiesOf(item, settings.writeBack) }];
    });
    const results = new Map<WriteBack, WriteResult>();
    const current: Answer[] = [];
    await Promise.all(
      (['ticket', 'deal'] as const).map(async (type) => {
        const own = answers.filter((answer) => answer.type === type);
        for (const { answer, result } of await writeOnRecords(settings, api, type, own)) {
          results.set(answer.item, result);
          current.push(answer);
        }
      }),
    );
    const answered = current.filter(({ item }) => onContacts && item.outcome === 'answered');
    const outcomes = answered.length > 0 ? await writeOnContacts(settings, api, answered) : new Map();
    return items.map((item) => together(results.get(item) ?? gone('record'), outcomes.get(item)));
  };
}

/** @returns the answers, each with its record's id as it is now */
async function writeOnRecords(settings: HubSpotSettings, api: HubSpotApi, type: ObjectType, given: readonly Answer[]) {
  const { writeBack } = settings;
  const { plural } = objectTypes[type];
  const answers = writeBack.note ? await lookBefore(api, plural, given) : given;

  const isLate = ({ item, before }: Answer) => holdsLater(item, writeBack.answeredAt, before);
  const writes = answers.filter((answer) => !isLate(answer) && Object.keys(answer.properties).length > 0);
  const updates = await updateConfirmed(
    api,
    plural,
    writes.map(({ id, properties, item }) => ({ id, properties, at: item.answeredAt })),
  );
  const written = answers.map((answer) => {
    const update = updates.get(answer.id);
    const id = update?.is === 'done' ? update.result.id : answer.id;
    return { answer: { ...answer, id }, result: isLate(answer) ? late : resultOf(update, type) };
  });
  if (!writeBack.note) return written;
  const failures = await writeNotes(
    api,
    type,
    written.flatMap(({ answer, result }) => (result.ok ? [answer] : [])),
  );
  return written.map(({ answer, result }) => {
    const error = failures.get(answer.item.marker);
    return { answer, result: error ? ({ ok: false, why: 'error', error } as const) : result };
  });
}

/** What the records hold of our properties, so that a later answer stays, and a note isn't written twice. */
async function lookBefore(api: HubSpotApi, plural: Plural, answers: readonly Answer[]): Promise<Answer[]> {
  const properties = [...new Set(answers.flatMap((answer) => Object.keys(answer.properties)))];
  if (properties.length === 0) return [...answers];
  const ids = answers.map(({ id }) => id);
  const held = await heldBy(api, plural, ids, properties);
  return answers.map((answer) => ({ ...answer, before: held.get(answer.id) }));
}

/**
 * The properties are written first, so a record that held nothing of this answer has no note of it: nothing to look for.
 * Where it did (an earlier attempt, whose end we don't know), or where there is no telling, the record's notes are read.
 */
async function writeNotes(api: HubSpotApi, type: ObjectType, answers: readonly Answer[]) {
  const note = ({ item, id }: Answer): Note => ({ item, recordId: id });
  const doubtful = answers.filter(mayHaveNote);
  const there = await findNotes(api, type, doubtful.map(note));
  const missing = answers.filter(({ item }) => !there.has(item.marker));
  return createNotes(api, type, missing.map(note));
}

function mayHaveNote({ properties, before }: Answer): boolean {
  const telling = Object.entries(properties).filter(([, value]) => value !== '');
  if (before === undefined || telling.length === 0) return true;
  return telling.some(([name, value]) => sameValue(value, before[name] ?? ''));
}

const late: WriteResult = { ok: true, findings: [], remarks: [laterStays('record')] };

function resultOf(update: Update | undefined, type: ObjectType): WriteResult {
  if (update === undefined) return { ok: true, findings: [] };
  if (update.is === 'missing') return gone(type);
  if (update.is === 'refused') return { ok: false, why: 'error', error: update.error };
  return { ok: true, findings: notTaken(update.write.properties, update.result.properties) };
}

/** An answer whose record is gone is well kept on its contact; one that the contact refuses is for a person to mend. */
function together(record: WriteResult, contact: OnContact | undefined): WriteResult {
  if (contact === undefined || (!record.ok && record.why === 'error')) return record;
  if (contact.is === 'refused') return { ok: false, why: 'error', error: contact.error };
  if (contact.is === 'not-written') {
    return record.ok ? { ...record, remarks: [...(record.remarks ?? []), contact.remark] } : record;
  }
  if (record.ok) return { ...record, findings: [...record.findings, ...contact.findings] };
  return { ok: true, findings: contact.findings, where: 'the contact, as HubSpot has the record no more' };
}

const gone = (type: string): WriteResult => ({
  ok: false,
  why: 'not-found',
  message: `HubSpot has no such ${type} any more`,
});
