import type { FeedbackClient } from '../../core/feedback/client.ts';
import { lookUp } from '../../core/look-up.ts';
import { daysIn } from '../support/shown-time.ts';
import { ascending, type GradeCount } from './index-rule.ts';
import type { Period } from './period.ts';

interface Wanted {
  campaign: number;
  fields: readonly string[];
  periods: readonly Period[];
  /** The account's. */
  timeZone: string;
  /** Requests that are read at most. */
  most: number;
}

/** The grades of a period's requests that have this value in this field. The period is given by its position among the wanted periods. */
export type ValueGrades = (period: number, field: string, value: string) => GradeCount[];

/**
 * How often each grade was given, by value of custom fields: the service's statistics have averages only. Read from the list of
 * feedback requests. Undefined: there are more of them than may be read, or some can not be read.
 */
export async function valueGrades(
  service: Pick<FeedbackClient, 'requestPages'>,
  { campaign, fields, periods, timeZone, most }: Wanted,
): Promise<ValueGrades | undefined> {
  const dayOf = daysIn(timeZone);
  const counts = new Map<string, Map<number, number>>();
  const days = periods.flatMap(({ since, until }) => [since, until]).sort();
  for await (const page of service.requestPages({ campaign, dateFrom: days[0], dateTo: days.at(-1) })) {
    if (page.count > most || page.unreadable.length > 0) return undefined;
    for (const { scheduled, grade, customFields } of page.results) {
      if (grade === null || scheduled === null) continue;
      const day = dayOf(scheduled);
      const period = periods.findIndex(({ since, until }) => day >= since && day <= until);
      for (const field of period < 0 ? [] : fields) {
        const key = keyOf(period, field, String(lookUp(customFields, field) ?? ''));
        const grades = counts.get(key) ?? new Map<number, number>();
        counts.set(key, grades.set(grade, (grades.get(grade) ?? 0) + 1));
      }
    }
  }
  return (period, field, value) => ascending(counts.get(keyOf(period, field, value)) ?? []);
}

function keyOf(period: number, field: string, value: string): string {
  return JSON.stringify([period, field, value]);
}
