import { z } from 'zod';

/* What the process under test hears and says. */

/** Inputs of one class to be tried in the process. */
export const Order = z.object({ name: z.string(), seed: z.number(), from: z.number(), count: z.number() });
export type Order = z.output<typeof Order>;

export const Report = z.union([
  z.object({ url: z.string() }),
  z.object({ fault: z.string() }),
  z.object({
    name: z.string(),
    counts: z.record(z.string(), z.number()),
    violations: z.array(
      z.object({ input: z.number(), kind: z.enum(['forgery', 'status', 'crash']), what: z.string() }),
    ),
    peakBytes: z.number(),
  }),
]);
export type Report = z.output<typeof Report>;
