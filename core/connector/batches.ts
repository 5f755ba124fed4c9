import { CloseloopError } from '../errors.ts';
import { VendorError } from './classify.ts';
import type { WriteBack, WriteResult } from './contract.ts';

/** For calls that take a limited number of things. */
export function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));
}

/**
 * Batches of at most `size` answers, with no record twice in one: the vendor would work on both at once. An answer goes into
 * the first batch that has room, so that a later answer to the same record is always in a later batch.
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
 * Writes one after the other, for vendors that take one in a call. A failure that is about one record is its own result; after
 * any other (a quota, a token, the network) no further call is made, and what is left fails for the same reason.
 * @param notFound The result for a record that turns out to be gone.
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
