import { z } from 'zod';
import { MaxAge } from './max-age.ts';
import { Never } from './never.ts';
import { TestContact } from './test-contact.ts';

/** The settings beside a source's rules that hold for all of its rules. */
export const SourcePolicy = z.strictObject({
  never: Never.optional(),
  maxAge: MaxAge.optional(),
  test: TestContact.optional().describe('Test mode for this source: every request of it goes to this contact'),
});
export type SourcePolicy = z.output<typeof SourcePolicy>;

export const sourcePolicyNames = Object.keys(SourcePolicy.shape);

/** Splits a source's section, without connector and rules, into the policy and the connector's settings. */
export function partsOf(section: Readonly<Record<string, unknown>>): {
  policy: Record<string, unknown>;
  settings: Record<string, unknown>;
} {
  const entries = Object.entries(section);
  const isPolicy = ([name]: [string, unknown]) => sourcePolicyNames.includes(name);
  return {
    policy: Object.fromEntries(entries.filter(isPolicy)),
    settings: Object.fromEntries(entries.filter((entry) => !isPolicy(entry))),
  };
}
