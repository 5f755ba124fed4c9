import fc from 'fast-check';
import { expect, test } from 'vitest';
import { capRuns, compare } from '../../support/core/cap-oracle.ts';
import { allZones, changes } from '../../support/core/schedule-oracle.ts';
import { useRedis } from '../../support/redis.ts';

const redis = useRedis();

/** ORACLE=all: every zone, for three minutes. */
const zones = allZones.filter((_, i) => process.env.ORACLE === 'all' || i % 5 === 0);

test('places under caps agree with the oracle around clock changes of ten years', async () => {
  const seen = { zones: zones.length, runs: 0, odd: 0, looks: 0, asked: 0, differences: 0 };
  for (const [i, zone] of zones.entries()) {
    const all = changes(zone);
    const around = all[i % all.length] ?? 0;
    await fc.assert(
      fc.asyncProperty(capRuns(fc.constant({ zone, around })), async (run) => {
        await redis.handle.client.flushdb();
        const { differences, looks, asked, isOdd } = await compare(run, redis.handle.client, 'caps');
        seen.runs++;
        seen.looks += looks;
        seen.asked += asked;
        if (isOdd) seen.odd++;
        seen.differences += differences.length;
        expect(differences).toEqual([]);
      }),
      { numRuns: 1, seed: around % 2 ** 31 },
    );
  }
  process.stdout.write(`${JSON.stringify(seen)}\n`);
  expect(seen).toMatchObject({ differences: 0 });
  expect(seen.asked).toBeGreaterThan(100);
});
