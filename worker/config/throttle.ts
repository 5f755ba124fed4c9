import { z } from 'zod';
import { Period } from './period.ts';

/** A person gets no second request within the period. `30d` is short for `{ period: 30d }`. */
export const Throttle = z.union([
  Period.transform((period) => ({ period, otherwise: 'drop' as const, prefer: 'first' as const })),
  z.strictObject({
    period: Period.describe('From one request to the next'),
    otherwise: z
      .enum(['drop', 'defer'])
      .default('drop')
      .describe('`drop`: the closing is skipped; `defer`: it waits until the period is over, unless it gets too old'),
    prefer: z
      .enum(['first', 'latest'])
      .default('first')
      .describe(
        'Of several closings of a person that wait: `first` asks about the one that is due first; `latest` about the one that was closed last until then, when that is due',
      ),
  }),
]);
export interface Throttle {
  period: number;
  otherwise: 'drop' | 'defer';
  prefer: 'first' | 'latest';
}
