import { z } from 'zod';
import { cached } from '../../core/connector/cached.ts';
import { pageWatch } from '../../core/connector/pages.ts';
import { listOf } from '../../core/entries.ts';
import type { HubSpotApi } from './api.ts';
import { paths } from './objects.ts';
import type { HubSpotOwner } from './record.ts';

const keepMs = 10 * 60_000;
const againMs = 60_000;

const Owners = z.object({
  results: listOf(
    z.object({
      id: z.coerce.string(),
      email: z.string().nullish(),
      firstName: z.string().nullish(),
      lastName: z.string().nullish(),
    }),
  ),
  paging: z.object({ next: z.object({ after: z.coerce.string() }).nullish() }).nullish(),
});

/** The owners of records. The whole list is read once and cached for minutes. */
export interface OwnerReader {
  /** An owner that HubSpot doesn't list any more keeps its id and has no name. */
  read(ids: readonly string[]): Promise<Map<string, HubSpotOwner>>;
  /** The active one with this address. */
  withEmail(email: string): Promise<HubSpotOwner | undefined>;
}

export function ownerReader(api: HubSpotApi, now: () => Date): OwnerReader {
  const active = cached(() => list('false'), keepMs, now);
  const archived = cached(() => list('true'), keepMs, now);

  async function list(archived: 'true' | 'false'): Promise<Map<string, HubSpotOwner>> {
    const owners = new Map<string, HubSpotOwner>();
    let after: string | undefined;
    const watch = pageWatch('HubSpot owners');
    do {
      const query = { limit: '100', archived, ...(after !== undefined && { after }) };
      const { results, paging } = await api.call('GET', paths.owners, Owners, { query });
      for (const { id, email, firstName, lastName } of results) {
        const name = [firstName, lastName].filter(Boolean).join(' ') || null;
        owners.set(id, { id, name, email: email || null });
      }
      after = paging?.next?.after;
      if (after !== undefined) watch(after);
    } while (after !== undefined);
    return owners;
  }

  const found = (owners: ReadonlyMap<string, HubSpotOwner>, email: string) =>
    [...owners.values()].find((one) => one.email?.toLowerCase() === email.toLowerCase());

  return {
    withEmail: async (email) =>
      found(await active(), email) ?? found(await active(new Date(now().getTime() - againMs)), email),
    async read(ids) {
      if (ids.length === 0) return new Map();
      let known = await active();
      // new since, or deactivated
      if (ids.some((id) => !known.has(id))) known = new Map([...(await archived()), ...known]);
      if (ids.some((id) => !known.has(id))) {
        known = new Map([...known, ...(await active(new Date(now().getTime() - againMs)))]);
      }
      return new Map(ids.map((id) => [id, known.get(id) ?? { id, name: null, email: null }]));
    },
  };
}
