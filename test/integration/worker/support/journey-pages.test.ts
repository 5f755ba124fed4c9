import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { Journey } from '../../../../worker/journey/journey.ts';
import { JourneyStore } from '../../../../worker/journey/store.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { journeyPage, type Place } from '../../../../worker/support/journey-pages.ts';
import { testSeal } from '../../../support/seal.ts';
import { claimOf, freshSource, useStores } from '../../../support/worker/journey/stores.ts';

const { redis } = useStores();
const each = 450;
const all: { at: number; ref: string; n: number }[] = [];
let sources: { name: string; storedAs: string; store: JourneyStore; timeZone: string; defaultCountry: undefined }[];
/** Journeys that were asked for since it was set to 0. */
let read = 0;

beforeAll(async () => {
  const client = new Proxy(redis.handle.client, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (name === 'mgetBuffer') read += args.flat().length;
        return value.apply(target, args);
      };
    },
  });
  sources = Array.from({ length: 2 }, () => {
    const name = freshSource();
    const store = new JourneyStore(client, name, { now: () => new Date(), seal: testSeal });
    return { name, storedAs: name, store, timeZone: 'Europe/Tallinn', defaultCountry: undefined };
  });
  for (const { name, store } of sources)
    for (let n = 0; n < each; n++) {
      // Many of one instant.
      const at = new Date(Date.UTC(2026, 4, 4) + Math.floor(n / 7));
      const { journey } = await store.getOrCreate(claimOf(`r${n}`, 'c', `e${n}`), []);
      await store.update(journey, (one) => ({ journey: step(one, n % 3 === 0 ? 'failed' : 'skipped', at), trace: [] }));
      all.push({ at: at.getTime(), ref: `${name}/${journey.id}`, n });
    }
  all.sort((a, b) => b.at - a.at || (a.ref < b.ref ? 1 : -1));
});

test('pages have every journey that fits once, in order, and no page reads more than it may look at', async () => {
  const reading = fc.record({
    every: fc.constantFrom(1, 2, 10, 100, 1_000),
    size: fc.integer({ min: 1, max: 120 }),
    most: fc.integer({ min: 30, max: 1_000 }),
  });
  const property = fc.asyncProperty(reading, async ({ every, size, most }) => {
    const fits = ({ recordId }: Journey): boolean => Number(recordId.slice(1)) % every === 0;
    const found: string[] = [];
    let after: Place | undefined;
    do {
      read = 0;
      const page = await journeyPage(sources, { lists: ['failed', 'skipped'], fits, size, most, after });
      expect(page.found.length).toBeLessThanOrEqual(size);
      // One more says whether there is a next page.
      expect(read).toBeLessThanOrEqual(Math.max(size, most) + 1);
      found.push(...page.found.map(({ journey, context }) => `${context.name}/${journey.id}`));
      after = page.next;
    } while (after);
    expect(found).toEqual(all.filter(({ n }) => n % every === 0).map(({ ref }) => ref));
  });
  await fc.assert(property, { numRuns: 30 });
});
