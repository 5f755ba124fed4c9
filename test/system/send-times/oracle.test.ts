import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  allZones,
  bothOf,
  type Case,
  casesAround,
  changes,
  changesOnQuarters,
} from '../../support/core/schedule-oracle.ts';

/** ORACLE=all: around every change, for half an hour. */
const every = process.env.ORACLE === 'all';

test('send times agree with the oracle around clock changes of every zone in ten years', () => {
  const seen = { zones: allZones.length, changes: 0, cases: 0, never: 0, differences: 0 };
  const compare = (one: Case) => {
    const { core, oracle } = bothOf(one);
    seen.cases++;
    if (oracle === undefined) seen.never++;
    if (core !== oracle) seen.differences++;
    expect(core).toBe(oracle);
  };
  for (const zone of allZones) {
    expect(changesOnQuarters(zone)).toBe(true);
    const place = fc.constantFrom(...changes(zone)).map((around) => ({ zone, around }));
    fc.assert(fc.property(casesAround(place, 15), compare), { numRuns: 8 });
    for (const around of changes(zone).filter((_, i) => every || i % 10 === 0)) {
      seen.changes++;
      fc.assert(fc.property(casesAround(fc.constant({ zone, around })), compare), {
        numRuns: every ? 2 : 1,
        seed: around % 2 ** 31,
      });
    }
  }
  process.stdout.write(`${JSON.stringify(seen)}\n`);
  expect(seen).toMatchObject({ differences: 0 });
  expect(seen.cases).toBeGreaterThan(400 + 8 * 100);
});
