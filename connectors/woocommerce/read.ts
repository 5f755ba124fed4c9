import { z } from 'zod';
import { chunks } from '../../core/connector/batches.ts';
import type { ReadResult } from '../../core/connector/contract.ts';
import type { Shop } from './api.ts';
import { isOrderId, Order, orderFields, stateOf } from './order.ts';
import { present, type WooCommerceShape } from './record.ts';
import type { WooCommerceSettings } from './settings.ts';

/** The most that one call reads or writes. */
export const batchSize = 100;

/**
 * One call for a hundred orders, before planning and before asking alike: nearly everything is needed to know whether an
 * order counts. Orders in the trash are not listed, and so not found.
 */
export function reader(settings: WooCommerceSettings, shop: Shop) {
  return async (recordIds: readonly string[]): Promise<ReadResult<WooCommerceShape>[]> => {
    const orders = await ordersOf(shop, recordIds, Order, orderFields);
    return recordIds.map((id) => {
      const order = orders.get(id);
      if (order === undefined) return { ok: false, why: 'not-found' };
      const shape = present(order, settings.languageMeta);
      const { id: personId, language } = shape.customer;
      return {
        ok: true,
        record: {
          id,
          currentId: id,
          state: stateOf(order, settings),
          shape,
          ...(personId !== '' && { personId }),
          ...(language !== '' && { locale: language }),
        },
      };
    });
  };
}

/** The orders that exist, by id. `schema` and `fields` say what of them; `status: 'trash'` lists those in the trash, and no others. */
export async function ordersOf<S extends z.ZodType<{ id: string }>>(
  shop: Shop,
  ids: readonly string[],
  schema: S,
  fields: string,
  status?: 'trash',
): Promise<Map<string, z.output<S>>> {
  const found = new Map<string, z.output<S>>();
  for (const some of chunks([...new Set(ids.filter(isOrderId))], batchSize)) {
    const query = {
      include: some.join(','),
      per_page: String(batchSize),
      _fields: fields,
      ...(status && { status }),
    };
    const { data } = await shop.call('GET', 'orders', z.array(schema), { query });
    for (const order of data) found.set(order.id, order);
  }
  return found;
}
