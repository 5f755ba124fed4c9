import { z } from 'zod';
import { contactFor } from '../../core/contact.ts';

/** The contact that is asked in place of every customer, one value for each kind of contact that a campaign may need. */
export const TestContact = z
  .strictObject({
    email: z
      .string()
      .refine((text) => contactFor([text], 'email').ok, 'must be an e-mail address')
      .optional()
      .describe('For campaigns that send e-mail'),
    phone: z
      .string()
      .refine((text) => contactFor([text], 'sms').ok, 'must be a mobile number with + and country code, in quotes')
      .optional()
      .describe('For campaigns that send text messages'),
    identifier: z.string().trim().min(1).optional().describe('For external campaigns; left out: the e-mail or phone'),
    field: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Custom field that says TEST on each test request, of type Text or Yes/No. Left out: "Test", where a campaign has it',
      ),
  })
  .refine(({ email, phone, identifier }) => [email, phone, identifier].some((one) => one !== undefined), {
    message: 'must name whom: email, phone or identifier',
  });
export type TestContact = z.output<typeof TestContact>;

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
interface TestPlace {
  /** The setting. */
  at: string;
  what: string;
}

/** The places of a configuration that switch on test mode, the widest place first. */
export function testPlaces({ written }: { written: unknown }): TestPlace[] {
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
export function testLines(config: { written: unknown }): string[] {
  return testPlaces(config).map(({ at, what }) => `TEST MODE for ${what} (${at}): ${testMeans}`);
}
