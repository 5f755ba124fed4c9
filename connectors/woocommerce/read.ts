import { z } from 'zod';
import { chunks } from '../../core/connector/batches.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { ReadResult } from '../../core/connector/contract.ts';
import { customerOf } from '../../core/connector/customer.ts';
import { listOf } from '../../core/entries.ts';
import type { Shop } from './api.ts';
import { isOrderId, Order, OrderMoment, orderFields, stateOf } from './order.ts';
import { present, type WooCommerceShape } from './record.ts';
import type { WooCommerceSettings } from './settings.ts';

/** The most orders that one call reads or writes. */
export const batchSize = 100;

/**
 * One call for a hundred orders, for planning and for asking alike: the state depends on nearly all fields. Orders in the trash
 * are not listed, and so not found.
 */
export function reader(settings: WooCommerceSettings, shop: Shop) {
  return async (recordIds: readonly string[]): Promise<ReadResult<WooCommerceShape>[]> => {
    const orders = await ordersOf(shop, recordIds, Order, orderFields);
    return recordIds.map((id) => {
      const order = orders.get(id);
      if (order === undefined) return { ok: false, why: 'not-found' };
      if (order instanceof VendorError) return { ok: false, why: 'error', error: order };
      const shape = present(order, settings.languageMeta);
      const { id: personId, language: locale } = shape.customer;
      const { country, state: region } = shape.customer.country === '' ? shape.shipping : shape.customer;
      const customer = customerOf({ personId, country, region, locale });
      return { ok: true, record: { id, currentId: id, state: stateOf(order, settings), shape, ...customer } };
    });
  };
}

/**
 * The existing orders by id; an order of another shape is an error of its own. `schema` and `fields` name the fields; `status: 'trash'`
 * lists only orders in the trash.
 */
export async function ordersOf<S extends z.ZodType<{ id: string }>>(
  shop: Shop,
  ids: readonly string[],
  schema: S,
  fields: string,
  status?: 'trash',
): Promise<Map<string, z.output<S> | VendorError>> {
  const found = new Map<string, z.output<S> | VendorError>();
  for (const some of chunks([...new Set(ids.filter(isOrderId))], batchSize)) {
    const query = {
      include: some.join(','),
      per_page: String(batchSize),
      _fields: fields,
      ...(status && { status }),
    };
    const { data } = await shop.call('GET', 'orders', listOf(z.unknown(), 1_000), { query });
    for (const raw of data) {
      const { id, order } = listed(schema, raw);
      // An order without a readable id may be any of those that were not found.
      for (const each of id === undefined ? some.filter((one) => !found.has(one)) : [id]) found.set(each, order);
    }
  }
  return found;
}

const Identified = z.object({ id: OrderMoment.shape.id });

/** One order of a list. Plugins may change its shape, which must not fail the other orders. */
export function listed<S extends z.ZodType<{ id: string }>>(
  schema: S,
  raw: unknown,
): { id: string | undefined; order: z.output<S> | VendorError } {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return { id: parsed.data.id, order: parsed.data };
  const { id } = Identified.safeParse(raw).data ?? {};
  const order = new VendorError(`WooCommerce order ${id ?? 'without an id'}`, {
    problem: `it has another shape than documented, at ${parsed.error.issues[0]?.path.join('.') || 'its top'}`,
    remedy: 'look for a plugin that changes what the API shows of orders',
    advice: { kind: 'permanent', doubtful: true },
    outcome: 'refused',
    status: 200,
    code: '',
  });
  return { id, order };
}
