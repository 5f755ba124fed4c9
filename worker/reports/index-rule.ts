import type { Campaign } from '../../core/feedback/schemas.ts';

/** How many feedback requests have this grade. */
export interface GradeCount {
  grade: number;
  count: number;
}

/** The rule by which a campaign's index is calculated from grades. */
export interface IndexRule {
  /** The rule in words, for people. */
  inWords: string;
  /** Null without a grade. */
  of(grades: readonly GradeCount[]): number | null;
}

type Measured = Pick<Campaign, 'metric' | 'grade_list' | 'stats'>;

/**
 * The rule by which the service makes the index of this campaign. The specification names the indices without their formulas, so a
 * usual formula is taken only where it gives the service's own index of the campaign's own grades: of CSAT the share of the best grades,
 * as many of them as fit; of NPS, on a scale from 0 to 10 only, those who gave 9 or 10 less those who gave 6 or less. Undefined: the
 * metric has no index, nobody has graded yet, or no formula fits.
 */
export function indexRuleOf({ metric, grade_list, stats }: Measured): IndexRule | undefined {
  const scale = grade_list.toSorted((a, b) => a - b);
  const grades = gradesIn(stats.grade_counts);
  const own = (metric === 'csat' ? stats.csat_index : metric === 'nps' ? stats.nps_index : null) ?? null;
  if (own === null || totalOf(grades) === 0) return undefined;
  const off = (rule: IndexRule): number => Math.abs((rule.of(grades) ?? Number.POSITIVE_INFINITY) - own);
  const fitting = (metric === 'csat' ? csatOn(scale) : npsOn(scale)).filter((rule) => off(rule) <= roundingOf(own));
  return fitting.reduce<IndexRule | undefined>(
    (best, rule) => (best && off(best) <= off(rule) ? best : rule),
    undefined,
  );
}

/** The possible rules of CSAT, the usual rule first: 4 and 5 of five grades are good. */
function csatOn(scale: readonly number[]): IndexRule[] {
  const usual = scale.length - Math.max(1, Math.round(scale.length * 0.4));
  const from = scale.toSorted((a, b) => Number(b === scale[usual]) - Number(a === scale[usual]) || b - a);
  return from.map((least) => csatFrom(least, scale.at(-1) ?? least));
}

function csatFrom(least: number, best: number): IndexRule {
  const which = least === best ? `a ${best}` : `${least} to ${best}`;
  return {
    inWords: `the share of answers with ${which}`,
    of: (grades) => meanOf(grades, (grade) => (grade >= least ? 100 : 0)),
  };
}

function npsOn(scale: readonly number[]): IndexRule[] {
  const isZeroToTen = scale.length === 11 && scale.every((grade, i) => grade === i);
  if (!isZeroToTen) return [];
  const points = (grade: number): number => (grade >= 9 ? 100 : grade <= 6 ? -100 : 0);
  return [
    {
      inWords: 'the share of answers with 9 or 10, less the share with 0 to 6',
      of: (grades) => meanOf(grades, points),
    },
  ];
}

/** The grades in ascending order, without keys that are no numbers. */
export function gradesIn(counts: Readonly<Record<string, number>>): GradeCount[] {
  return ascending(Object.entries(counts).map(([grade, count]) => [Number(grade), count] as const)).filter(
    ({ grade }) => Number.isFinite(grade),
  );
}

export function ascending(counts: Iterable<readonly [grade: number, count: number]>): GradeCount[] {
  return [...counts].map(([grade, count]) => ({ grade, count })).sort((a, b) => a.grade - b.grade);
}

export function totalOf(grades: readonly GradeCount[]): number {
  return grades.reduce((sum, { count }) => sum + count, 0);
}

/** Rounds to two decimals, as the service does. */
export function twoDecimals(figure: number): number {
  return Math.round(figure * 100) / 100;
}

/** The mean in two decimals; null without grades. */
export function meanOf(grades: readonly GradeCount[], points: (grade: number) => number): number | null {
  const total = totalOf(grades);
  if (total === 0) return null;
  const sum = grades.reduce((all, { grade, count }) => all + points(grade) * count, 0);
  return twoDecimals(sum / total);
}

/** By how much a rounded figure may differ: the service may round to fewer decimals than closeloop. */
function roundingOf(figure: number): number {
  const decimals = String(figure).split('.')[1]?.length ?? 0;
  return 0.5 * 10 ** -Math.min(2, decimals) + 1e-9;
}
