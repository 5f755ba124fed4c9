import { z } from 'zod';
import type { Source } from '../../core/connector/contract.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { removalFrom } from './answer.ts';
import type { ShopifyApi } from './api.ts';
import { currentReader } from './current.ts';
import { isOrderId } from './ids.ts';
import { type Mutation, mutationsFor, sender } from './mutations.ts';
import type { ShopifySettings } from './settings.ts';

const Installation = z.object({
  currentAppInstallation: z.object({ accessScopes: listOf(z.object({ handle: z.string() })) }),
});

const scopesQuery = {
  name: 'Scopes',
  document: 'query Scopes { currentAppInstallation { accessScopes { handle } } }',
  data: Installation,
  price: { base: 2, each: 0 },
};

/**
 * Removes answers from orders: the configured metafields, and closeloop's tags and line in the note, whatever the present settings.
 * As few calls as for writing. An order that the app can't see is deleted, or too old for an app without `read_all_orders`.
 */
export function forgetter({ writeBack }: ShopifySettings, api: ShopifyApi): NonNullable<Source['forget']> {
  const currentOf = currentReader(writeBack, api, { note: true });
  const send = sender('ForgetAnswers', api);

  async function seesAll(): Promise<boolean> {
    const { currentAppInstallation: app } = await api.call(scopesQuery);
    return app.accessScopes.some(({ handle }) => handle === 'read_all_orders');
  }

  return async (recordIds) => {
    const ids = [...new Set(recordIds)].filter(isOrderId);
    const found = await currentOf(ids);
    const work = new Map<string, Mutation[]>();
    for (const [id, current] of found) {
      if (current instanceof CloseloopError) throw current;
      const change = removalFrom(writeBack, current);
      if (change !== undefined) work.set(id, mutationsFor(id, change, writeBack));
    }
    const undone = await send(work);
    for (const why of undone.values()) if (typeof why !== 'string') throw why;
    const left = [...undone].map(([id, why]) => `something on order ${id} (${why}): take it off by hand`);
    const unseen = ids.length - found.size;
    if (unseen > 0 && !(await seesAll())) {
      left.push(
        `${unseen} orders can't be seen: deleted, or older than 60 days, which needs the scope read_all_orders`,
      );
    }
    return left;
  };
}
