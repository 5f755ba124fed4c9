import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSnapshotStore } from '../../../../worker/journey/snapshots.ts';
import { JourneyStore } from '../../../../worker/journey/store.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { tagOf } from '../../../../worker/redis/keys.ts';
import { useRedis } from '../../../support/redis.ts';
import { testSeal } from '../../../support/seal.ts';

const redis = useRedis();
const keepMs = 60_000;
const at = (seconds: number) => new Date(1_795_168_800_000 + seconds * 1_000);

function stores(source: string) {
  const { client } = redis.handle;
  const snapshots = createSnapshotStore(client, { tag: tagOf(source), keepMs, seal: testSeal });
  const journeys = new JourneyStore(client, source, { now: () => new Date(), seal: testSeal });
  const lifeOf = (id: string) => client.pttl(`${tagOf(source)}:snapshot:${id}`);
  const claim = (recordId: string, closing: string) =>
    journeys.getOrCreate({ recordId, closing, closedAt: at(0), eventKey: closing, receivedAt: at(0) }, []);
  return { snapshots, journeys, lifeOf, claim };
}

describe('the snapshot of a record', () => {
  test('it is the newest by the event, whatever came late or twice', async () => {
    const { snapshots } = stores('snapshots-order');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1 }), fc.uuid(), async (seconds, id) => {
        for (const second of seconds) await snapshots.save(id, at(second), { second });
        expect(await snapshots.of([id])).toEqual([{ second: Math.max(...seconds) }]);
      }),
      { numRuns: 30 },
    );
  });

  test('it is the later to come of two of one instant', async () => {
    const { snapshots } = stores('snapshots-tie');
    await snapshots.save('a', at(1), { n: 1 });
    await snapshots.save('a', at(1), { n: 2 });
    expect(await snapshots.of(['nothing', 'a'])).toEqual([undefined, { n: 2 }]);
    expect(await snapshots.of([])).toEqual([]);
  });

  test('it stays as it is when somebody tells of it by the way', async () => {
    const { snapshots } = stores('snapshots-first');
    expect(await snapshots.isUsed()).toBe(false);
    await snapshots.save('a', at(1), { n: 1 }, { onlyFirst: true });
    await snapshots.save('a', at(2), { n: 2 }, { onlyFirst: true });
    expect(await snapshots.of(['a'])).toEqual([{ n: 1 }]);
    expect(await snapshots.isUsed()).toBe(true);
  });

  test('it is gone when it is erased, and does not come back from before', async () => {
    const { snapshots } = stores('snapshots-erased');
    await snapshots.save('a', at(1), { n: 1 });
    await snapshots.erase('a', at(3));
    await snapshots.save('a', at(2), { n: 2 });
    await snapshots.save('a', at(2), { n: 2 }, { onlyFirst: true });
    expect(await snapshots.of(['a'])).toEqual([undefined]);
    await snapshots.save('a', at(4), { n: 4 });
    expect(await snapshots.of(['a'])).toEqual([{ n: 4 }]);
    await snapshots.erase('without one', at(3));
    expect(await redis.handle.client.exists(`${tagOf('snapshots-erased')}:snapshot:without one`)).toBe(0);
  });

  test('it lives as long as the record has a journey, and for a time where it has none', async () => {
    const { snapshots, journeys, claim, lifeOf } = stores('snapshots-life');
    await snapshots.save('a', at(1), { n: 1 });
    expect(await lifeOf('a')).toBeGreaterThan(0);
    const one = await claim('a', 'c1');
    expect(await lifeOf('a')).toBe(-1);
    await snapshots.save('a', at(2), { n: 2 });
    const two = await claim('a', 'c2');
    expect(await lifeOf('a')).toBe(-1);
    for (const { journey } of [one, two]) {
      expect(await snapshots.of(['a'])).toEqual([{ n: 2 }]);
      const skipped = await journeys.update(journey.id, (now) => ({
        journey: step(now, 'skipped', new Date(), { why: 'a test' }),
        trace: [],
      }));
      expect(await journeys.forget(skipped ?? journey)).toBe(true);
    }
    expect(await snapshots.of(['a'])).toEqual([undefined]);
    expect(await lifeOf('a')).toBe(-2);
  });
});
