import type { HubSpotApi } from './client.ts';
import { heldBy } from './held.ts';
import { type Plural, type Update, updateAll, type Write } from './update.ts';

/**
 * Writes as `updateAll` does, and knows of every property whether it was taken: what HubSpot's answer leaves out is read
 * (one more call per 100 records that need it).
 */
export async function updateConfirmed(
  api: HubSpotApi,
  plural: Plural,
  writes: readonly Write[],
): Promise<Map<string, Update>> {
  const updates = await updateAll(api, plural, writes);
  const doubtful = [...updates.values()].flatMap((update) => {
    const untold = update.is === 'done' ? untoldBy(update) : [];
    return update.is === 'done' && untold.length > 0 ? [{ id: update.result.id, untold }] : [];
  });
  if (doubtful.length === 0) return updates;
  const names = [...new Set(doubtful.flatMap(({ untold }) => untold))];
  const ids = doubtful.map(({ id }) => id);
  const held = await heldBy(api, plural, ids, names);
  return new Map(
    [...updates].map(([id, update]): [string, Update] => {
      if (update.is !== 'done') return [id, update];
      const properties = { ...held.get(update.result.id), ...update.result.properties };
      return [id, { ...update, result: { ...update.result, properties } }];
    }),
  );
}

function untoldBy({ write, result }: Extract<Update, { is: 'done' }>): string[] {
  return Object.keys(write.properties).filter((name) => result.properties[name] === undefined);
}
