import { z } from 'zod';
import { isSafeAddress } from '../address.ts';

/* Settings that connectors of several vendors take. */

/** The vendor's address for tests and stand-ins. */
export const standinOrigin = z
  .string()
  .refine(
    (text) => isSafeAddress(text, 'origin'),
    'https://host, or http://127.0.0.1:port on this machine, without a path',
  )
  .transform((text) => new URL(text).origin)
  .optional();

/**
 * For `refine`: of several kinds of credentials one is given, whole, and nothing of the others.
 * @param kinds the settings of each kind; a problem is reported at the first one of all
 */
export function oneKindOfCredentials(
  kinds: readonly (readonly string[])[],
  words: { none: string; mixed: string },
): Parameters<z.ZodType<object>['refine']> {
  const all = kinds.flat();
  const givenIn = (value: unknown): string[] => {
    const settings = new Map(Object.entries(value ?? {}));
    return all.filter((name) => settings.get(name) !== undefined);
  };
  return [
    (value) => kinds.some((kind) => kind.join() === givenIn(value).join()),
    {
      path: all.slice(0, 1),
      error: ({ input }) => (givenIn(input).length === 0 ? words.none : words.mixed),
      // Also when something else is wrong, so that all mistakes are reported at once.
      when: ({ value }) => typeof value === 'object' && value !== null,
    },
  ];
}
