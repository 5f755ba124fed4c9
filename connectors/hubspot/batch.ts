import { z } from 'zod';
import { chunks } from '../../core/connector/batches.ts';
import { listOf, mapOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { mismatchesOf } from '../../core/mismatches.ts';
import type { HubSpotApi } from './api.ts';
import { type Plural, type Properties, paths } from './objects.ts';
import { ErrorBody, inWords, refusalOf } from './responses.ts';

/** Records in one batch call. */
export const batchSize = 100;

/** Records in one call that reads their associations. Source: HubSpot's changelog, batch read limit of the associations API. */
export const associationsPerCall = 1_000;

/** HubSpot sends every value as a string or null; other values become strings, so that they don't fail the other 99 records. */
export const Texts = mapOf(z.union([z.string(), z.number(), z.boolean()]).transform(String).nullable());

const BatchResult = z.object({
  id: z.coerce.string(),
  properties: Texts.default({}),
  propertiesWithHistory: mapOf(
    listOf(
      z
        .object({
          value: z.string().nullish(),
          timestamp: z.union([z.string(), z.number()]).pipe(z.coerce.date()),
        })
        .transform(({ value, timestamp }) => ({ value: value ?? '', at: timestamp })),
    ),
  ).optional(),
});
export type BatchResult = z.output<typeof BatchResult>;

const Identified = z.object({ id: z.union([z.string(), z.number()]).transform(String) });

/**
 * The response of batch/read and batch/update. `errors` decides, not the status (200 and 207 mean the same). A record of another shape
 * is in `unreadable`: its id, where readable, and the mismatch.
 */
export const BatchResponse = z
  .object({
    results: listOf(z.unknown(), 1_000),
    numErrors: z.number().optional(),
    errors: listOf(ErrorBody).optional(),
  })
  .transform(({ results, ...rest }) => {
    const parsed = results.map((raw) => ({ raw, result: BatchResult.safeParse(raw) }));
    return {
      ...rest,
      results: parsed.flatMap(({ result }) => (result.success ? [result.data] : [])),
      unreadable: parsed.flatMap(({ raw, result }) =>
        result.success ? [] : [{ id: Identified.safeParse(raw).data?.id, at: mismatchesOf(result.error) }],
      ),
    };
  });
export type BatchResponse = z.output<typeof BatchResponse>;

export type Fate<T> = { is: 'done'; result: T } | { is: 'missing' } | { is: 'refused'; error: CloseloopError };

/**
 * The result for each id of one batch call. Results come in any order. Ids in neither list are left out of the map, unless the call
 * had one id alone: then the result belongs to it (after a merge the result has another id).
 */
export function fates(place: string, ids: readonly string[], answer: BatchResponse): Map<string, Fate<BatchResult>> {
  const [alone, ...others] = ids;
  const only = others.length === 0 ? alone : undefined;
  const found = new Map<string, Fate<BatchResult>>();
  const asked = new Set(ids);
  for (const result of answer.results) {
    const id = asked.has(result.id) ? result.id : only;
    if (id !== undefined) found.set(id, { is: 'done', result });
  }
  for (const { id, at } of answer.unreadable) {
    const whose = id !== undefined && asked.has(id) ? id : only;
    const message = `HubSpot: ${place} answered a record in another shape than documented, at ${at.slice(0, 5).join('; ')}`;
    const error = new CloseloopError(message, { kind: 'permanent', doubtful: true });
    if (whose !== undefined) found.set(whose, { is: 'refused', error });
  }
  for (const body of answer.errors ?? []) {
    const refusal = refusalOf(0, body);
    const fate: Fate<BatchResult> =
      refusal.category === 'OBJECT_NOT_FOUND'
        ? { is: 'missing' }
        : { is: 'refused', error: new CloseloopError(`HubSpot: ${place}: ${inWords(refusal)}`, { kind: 'permanent' }) };
    const about = refusal.ids.filter((id) => asked.has(id));
    for (const id of about.length === 0 && only !== undefined ? [only] : about) found.set(id, fate);
  }
  if (only !== undefined && !found.has(only)) found.set(only, { is: 'missing' });
  return found;
}

/** The ids of the records that were merged into a record, separated by `;`; empty without a merge. */
export const mergedIds = 'hs_merged_object_ids';

/**
 * For a merged record HubSpot returns the surviving record. Old id → the survivor's result, for requested ids that are not among the
 * results, as far as `mergedIds` shows it (the property has to be requested).
 */
export function livingOn(asked: readonly string[], results: readonly BatchResult[]): Map<string, BatchResult> {
  const known = new Set(results.map(({ id }) => id));
  const missing = new Set(asked.filter((id) => !known.has(id)));
  const found = new Map<string, BatchResult>();
  for (const result of results) {
    for (const id of (result.properties[mergedIds] ?? '').split(';')) if (missing.has(id)) found.set(id, result);
  }
  return found;
}

/** The present values of these properties; records that aren't found under their id are left out. */
export async function currentOf(
  api: HubSpotApi,
  plural: Plural,
  ids: Iterable<string>,
  properties: readonly string[],
): Promise<Map<string, Properties>> {
  const found = new Map<string, Properties>();
  await Promise.all(
    chunks([...new Set(ids)], batchSize).map(async (some) => {
      const body = { inputs: some.map((id) => ({ id })), properties, propertiesWithHistory: [] };
      const { results } = await api.call('POST', paths.batchRead(plural), BatchResponse, { body });
      for (const { id, properties } of results) found.set(id, properties);
    }),
  );
  return found;
}
