import { z } from 'zod';
import { escapeHtml, linesOf, markerIn, markerOf, noteHtml } from '../../core/connector/answer.ts';
import { chunks } from '../../core/connector/batches.ts';
import type { WriteBack } from '../../core/connector/contract.ts';
import { pageWatch } from '../../core/connector/pages.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { maxTextUnits } from './answer.ts';
import type { HubSpotApi } from './api.ts';
import { BatchResponse, batchSize, Texts } from './batch.ts';
import { type ObjectType, objectTypes, paths } from './objects.ts';
import { ErrorBody, inWords, refusalOf } from './responses.ts';

/** A note to write, and the record it goes to. */
export interface Note {
  recordId: string;
  item: WriteBack;
}

/**
 * Records in one call that reads which notes they have. HubSpot takes 1,000, but a record may have hundreds of notes, and an answer
 * has a size up to which it is read: for so many it has room for 170 notes of each.
 */
const notesPerCall = 250;

/** The errors of failed notes, by marker. */
type NoteFailures = Map<string, Error>;

const Created = z.object({
  results: listOf(z.object({ properties: Texts.default({}) })).default([]),
  errors: listOf(ErrorBody).optional(),
});

/**
 * Writes the notes, 100 per call; a refused call is halved until the refused note stands alone. Not idempotent: when this throws, the
 * notes may exist.
 */
export async function createNotes(api: HubSpotApi, type: ObjectType, notes: readonly Note[]): Promise<NoteFailures> {
  const failures: NoteFailures = new Map();
  for (const some of chunks(notes, batchSize)) {
    for (const [marker, error] of await create(api, type, some)) failures.set(marker, error);
  }
  return failures;
}

async function create(api: HubSpotApi, type: ObjectType, notes: readonly Note[]): Promise<NoteFailures> {
  const path = paths.batchCreate('notes');
  const types = [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: objectTypes[type].noteType }];
  const inputs = notes.map(({ recordId, item }) => ({
    properties: { hs_timestamp: item.answeredAt.toISOString(), hs_note_body: noteHtml(item, maxTextUnits) },
    associations: [{ to: { id: recordId }, types }],
    objectWriteTraceId: item.marker,
  }));
  const answer = await api.attempt('POST', path, Created, { body: { inputs } });
  if (!answer.ok) {
    const [first, ...others] = notes;
    if (first === undefined) return new Map();
    if (others.length === 0) return new Map([[first.item.marker, refused(type, inWords(answer.refusal))]]);
    const middle = Math.ceil(notes.length / 2);
    return new Map([
      ...(await create(api, type, notes.slice(0, middle))),
      ...(await create(api, type, notes.slice(middle))),
    ]);
  }
  const { results, errors = [] } = answer.body;
  const failures: NoteFailures = new Map();
  for (const error of errors) {
    for (const marker of error.context?.objectWriteTraceId ?? []) {
      failures.set(marker, refused(type, inWords(refusalOf(0, error))));
    }
  }
  // HubSpot doesn't always name the missing notes; the next attempt looks for them.
  if (results.length + failures.size < notes.length) {
    const text = `HubSpot: POST ${path}: it did not write all notes; those that are missing are looked for and tried again`;
    throw new CloseloopError(text, { kind: 'transient' }, { outcome: 'unknown' });
  }
  return failures;
}

const refused = (type: ObjectType, why: string) =>
  new CloseloopError(`HubSpot did not take the note on the ${type}: ${why}`, { kind: 'permanent' });

const Associations = z.object({
  results: listOf(
    z.object({
      from: z.object({ id: z.coerce.string() }),
      to: listOf(z.object({ toObjectId: z.coerce.string() })),
      paging: z.object({ next: z.object({ after: z.coerce.string() }).nullish() }).nullish(),
    }),
  ),
  errors: listOf(ErrorBody).optional(),
});

/** The records without any note, as HubSpot reports for each record. One call per 250 records. */
export async function withoutNotes(
  api: HubSpotApi,
  type: ObjectType,
  recordIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const some of chunks([...new Set(recordIds)], notesPerCall)) {
    const body = { inputs: some.map((id) => ({ id })) };
    const { errors = [] } = await api.call('POST', paths.notesOf(objectTypes[type].plural), Associations, { body });
    for (const error of errors) {
      if (error.subCategory?.endsWith('NO_ASSOCIATIONS_FOUND')) for (const id of refusalOf(0, error).ids) found.add(id);
    }
  }
  return found;
}

/**
 * Which of these notes are on their records already? By association, not by search, which lags behind what was just
 * written. One call per 250 records, one per 100 notes on them.
 * @returns markers
 */
export async function findNotes(api: HubSpotApi, type: ObjectType, notes: readonly Note[]): Promise<Set<string>> {
  const ids = notes.map(({ recordId }) => recordId);
  const lines = (await notesOn(api, type, ids)).flatMap(({ body }) => linesOf(body));
  const there = new Set(lines.map(markerIn));
  const markers = notes.map(({ item }) => item.marker);
  return new Set(markers.filter((marker) => there.has(escapeHtml(marker))));
}

/** Archives all of closeloop's notes on records: the calls of `findNotes`, and one per 100 notes. */
export async function removeNotes(api: HubSpotApi, type: ObjectType, recordIds: readonly string[]): Promise<void> {
  const notes = await notesOn(api, type, recordIds);
  const ours = notes.filter(({ body }) => markerOf(body) !== undefined);
  for (const some of chunks(ours, batchSize)) {
    const inputs = some.map(({ id }) => ({ id }));
    await api.call('POST', paths.batchArchive('notes'), z.unknown(), { body: { inputs } });
  }
}

/** The notes on these records. */
async function notesOn(api: HubSpotApi, type: ObjectType, recordIds: readonly string[]) {
  const noteIds = new Set<string>();
  const watch = pageWatch('HubSpot notes of records', 100_000);
  let inputs: { id: string; after?: string }[] = [...new Set(recordIds)].map((id) => ({ id }));
  while (inputs.length > 0) {
    const next: typeof inputs = [];
    for (const some of chunks(inputs, notesPerCall)) {
      const path = paths.notesOf(objectTypes[type].plural);
      const { results } = await api.call('POST', path, Associations, { body: { inputs: some } });
      for (const { from, to, paging } of results) {
        for (const { toObjectId } of to) noteIds.add(toObjectId);
        if (!paging?.next) continue;
        watch(`${from.id} ${paging.next.after}`);
        next.push({ id: from.id, after: paging.next.after });
      }
    }
    inputs = next;
  }
  const notes: { id: string; body: string }[] = [];
  for (const some of chunks([...noteIds], batchSize)) {
    const body = { inputs: some.map((id) => ({ id })), properties: ['hs_note_body'], propertiesWithHistory: [] };
    const { results } = await api.call('POST', paths.batchRead('notes'), BatchResponse, { body });
    notes.push(...results.map(({ id, properties }) => ({ id, body: properties.hs_note_body ?? '' })));
  }
  return notes;
}
