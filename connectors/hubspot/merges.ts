import type { BatchResult } from './batch.ts';

/** Lists the records that a record was merged from, parted by `;`. Records that were never merged have none. */
export const mergedIds = 'hs_merged_object_ids';

/**
 * HubSpot answers for a merged record with the one it lives on as. Old id → that one's result, for what was asked and
 * isn't among the results under its own id, as far as the results tell (the property has to be asked for).
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
