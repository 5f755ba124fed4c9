import { z } from 'zod';
import type { Config } from './config.ts';

/** Reads only test mode from a file that may be wrong everywhere else. The test contact is not read. */
const Place = z.looseObject({ test: z.unknown().optional() }).catch({ test: undefined });
const Source = z
  .looseObject({
    test: z.unknown().optional(),
    rules: z.array(Place.and(z.looseObject({ name: z.unknown() }))).catch([]),
  })
  .catch({ test: undefined, rules: [] });
const Written = z.looseObject({
  policy: Place.optional(),
  sources: z.record(z.string(), Source).catch({}),
});

/** A place where test mode is on. */
export interface TestPlace {
  /** The setting. */
  at: string;
  what: string;
}

/** The places of a configuration that switch on test mode, the widest place first. */
export function testPlaces({ written }: Pick<Config, 'written'>): TestPlace[] {
  const { policy, sources } = Written.catch({ sources: {} }).parse(written);
  const place = (test: unknown, at: string, what: string): TestPlace[] =>
    test === undefined || test === null ? [] : [{ at, what }];
  return [
    ...place(policy?.test, 'policy.test', 'everything'),
    ...Object.entries(sources).flatMap(([name, { test, rules }]) => [
      ...place(test, `sources.${name}.test`, `source ${name}`),
      ...rules.flatMap((rule, i) =>
        place(rule.test, `sources.${name}.rules[${i}].test`, `rule "${rule.name}" of source ${name}`),
      ),
    ]),
  ];
}

export const testMeans =
  'requests go to the test contact and to no customer, and their answers are written nowhere but in the journey';

/** For people. */
export function testLines(config: Pick<Config, 'written'>): string[] {
  return testPlaces(config).map(({ at, what }) => `TEST MODE for ${what} (${at}): ${testMeans}`);
}
