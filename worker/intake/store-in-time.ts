import { setTimeout as sleep } from 'node:timers/promises';

/** Redis must answer within this, or the vendor is told to come again: two seconds at most, of which this is the wait. */
export const storeMs = 1_500;
/** An answer that never comes must not keep a source closed for good: the connection is given up well before this. */
const longestOwedMs = 30_000;

type Store<Rest extends unknown[]> = (source: string, ...rest: Rest) => Promise<void>;

/**
 * What was sent to Redis can't be taken back, and is kept until Redis answers. While Redis owes an answer for a source,
 * nothing more is sent for that source, so that an outage under load fills no memory; the other sources go on.
 */
export function inTime<Rest extends unknown[]>(store: Store<Rest>): Store<Rest> {
  const owed = new Map<string, number>();
  const owe = (source: string, change: 1 | -1): void => {
    const left = (owed.get(source) ?? 0) + change;
    if (left > 0) owed.set(source, left);
    else owed.delete(source);
  };
  return async (source, ...rest) => {
    if (owed.has(source)) throw new Error('Redis has not answered for earlier deliveries of this source yet');
    const work = store(source, ...rest);
    try {
      await within(storeMs, work);
    } catch (error) {
      if (error instanceof TooLate) {
        owe(source, 1);
        const isOver = Promise.race([work, sleep(longestOwedMs, undefined, { ref: false })]).catch(() => undefined);
        void isOver.finally(() => owe(source, -1));
      }
      throw error;
    }
  };
}

class TooLate extends Error {}

/** @throws Error when Redis has not answered after `ms` */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const giveUp = (): void => reject(new TooLate(`Redis did not answer within ${ms} ms`));
    // In a process that stood still the answer may lie there unread: it is looked at first.
    timer = setTimeout(() => setImmediate(giveUp), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}
