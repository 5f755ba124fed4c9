import { BatchAnswer } from './batch.ts';
import type { HubSpotApi } from './client.ts';
import { chunks, type Properties, paths } from './objects.ts';
import type { Plural } from './update.ts';

const batchSize = 100;

/** What records hold of these properties before they are written; records that aren't found under their id are left out. */
export async function heldBy(
  api: HubSpotApi,
  plural: Plural,
  ids: Iterable<string>,
  properties: readonly string[],
): Promise<Map<string, Properties>> {
  const found = new Map<string, Properties>();
  await Promise.all(
    chunks([...new Set(ids)], batchSize).map(async (some) => {
      const body = { inputs: some.map((id) => ({ id })), properties, propertiesWithHistory: [] };
      const { results } = await api.call('POST', paths.batchRead(plural), BatchAnswer, { body });
      for (const { id, properties } of results) found.set(id, properties);
    }),
  );
  return found;
}
