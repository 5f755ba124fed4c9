import fc from 'fast-check';
import { expect, test } from 'vitest';
import { capRuns, compare } from '../../../../support/core/cap-oracle.ts';
import { anywhere } from '../../../../support/core/schedule-oracle.ts';
import { useRedis } from '../../../../support/redis.ts';

const redis = useRedis();

/** Every zone around its clock changes: test/system/send-times, in `npm run test:long`. */
test('places under caps are those of the oracle, with windows, hours of text messages, holidays and zones', async () => {
  await fc.assert(
    fc.asyncProperty(capRuns(anywhere), async (run) => {
      await redis.handle.client.flushdb();
      expect((await compare(run, redis.handle.client, 'caps')).differences).toEqual([]);
    }),
    { numRuns: 8 },
  );
});
