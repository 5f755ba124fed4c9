import pLimit from 'p-limit';
import type { FeedbackClient } from '../../core/feedback/client.ts';
import type { Campaign } from '../../core/feedback/schemas.ts';
import { lookUp } from '../../core/look-up.ts';
import { daysIn } from '../support/shown-time.ts';
import { callsAtOnce, type GradeFigures, type GradesRow, nobody, rateOf, rowOf } from './grades.ts';
import { ascending, type GradeCount, type IndexRule, indexRuleOf } from './index-rule.ts';
import { type Period, periodBefore } from './period.ts';

type Service = Pick<FeedbackClient, 'campaigns' | 'customFieldStatistics' | 'requestPages'>;
type Statistics = Awaited<ReturnType<Service['customFieldStatistics']>>;

interface Narrowed {
  /** Left out: all campaigns that have one of the fields. */
  campaigns?: readonly number[] | undefined;
  /** Only requests whose grade changed on or after this day. */
  changedSince?: string | undefined;
  /** The account's. */
  timeZone: string;
}

/** How many feedback requests of a campaign are read at most for the index of each value: ten calls. */
export const mostRead = 10_000;

/** A day before the service had any grade: every grade has changed since. */
const ever = '2000-01-01';

/**
 * One row for each value of these custom fields, campaign by campaign, most asked first. Four calls a campaign, and where its metric is
 * CSAT or NPS up to ten more; fields that the campaign does not show in reports are not there.
 */
export async function gradesByField(
  service: Service,
  fields: readonly string[],
  period: Period,
  narrowed: Narrowed,
): Promise<GradesRow[]> {
  const { campaigns: wanted } = narrowed;
  const asked: Campaign[] = [];
  // The period and the one before, as one.
  for await (const one of service.campaigns({ statsFrom: periodBefore(period).since, statsTo: period.until })) {
    const hasOne = one.custom_fields.some(({ name }) => fields.includes(name));
    if (hasOne && one.stats.appeals_total > 0 && (wanted?.includes(one.id) ?? true)) asked.push(one);
  }
  const limited = pLimit(callsAtOnce);
  const rows = await Promise.all(asked.map((one) => rowsOf(one, { service, fields, period, narrowed, limited })));
  return rows.flat();
}

interface Reading {
  service: Service;
  fields: readonly string[];
  period: Period;
  narrowed: Narrowed;
  limited: ReturnType<typeof pLimit>;
}

async function rowsOf(campaign: Campaign, reading: Reading): Promise<GradesRow[]> {
  const { service, fields, period, narrowed, limited } = reading;
  const { changedSince, timeZone } = narrowed;
  const periods = [period, periodBefore(period)];
  const statisticsOf = async ({ since, until }: Period, changed: string | undefined) =>
    await limited(() =>
      service.customFieldStatistics({ campaign: campaign.id, dateFrom: since, dateTo: until, changedSince: changed }),
    );
  const rule = changedSince === undefined ? indexRuleOf(campaign) : undefined;
  const wanted = { campaign: campaign.id, fields, periods, timeZone, most: mostRead };
  const [asked, graded, grades] = await Promise.all([
    Promise.all(periods.map((one) => statisticsOf(one, changedSince))),
    changedSince === undefined ? Promise.all(periods.map((one) => statisticsOf(one, ever))) : [],
    rule && limited(() => valueGrades(service, wanted)),
  ]);
  const valuesOf = (i: number, field: string) =>
    figuresByValue({ asked: asked[i] ?? [], graded: graded[i], field, campaign }, index(rule, grades, i));
  const measure = campaign.metric === 'survey' ? null : rule && grades ? campaign.metric : 'avg';
  return fields.flatMap((field) => {
    const [now, before] = [valuesOf(0, field), valuesOf(1, field)];
    const values = [...new Set([...now.keys(), ...before.keys()])];
    const found = values.map((value) => ({
      ...rowOf(campaign, measure, now.get(value) ?? nobody, before.get(value) ?? nobody),
      by: { field, value },
    }));
    return found.sort((a, b) => b.now.asked - a.now.asked || a.by.value.localeCompare(b.by.value));
  });
}

type Index = (field: string, value: string) => Pick<GradeFigures, 'index' | 'grades'>;

/** The index of a value's grades in one period; null if its rule or its grades are not known. */
function index(rule: IndexRule | undefined, grades: ValueGrades | undefined, period: number): Index {
  return (field, value) => {
    const given = grades?.(period, field, value) ?? null;
    return { grades: given, index: given && rule ? rule.of(given) : null };
  };
}

interface Asked {
  asked: Statistics;
  /** The requests whose grade ever changed, and that have a grade now. */
  graded: Statistics | undefined;
  field: string;
  campaign: Campaign;
}

function figuresByValue({ asked, graded, field, campaign }: Asked, indexOf: Index): Map<string, GradeFigures> {
  const answers = graded && valuesIn(graded, field);
  const entries = [...valuesIn(asked, field)].map(([value, { count, average_grade = null }]) => {
    const answer = answers?.get(value);
    // The average may be 0 if nobody has answered.
    const mayBeZero = answers ? answer !== undefined : campaign.grade_list.includes(0);
    const average = average_grade === 0 && !mayBeZero ? null : average_grade;
    // The same requests have the same average. If the averages differ, these are not all requests that have a grade.
    const isWhole = answers !== undefined && average === (answer?.average_grade ?? null);
    const answered = isWhole ? (answer?.count ?? 0) : null;
    const rate = rateOf(count, answered);
    const figures: GradeFigures = { asked: count, answered, rate, average, ...indexOf(field, value) };
    return [value, figures] as const;
  });
  return new Map(entries);
}

function valuesIn(statistics: Statistics, field: string) {
  const values = statistics.filter(({ name }) => name === field).flatMap((one) => one.values);
  return new Map(values.map((one) => [String(one.value ?? ''), one]));
}

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
