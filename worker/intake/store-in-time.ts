import { setTimeout as sleep } from 'node:timers/promises';
import { TooLate, within } from '../redis/unavailable.ts';

/** How long intake waits for Redis before it answers 503. The whole answer takes two seconds at most. */
export const storeMs = 1_500;
/** After this time a source is opened again although Redis has not answered; the connection is given up well before. */
const longestOwedMs = 30_000;

type Store<Rest extends unknown[]> = (source: string, ...rest: Rest) => Promise<void>;

/**
 * A write that was sent to Redis can't be cancelled, and stays in memory until Redis answers. While a source waits for Redis' answer,
 * no further write is sent for that source, so that an outage under load does not fill the memory. Other sources go on.
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
