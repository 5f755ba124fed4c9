import { z } from 'zod';
import { type Period, periodCalled } from '../reports/period.ts';
import { namedPeriods } from '../reports/period-names.ts';
import { daysIn } from '../support/shown-time.ts';
import type { DashboardOptions } from './pages.ts';

/** A number in an address; undefined for any other text. */
export const NumberQuery = z
  .string()
  .regex(/^-?\d{1,9}(\.\d{1,4})?$/)
  .transform(Number)
  .optional()
  .catch(undefined);

const day = z.iso.date().optional().catch(undefined);

/** The period of a page, in its address. */
export const PeriodQuery = z.object({
  period: z.enum(namedPeriods).optional().catch(undefined),
  since: day,
  until: day,
});

/** The period of a page. Default: the thirty days up to today. */
export function periodOf(
  { period, since, until }: z.output<typeof PeriodQuery>,
  { config, now }: Pick<DashboardOptions, 'config' | 'now'>,
): Period {
  const today = daysIn(config().feedback.timeZone)(now());
  if (since === undefined && until === undefined) return periodCalled(period ?? '30-days', today);
  const last = until ?? today;
  const first = since ?? periodCalled('30-days', last).since;
  return first <= last ? { since: first, until: last } : { since: last, until: first };
}
