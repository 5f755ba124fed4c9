import { CloseloopError } from '../errors.ts';
import { VendorError } from './classify.ts';
import type { WriteBack, WriteResult } from './contract.ts';

/** Lists of at most `size` items, for calls with a limit. */
export function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));
}

/**
 * Batches of at most `size` answers. A batch holds each record once, as the vendor would process both answers at the same
 * time. An answer goes into the first batch with room, so that a later answer to a record is always in a later batch.
 */
export function batchesOf(items: readonly WriteBack[], size: number): WriteBack[][] {
  const batches: WriteBack[][] = [];
  for (const item of items) {
    const open = batches.find(
      (batch) => batch.length < size && !batch.some(({ recordId }) => recordId === item.recordId),
    );
    if (open === undefined) batches.push([item]);
    else open.push(item);
  }
  return batches;
}

/** Writes batch after batch. One result per item, in order. */
export async function writeInBatches(
  items: readonly WriteBack[],
  size: number,
  write: (batch: readonly WriteBack[]) => Promise<readonly WriteResult[]>,
): Promise<WriteResult[]> {
  const results = new Map<WriteBack, WriteResult>();
  for (const batch of batchesOf(items, size)) {
    const written = await write(batch);
    for (const [index, result] of written.entries()) {
      const item = batch[index];
      if (item !== undefined) results.set(item, result);
    }
  }
  return items.map((item) => {
    const result = results.get(item);
    if (result === undefined) throw new TypeError('a batch was written without a result for each of its answers');
    return result;
  });
}

/**
 * Writes the items one by one, for vendors without bulk writes. A permanent failure is the result of its item alone; after any
 * other failure (a quota, a token, the network) no further call is made, and the remaining items get the same error.
 * @param notFound The result for a record that the vendor no longer has.
 */
export async function writeInTurn<Item>(
  items: readonly Item[],
  write: (item: Item) => Promise<WriteResult>,
  notFound: (item: Item) => WriteResult,
): Promise<WriteResult[]> {
  const results: WriteResult[] = [];
  let failure: CloseloopError | undefined;
  for (const item of items) {
    try {
      if (failure !== undefined) throw failure;
      results.push(await write(item));
    } catch (error) {
      if (!(error instanceof CloseloopError)) throw error;
      if (error.advice.kind !== 'permanent') failure = error;
      const isGone = error instanceof VendorError && error.isGone;
      results.push(isGone ? notFound(item) : { ok: false, why: 'error', error });
    }
  }
  return results;
}
