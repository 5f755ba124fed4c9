import { placesOf } from '../../core/connector/answer.ts';
import { chunks } from '../../core/connector/batches.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { Source } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import { WrittenOrder } from './answer.ts';
import type { Shop } from './api.ts';
import { type Row, updateMeta } from './meta-update.ts';
import { removeNotes } from './note.ts';
import { isOrderId } from './order.ts';
import { batchSize, ordersOf } from './read.ts';
import type { WooCommerceSettings } from './settings.ts';

const fields = Object.keys(WrittenOrder.shape).join(',');

/**
 * Removes answers from orders, also from those in the trash: the configured meta data, three calls per hundred orders, and
 * closeloop's notes, whatever the present settings, one call per order and per note.
 */
export function forgetter({ writeBack }: WooCommerceSettings, shop: Shop): NonNullable<Source['forget']> {
  const names = [...placesOf(writeBack).values()];

  async function forgetBatch(ids: readonly string[]): Promise<string[]> {
    const listed = await ordersOf(shop, ids, WrittenOrder, fields);
    const unlisted = ids.filter((id) => !listed.has(id));
    const found = new Map([...listed, ...(await ordersOf(shop, unlisted, WrittenOrder, fields, 'trash'))]);
    const orders = [...found.values()].flatMap((order) => (order instanceof VendorError ? [] : [order]));
    const unreadable = [...found].flatMap(([id, order]) => (order instanceof VendorError ? [id] : []));
    const changes = orders
      .map(({ id, meta_data }) => ({
        id,
        change: names.filter((name) => meta_data.some(({ key }) => key === name)).map((key) => ({ key, value: null })),
      }))
      .filter(({ change }) => change.length > 0);
    const rows = changes.length === 0 ? new Map() : await updateMeta(shop, changes);
    for (const { id } of orders) await removeNotes(shop, id).catch(unlessGone);
    return [
      ...changes.flatMap(({ id, change }) => leftOn(id, change, rows.get(id))),
      ...unreadable.map(
        (id) => `the answer on order ${id}, which the shop does not show as documented: take it off by hand`,
      ),
    ];
  }

  return async (recordIds) => {
    const left: string[] = [];
    const ids = [...new Set(recordIds)].filter(isOrderId);
    for (const some of chunks(ids, batchSize)) left.push(...(await forgetBatch(some)));
    return left;
  };
}

/** @throws CloseloopError transient where a retry will clear it up */
function leftOn(id: string, change: readonly { key: string }[], row: Row | undefined): string[] {
  const place = `WooCommerce order ${id}`;
  if (row === undefined)
    throw new CloseloopError(`${place}: the shop said nothing of it; tried again`, { kind: 'transient' });
  if (!('error' in row)) {
    const there = change.filter(({ key }) => row.meta_data.some((one) => one.key === key));
    return there.map(({ key }) => `${key} of order ${id}: look for a plugin that guards it`);
  }
  const { code, data } = row.error;
  if (/invalid_id$/.test(code)) return [];
  const said = /^[a-z0-9_-]{1,80}$/.test(code) ? code : 'an error';
  if ((data?.status ?? 0) >= 500) throw new CloseloopError(`${place}: ${said}; tried again`, { kind: 'transient' });
  return [`the answer on order ${id} (${said}): take it off by hand`];
}

/** The order or the note may have been deleted since the list was read. */
function unlessGone(error: unknown): void {
  if (!(error instanceof VendorError && error.isGone)) throw error;
}
