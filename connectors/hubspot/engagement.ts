import { z } from 'zod';
import { escapeHtml, linesOf, markerIn, markerOf, type Noted, noteHtml } from '../../core/connector/answer.ts';
import { chunks, sendApart, type Writable } from '../../core/connector/batches.ts';
import { pageWatch } from '../../core/connector/pages.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { HubSpotApi } from './api.ts';
import { maxTextUnits, type ObjectType, objectTypes, paths } from './objects.ts';
import { batchSize, Records } from './records.ts';
import { ErrorBody, inWords, type Refusal, refusalOf } from './responses.ts';

/* Notes and tasks on records. HubSpot makes neither idempotent: each ends with a marker, by which closeloop finds it again. */

export type Kind = 'notes' | 'tasks';
const texts = { notes: 'hs_note_body', tasks: 'hs_task_body' } as const;

/** The place of notes or tasks: on records of a type. */
interface Where {
  api: HubSpotApi;
  type: ObjectType;
  kind: Kind;
}

/** A note or a task to create, by its marker, with the record that it belongs to. */
export interface Engagement extends Writable {
  recordId: string;
}

/** @param at the note's time */
export const noteOn = (recordId: string, about: Noted, at: Date): Engagement => {
  const properties = { hs_timestamp: at.toISOString(), hs_note_body: noteHtml(about, maxTextUnits) };
  return { recordId, id: about.marker, properties };
};

/**
 * How many records one call checks for notes. HubSpot takes 1,000, but a record may have hundreds of notes, and closeloop limits the size
 * of a response: with 250 records there is room for 170 notes of each.
 */
const recordsPerCall = 250;

/** The errors of notes or tasks that could not be created, by marker. */
type Failures = Map<string, Error>;

const Created = z.object({ results: listOf(z.unknown()).default([]), errors: listOf(ErrorBody).default([]) });

/**
 * Creates notes or tasks, 100 per call; a refused call is halved until the refused item stands alone. Not idempotent: if this throws, some
 * of them may exist.
 */
export async function create({ api, type, kind }: Where, wanted: readonly Engagement[]): Promise<Failures> {
  const refused = (refusal: Refusal) => {
    const why = `HubSpot did not take the ${kind.slice(0, -1)} on the ${type}: ${inWords(refusal)}`;
    return new CloseloopError(why, { kind: 'permanent' });
  };
  const path = paths.objects(kind, 'batch/create');
  const types = [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: objectTypes[type].engagements[kind] }];
  const send = async (some: readonly Engagement[]): Promise<Failures | Refusal> => {
    const inputs = some.map(({ recordId, id: objectWriteTraceId, properties }) => {
      return { properties, associations: [{ to: { id: recordId }, types }], objectWriteTraceId };
    });
    const answer = await api.attempt('POST', path, Created, { body: { inputs } });
    if (!answer.ok) return answer.refusal;
    const { results, errors } = answer.body;
    const failures: Failures = new Map();
    for (const error of errors)
      for (const marker of error.context?.objectWriteTraceId ?? []) failures.set(marker, refused(refusalOf(0, error)));
    if (results.length + failures.size >= some.length) return failures;
    // HubSpot doesn't always name the missing notes or tasks; the next attempt looks for them.
    const text = `HubSpot: POST ${path}: it did not make all ${kind}; those that are missing are looked for and tried again`;
    throw new CloseloopError(text, { kind: 'transient' }, { outcome: 'unknown' });
  };
  const failures: Failures = new Map();
  for (const some of chunks(wanted, batchSize))
    for (const [marker, error] of await sendApart(some, send, refused)) failures.set(marker, error);
  return failures;
}

/** The records without any note, as HubSpot reports for each record. One call per 250 records. */
export async function withoutNotes(api: HubSpotApi, type: ObjectType, recordIds: readonly string[]) {
  const records = new Records(api, objectTypes[type].plural);
  const inputs = [...new Set(recordIds)].map((id) => ({ id }));
  const found = new Set<string>();
  for (const some of chunks(inputs, recordsPerCall))
    for (const id of (await records.associated('notes', some)).none) found.add(id);
  return found;
}

/**
 * Finds which of these notes or tasks exist on their records. Reads associations, because HubSpot's search lags behind new notes. Takes a
 * call for every 250 records, and a call for every 100 notes or tasks on the records.
 * @returns the markers of the existing notes or tasks
 */
export async function find(where: Where, wanted: readonly Engagement[]): Promise<Set<string>> {
  const ids = wanted.map(({ recordId }) => recordId);
  const lines = [...(await engagementsOn(where, ids)).values()].flatMap(linesOf);
  const there = new Set(lines.map(markerIn));
  const markers = wanted.map(({ id }) => id);
  return new Set(markers.filter((marker) => there.has(escapeHtml(marker))));
}

/** Archives all of closeloop's notes on records. Takes the calls of `find`, and one call per 100 notes. */
export async function removeNotes(api: HubSpotApi, type: ObjectType, recordIds: readonly string[]): Promise<void> {
  const notes = await engagementsOn({ api, type, kind: 'notes' }, recordIds);
  const ours = [...notes].flatMap(([id, text]) => (markerOf(text) === undefined ? [] : [{ id }]));
  for (const inputs of chunks(ours, batchSize))
    await api.call('POST', paths.objects('notes', 'batch/archive'), z.unknown(), { body: { inputs } });
}

/** The texts of the notes or tasks on these records, by the id of each note or task. */
async function engagementsOn({ api, type, kind }: Where, recordIds: readonly string[]): Promise<Map<string, string>> {
  const records = new Records(api, objectTypes[type].plural);
  const found = new Set<string>();
  const watch = pageWatch(`HubSpot ${kind} of records`, 100_000);
  const unread: { id: string; after?: string }[] = [...new Set(recordIds)].map((id) => ({ id }));
  while (unread.length > 0) {
    const { results } = await records.associated(kind, unread.splice(0, recordsPerCall));
    for (const { from, to, paging: after } of results) {
      for (const { toObjectId } of to) found.add(toObjectId);
      if (after === undefined) continue;
      watch(`${from.id} ${after}`);
      unread.push({ id: from.id, after });
    }
  }
  const all = await new Records(api, kind).current(found, [texts[kind]]);
  return new Map([...all].map(([id, properties]) => [id, properties[texts[kind]] ?? '']));
}
