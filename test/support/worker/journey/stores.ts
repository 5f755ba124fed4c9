import { JourneyStore } from '../../../../worker/journey/store.ts';
import { useRedis } from '../../redis.ts';
import { testSeal } from '../../seal.ts';

let sources = 0;

/** A source's name that no other test has. */
export const freshSource = (): string => `store-${++sources}`;

/** For a file of tests of the store: its Redis, its keys there, and stores of their own. */
export function useStores() {
  const redis = useRedis();
  return {
    redis,
    /** A store of its own, on a clock that goes on a second at every look. */
    fresh(): { store: JourneyStore; now: () => Date } {
      let ms = Date.parse('2026-05-04T09:00:00Z');
      const now = () => {
        ms += 1_000;
        return new Date(ms);
      };
      return { store: new JourneyStore(redis.handle.client, freshSource(), { now, seal: testSeal }), now };
    },
    keys: async (pattern: string): Promise<string[]> => await redis.handle.client.keys(pattern),
  };
}

export function claimOf(recordId: string, closing: string, eventKey: string) {
  const at = new Date('2026-05-04T08:00:00Z');
  return { recordId, closing, closedAt: at, eventKey, receivedAt: at };
}
