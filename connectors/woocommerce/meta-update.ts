import { z } from 'zod';
import { listOf, orElse } from '../../core/entries.ts';
import { WrittenOrder } from './answer.ts';
import type { Shop } from './api.ts';

/** Entries of meta data to set; null takes one away. */
export type Change = readonly { key: string; value: string | null }[];

/** 200, whatever became of the rows. PHP's empty object is `[]`. */
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

/** One call, for at most 100 orders; what the shop says of each. */
export async function updateMeta(
  shop: Shop,
  changes: readonly { id: string; change: Change }[],
): Promise<Map<string, Row>> {
  const update = changes.map(({ id, change }) => ({ id: Number(id), meta_data: change }));
  const { data } = await shop.call('POST', 'orders/batch', BatchAnswer, { body: { update } });
  // The answer names each row, in the order in which they were sent; a plugin may add to an order, not to the list.
  return new Map(data.update.map((row) => [String(row.id), row]));
}
