import { z } from 'zod';
import { Period } from './period.ts';

/** No second request to a person within the period. `30d` is short for `{ period: 30d }`. */
export const Throttle = z.union([
  Period.transform((period) => ({ period, otherwise: 'drop' as const })),
  z.strictObject({
    period: Period.describe('From one request to the next'),
    otherwise: z
      .enum(['drop', 'defer'])
      .default('drop')
      .describe('`drop`: the closing is skipped; `defer`: it waits until the period is over, unless it gets too old'),
  }),
]);
export interface Throttle {
  period: number;
  otherwise: 'drop' | 'defer';
}
