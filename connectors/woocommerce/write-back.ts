import { notOverNewer } from '../../core/connector/answer.ts';
import { writeInBatches, writeInTurn } from '../../core/connector/batches.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { Source, WriteBack, WriteResult } from '../../core/connector/contract.ts';
import { type Advice, CloseloopError } from '../../core/errors.ts';
import { changeFor, holdsLater, notTaken, WrittenOrder, wantedOf } from './answer.ts';
import type { Shop } from './api.ts';
import { type Change, type Row, updateMeta } from './meta-update.ts';
import { addNote, hasNote } from './note.ts';
import { isOrderId } from './order.ts';
import { batchSize, ordersOf } from './read.ts';
import type { WooCommerceSettings } from './settings.ts';

const fields = Object.keys(WrittenOrder.shape).join(',');

/** One item and the work that is left for it. */
interface Job {
  item: WriteBack;
  change: Change;
  /** Undefined until it is settled. */
  result: WriteResult | undefined;
}

/**
 * Writes answers on orders: two calls per hundred orders (read, update), and one per note.
 *
 * Only meta data are sent: anything else would make WooCommerce calculate the order anew. Meta data can be written twice;
 * a note can't, so it comes last, and where an order already held all that is wanted (an earlier attempt, then) it is
 * looked for first.
 */
export function writer({ writeBack }: WooCommerceSettings, shop: Shop): Source['writeBack'] {
  async function writeBatch(items: readonly WriteBack[]): Promise<WriteResult[]> {
    const orders = await ordersOf(
      shop,
      items.map(({ recordId }) => recordId),
      WrittenOrder,
      fields,
    );
    const jobs = items.map((item) => jobFor(item, orders.get(item.recordId)));
    await sendChanges(jobs);
    if (writeBack.note) await addNotes(jobs);
    return jobs.map(({ result }) => result ?? { ok: true, findings: [] });
  }

  function jobFor(item: WriteBack, order: WrittenOrder | VendorError | undefined): Job {
    if (order === undefined) return { item, change: [], result: notFound(item) };
    if (order instanceof VendorError) return { item, change: [], result: { ok: false, why: 'error', error: order } };
    if (holdsLater(item, order, writeBack)) {
      return { item, change: [], result: notOverNewer('order') };
    }
    return { item, change: changeFor(wantedOf(item, writeBack), order), result: undefined };
  }

  async function sendChanges(jobs: readonly Job[]): Promise<void> {
    const changed = jobs.filter(({ change }) => change.length > 0);
    if (changed.length === 0) return;
    const rows = await updateMeta(
      shop,
      changed.map(({ item, change }) => ({ id: item.recordId, change })),
    );
    for (const job of changed) job.result = resultOf(job, rows.get(job.item.recordId));
  }

  async function addNotes(jobs: readonly Job[]): Promise<void> {
    const toNote = jobs.filter(
      ({ item, result }) => item.status === 'answered' && result?.ok !== false && result?.unwritten === undefined,
    );
    const results = await writeInTurn(
      toNote,
      async ({ item, change, result }) => {
        if (change.length > 0 || !(await hasNote(shop, item))) await addNote(shop, item);
        return result ?? { ok: true, findings: [] };
      },
      ({ item }) => notFound(item),
    );
    for (const [index, job] of toNote.entries()) job.result = results[index];
  }

  return (items) => writeInBatches(items, batchSize, writeBatch);
}

/** The result for one order, by the shop's response and the meta data in it. */
function resultOf({ item, change }: Job, row: Row | undefined): WriteResult {
  if (row === undefined) {
    return failed(item, 'the shop said nothing of it', { kind: 'transient' }, 'unknown');
  }
  if (!('error' in row)) return { ok: true, findings: notTaken(change, row) };
  const { code, data } = row.error;
  if (/invalid_id$/.test(code)) return notFound(item);
  const said = /^[a-z0-9_-]{1,80}$/.test(code) ? code : 'an error';
  if ((data?.status ?? 0) >= 500) return failed(item, `${said}; it is tried again`, { kind: 'transient' }, 'unknown');
  return failed(
    item,
    `${said}. Check that the user of the REST key may edit this order, and that no plugin guards it`,
    { kind: 'permanent' },
    'refused',
  );
}

function failed(item: WriteBack, text: string, advice: Advice, outcome: 'refused' | 'unknown'): WriteResult {
  const error = new CloseloopError(`WooCommerce order ${item.recordId}: ${text}.`, advice, { outcome });
  return { ok: false, why: 'error', error };
}

function notFound({ recordId }: WriteBack): WriteResult {
  const id = isOrderId(recordId) ? ` ${recordId}` : '';
  return { ok: false, why: 'not-found', message: `WooCommerce order${id} does not exist any more.` };
}
