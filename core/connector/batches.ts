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
