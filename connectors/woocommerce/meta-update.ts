import { z } from 'zod';
import { listOf, orElse } from '../../core/entries.ts';
import { WrittenOrder } from './answer.ts';
import type { Shop } from './api.ts';

/** Entries of meta data to set; null removes the entry. */
export type Change = readonly { key: string; value: string | null }[];

/** The status is 200 whatever the rows say. PHP's empty object is `[]`. */
const BatchAnswer = z.union([
  z.object({
    update: listOf(
      z.union([
        z.object({
          id: z.unknown(),
          error: z.object({ code: z.string(), data: orElse(z.object({ status: z.number() }).nullish(), null) }),
        }),
        WrittenOrder,
      ]),
    ),
  }),
  z.tuple([]).transform(() => ({ update: [] })),
]);
export type Row = z.output<typeof BatchAnswer>['update'][number];

/** One call for at most 100 orders. Returns the shop's result for each. */
export async function updateMeta(
  shop: Shop,
  changes: readonly { id: string; change: Change }[],
): Promise<Map<string, Row>> {
  const update = changes.map(({ id, change }) => ({ id: Number(id), meta_data: change }));
  const { data } = await shop.call('POST', 'orders/batch', BatchAnswer, { body: { update } });
  // Each row has its order's id; plugins may add to an order, not to the list.
  return new Map(data.update.map((row) => [String(row.id), row]));
}
