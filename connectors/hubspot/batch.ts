import { z } from 'zod';
import { newestBy } from '../../core/connector/answer.ts';
import { chunks, sendApart, type Writable } from '../../core/connector/batches.ts';
import { listOf, mapOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { mismatchesOf } from '../../core/mismatches.ts';
import type { HubSpotApi } from './api.ts';
import { type Plural, type Properties, paths } from './objects.ts';
import { ErrorBody, inWords, type Refusal, refusalOf } from './responses.ts';

/** The most records in one batch call. */
export const batchSize = 100;

/** HubSpot documents every value as a string or null; other values are converted to strings, so that they don't fail the other 99 records. */
export const Texts = mapOf(z.union([z.string(), z.number(), z.boolean()]).transform(String).nullable());

const Change = z
  .object({ value: z.string().nullish(), timestamp: z.union([z.string(), z.number()]).pipe(z.coerce.date()) })
  .transform(({ value, timestamp }) => ({ value: value ?? '', at: timestamp }));
const BatchResult = z.object({
  id: z.coerce.string(),
  properties: Texts.default({}),
  propertiesWithHistory: mapOf(listOf(Change)).optional(),
});
export type BatchResult = z.output<typeof BatchResult>;

const Identified = z.object({ id: z.union([z.string(), z.number()]).transform(String) });

/**
 * The response of batch/read and batch/update. `errors` decides, not the status (200 and 207 mean the same). A record of another shape
 * is in `unreadable`: its id, where readable, and the mismatch.
 */
const BatchResponse = z
  .object({ results: listOf(z.unknown(), 1_000), errors: listOf(ErrorBody).default([]) })
  .transform(({ results, errors }) => {
    const parsed = results.map((raw) => ({ raw, result: BatchResult.safeParse(raw) }));
    return {
      errors,
      results: parsed.flatMap(({ result }) => (result.success ? [result.data] : [])),
      unreadable: parsed.flatMap(({ raw, result }) =>
        result.success ? [] : [{ id: Identified.safeParse(raw).data?.id, at: mismatchesOf(result.error) }],
      ),
    };
  });
type BatchResponse = z.output<typeof BatchResponse>;

export type Fate = { is: 'done'; result: BatchResult } | { is: 'missing' } | { is: 'refused'; error: CloseloopError };

const inputsOf = (ids: readonly string[]) => ids.map((id) => ({ id }));

/** Reads records in one call. @param plural the kind of records, or `notes` and `tasks` */
export function readBatch(
  api: HubSpotApi,
  plural: string,
  ids: readonly string[],
  properties: readonly string[],
  propertiesWithHistory: readonly string[] = [],
): Promise<BatchResponse> {
  const body = { inputs: inputsOf(ids), properties, propertiesWithHistory };
  return api.call('POST', paths.batchRead(plural), BatchResponse, { body });
}

/**
 * The result for each id of one batch call. Results come in any order. Ids in neither list are left out of the map, unless the call had only
 * one id: then the result belongs to this id (after a merge the result has another id).
 */
export function fates(path: string, ids: readonly string[], { results, unreadable, errors }: BatchResponse) {
  const only = ids.length === 1 ? ids[0] : undefined;
  const found = new Map<string, Fate>();
  const asked = new Set(ids);
  const set = (id: string | undefined, fate: Fate) => {
    const whose = id !== undefined && asked.has(id) ? id : only;
    if (whose !== undefined) found.set(whose, fate);
  };
  for (const result of results) set(result.id, { is: 'done', result });
  for (const { id, at } of unreadable) {
    const message = `HubSpot: POST ${path} answered a record in another shape than documented, at ${at.slice(0, 5).join('; ')}`;
    set(id, { is: 'refused', error: new CloseloopError(message, { kind: 'permanent', doubtful: true }) });
  }
  for (const refusal of errors.map((body) => refusalOf(0, body))) {
    const error = new CloseloopError(`HubSpot: POST ${path}: ${inWords(refusal)}`, { kind: 'permanent' });
    const fate: Fate = refusal.category === 'OBJECT_NOT_FOUND' ? { is: 'missing' } : { is: 'refused', error };
    const about = refusal.ids.filter((id) => asked.has(id));
    for (const id of about.length === 0 && only !== undefined ? [only] : about) found.set(id, fate);
  }
  if (only !== undefined && !found.has(only)) found.set(only, { is: 'missing' });
  return found;
}

/** The property with the ids of the records that were merged into a record, separated by `;`; empty without a merge. */
export const mergedIds = 'hs_merged_object_ids';

/**
 * HubSpot returns the surviving record for the id of a merged record. Maps each requested id that is not among the results to its survivor's
 * result, as far as `mergedIds` shows it (the caller has to request that property).
 */
export function livingOn(asked: readonly string[], results: readonly BatchResult[]): Map<string, BatchResult> {
  const known = new Set(results.map(({ id }) => id));
  const missing = new Set(asked.filter((id) => !known.has(id)));
  const merged = results.flatMap((result) =>
    (result.properties[mergedIds] ?? '').split(';').map((id) => [id, result] as const),
  );
  return new Map(merged.filter(([id]) => missing.has(id)));
}

/** The present values of these properties by record. Records that aren't found under their id are left out. */
export async function currentOf(
  api: HubSpotApi,
  plural: Plural,
  ids: Iterable<string>,
  properties: readonly string[],
): Promise<Map<string, Properties>> {
  const some = chunks([...new Set(ids)], batchSize);
  const read = await Promise.all(some.map((ids) => readBatch(api, plural, ids, properties)));
  return new Map(read.flatMap(({ results }) => results.map(({ id, properties }) => [id, properties] as const)));
}

/** One record, and the new value of each property; '' clears the property. */
export interface Write extends Writable {
  /** The time of the write: of two writes of one record the later counts. */
  at: Date;
}

/** The record after the update. `write` is the write that was sent: for two writes of one record the later write. */
export type Update = Exclude<Fate, { is: 'done' }> | { is: 'done'; write: Write; result: BatchResult };

const newest = (writes: Iterable<Write>) =>
  newestBy(
    writes,
    ({ id }) => id,
    ({ at }) => at,
  );

/**
 * Writes properties, one call per 100 records. Idempotent. For merged records it writes the survivors, which takes two more calls in total.
 * @returns the updates by the requested id
 */
export async function updateAll(
  api: HubSpotApi,
  plural: Plural,
  given: readonly Write[],
): Promise<Map<string, Update>> {
  const writes = newest(given);
  const first = await updateOnce(api, plural, [...writes.values()]);
  const lost = [...writes.keys()].filter((id) => (first.get(id) ?? { is: 'missing' }).is === 'missing');
  const current = await whereabouts(api, plural, lost);
  const survivors = new Set(current.values());
  const moved = [...writes.values()].map((write) => ({ ...write, id: current.get(write.id) ?? write.id }));
  const again = newest(moved.filter(({ id }) => survivors.has(id)));
  const second = await updateOnce(api, plural, [...again.values()]);
  return new Map(
    [...writes].map(([id, own]): [string, Update] => {
      const now = current.get(id) ?? id;
      const write = again.get(now);
      const fate = (write ? second.get(now) : first.get(id)) ?? { is: 'missing' };
      return [id, fate.is === 'done' ? { ...fate, write: write ?? own } : fate];
    }),
  );
}

/**
 * Writes as `updateAll` does, and verifies every property: reads the properties that the response leaves out (one more call per 100 such
 * records).
 */
export async function updateConfirmed(api: HubSpotApi, plural: Plural, writes: readonly Write[]) {
  const updates = await updateAll(api, plural, writes);
  const doubtful = [...updates.values()].flatMap((update) => {
    if (update.is !== 'done') return [];
    const { id, properties } = update.result;
    return Object.keys(update.write.properties).flatMap((name) =>
      properties[name] === undefined ? [{ id, name }] : [],
    );
  });
  if (doubtful.length === 0) return updates;
  const names = [...new Set(doubtful.map(({ name }) => name))];
  const ids = doubtful.map(({ id }) => id);
  const current = await currentOf(api, plural, ids, names);
  for (const update of updates.values()) {
    if (update.is !== 'done') continue;
    const { id, properties } = update.result;
    update.result = { ...update.result, properties: { ...current.get(id), ...properties } };
  }
  return updates;
}

/** Maps the id of a merged record to the id of the surviving record. Deleted records are left out. */
async function whereabouts(api: HubSpotApi, plural: Plural, ids: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const ask = async (some: readonly string[]): Promise<void> => {
    const { results } = await readBatch(api, plural, some, [mergedIds]);
    for (const [id, result] of livingOn(some, results)) found.set(id, result.id);
    for (const { id } of results) if (some.includes(id)) found.set(id, id);
    const returned = new Set(found.values());
    const unmatched = results.find(({ id }) => !returned.has(id));
    if (unmatched === undefined) return;
    const [only, ...others] = some;
    if (only !== undefined && others.length === 0) found.set(only, unmatched.id);
    else for (const id of some) if (!found.has(id)) await ask([id]);
  };
  for (const some of chunks(ids, batchSize)) await ask(some);
  return found;
}

/** Updates records in one call. @returns the response, or HubSpot's refusal of the whole call */
export async function updateBatch(
  api: HubSpotApi,
  plural: Plural,
  writes: readonly Writable[],
): Promise<Map<string, Fate> | Refusal> {
  const path = paths.batchUpdate(plural);
  const inputs = writes.map(({ id, properties }) => ({ id, properties }));
  const answer = await api.attempt('POST', path, BatchResponse, { body: { inputs } });
  const ids = writes.map(({ id }) => id);
  return answer.ok ? fates(path, ids, answer.body) : answer.refusal;
}

async function updateOnce(api: HubSpotApi, plural: Plural, writes: readonly Write[]): Promise<Map<string, Fate>> {
  const send = async (some: readonly Writable[]) => {
    const found = await updateBatch(api, plural, some);
    const problems = found instanceof Map ? [] : found.problems;
    const missing = problems.find(({ code }) => /^PROPERTY_(DOESNT_EXIST|NOT_FOUND)$/.test(code));
    if (missing) throw noSuchProperty(plural, missing.property);
    return found;
  };
  const update = (some: readonly Write[]) => sendApart(some, send, (refusal) => refused(plural, refusal));
  const all = await Promise.all(chunks(writes, batchSize).map(update));
  return new Map(all.flatMap((found) => [...found]));
}

const wordFor = (plural: Plural) => plural.slice(0, -1);

const noSuchProperty = (plural: Plural, property = '(not named)') =>
  new CloseloopError(
    `HubSpot has no ${wordFor(plural)} property ${property}. Let "closeloop setup" create it (or restore it in HubSpot, Settings > Properties), or correct its internal name under writeBack`,
    { kind: 'config' },
  );

/** The error that says what a person must change before this record can be written. */
function refused(plural: Plural, refusal: Refusal): Fate {
  if (refusal.status === 404 || refusal.category === 'OBJECT_NOT_FOUND') return { is: 'missing' };
  const why = `HubSpot did not take the answer on the ${wordFor(plural)}: ${inWords(refusal)}`;
  return { is: 'refused', error: new CloseloopError(`${why}. ${remedy(refusal)}`, { kind: 'permanent' }) };
}

function remedy({ category, problems }: Refusal): string {
  const codes = new Set([category, ...problems.map(({ code }) => code)]);
  if (codes.has('MISSING_CONDITIONAL_REQUIRED_PROPERTY'))
    return 'A rule of the account requires another property on this record: fill it in there, or relax the rule in HubSpot';
  if (codes.has('INVALID_OPTION'))
    return "Add the value to the property's options in HubSpot: every grade; answered and no_answer for status";
  if (codes.has('INVALID_DATE')) return 'answeredAt needs a property of type date and time';
  return "Check the property's type in HubSpot: grade number, comment multi-line text, answeredAt date and time";
}
