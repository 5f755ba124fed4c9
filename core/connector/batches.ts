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
 * Does one step for each item. A permanent failure concerns its item alone; after any other failure (a quota, a token, the network) no further
 * step is done, and the remaining items get the same failure.
 * @returns the failures
 */
export async function tryEach<Item>(
  items: readonly Item[],
  step: (item: Item) => Promise<void>,
): Promise<Map<Item, CloseloopError>> {
  const failures = new Map<Item, CloseloopError>();
  let lasting: CloseloopError | undefined;
  for (const item of items) {
    try {
      if (lasting !== undefined) throw lasting;
      await step(item);
    } catch (error) {
      if (!(error instanceof CloseloopError)) throw error;
      if (error.advice.kind !== 'permanent') lasting = error;
      failures.set(item, error);
    }
  }
  return failures;
}

/**
 * Writes the items one by one (`tryEach`), for vendors without bulk writes.
 * @param notFound The result for a record that the vendor no longer has.
 */
export async function writeInTurn<Item>(
  items: readonly Item[],
  write: (item: Item) => Promise<WriteResult>,
  notFound: (item: Item) => WriteResult,
): Promise<WriteResult[]> {
  const results = new Map<Item, WriteResult>();
  const failures = await tryEach(items, async (item) => void results.set(item, await write(item)));
  for (const [item, error] of failures) {
    const isGone = error instanceof VendorError && error.isGone;
    results.set(item, isGone ? notFound(item) : { ok: false, why: 'error', error });
  }
  return items.flatMap((item) => results.get(item) ?? []);
}

/** Why a vendor refused a whole call: the items that it blames, and the place whose value it blames, as far as the vendor says. */
export interface Blame {
  ids: readonly string[];
  place?: string | undefined;
}

/** An item to write, with its values by place. */
export interface Writable {
  id: string;
  properties: Readonly<Record<string, string>>;
}

/**
 * Sends items in one call to a vendor that refuses a whole call for one invalid value; finds the items with that value, and sends the others.
 * Items that the vendor blames are taken out. If it blames none, the call is halved, sorted by the values at the blamed place, until the
 * remaining items share the value: a value that a list of choices lacks costs a few calls, however many items have it.
 * @param send makes one call; returns the result of each item, or why the vendor refused the whole call
 */
export async function sendApart<Item extends Pick<Writable, 'id'> & Partial<Writable>, Fate, Refusal extends Blame>(
  items: readonly Item[],
  send: (some: readonly Item[]) => Promise<Map<string, Fate> | Refusal>,
  refused: (refusal: Refusal) => Fate,
): Promise<Map<string, Fate>> {
  const refusal = await send(items);
  if (refusal instanceof Map) return refusal;
  const { ids, place } = refusal;
  const sent = ({ properties = {} }: Item): string => properties[place ?? ''] ?? '';
  const byValue = items.toSorted((a, b) => (sent(a) < sent(b) ? -1 : sent(a) > sent(b) ? 1 : 0));
  const values = byValue.map(sent);
  const isOneBadValue =
    place !== undefined && new Set(values).size === 1 && items.every(({ properties = {} }) => place in properties);
  if (items.length <= 1 || isOneBadValue) return new Map(items.map(({ id }) => [id, refused(refusal)]));
  const [guilty, others] = [true, false].map((isNamed) => byValue.filter(({ id }) => ids.includes(id) === isNamed));
  const middle = middleOf(values);
  const halves = [byValue.slice(0, middle), byValue.slice(middle)];
  const results = new Map<string, Fate>();
  for (const part of guilty?.length && others?.length ? [guilty, others] : halves)
    for (const [id, fate] of await sendApart(part, send, refused)) results.set(id, fate);
  return results;
}

/** The index at which to halve a sorted list: between two different values if possible, so that equal values stay together. */
function middleOf(values: readonly string[]): number {
  const half = Math.ceil(values.length / 2);
  const value = values[half] ?? '';
  const edge = values.indexOf(value) || values.lastIndexOf(value) + 1;
  return edge < values.length ? edge : half;
}
