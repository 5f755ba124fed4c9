import pLimit from 'p-limit';
import type { FeedbackClient } from '../../core/feedback/client.ts';
import type { Campaign, CampaignStats, Metric } from '../../core/feedback/schemas.ts';
import { ascending, type GradeCount, gradesIn, twoDecimals } from './index-rule.ts';
import { type Period, periodBefore } from './period.ts';

/** How many calls to the service a report has under way at once. */
export const callsAtOnce = 4;

export interface GradeFigures {
  asked: number;
  /** Null where that is not known. */
  answered: number | null;
  /** Answered of asked, 0 to 1; null where either is not known, or nobody was asked. */
  rate: number | null;
  /** The average grade; null without a grade. */
  average: number | null;
  /** By the campaign's metric: CSAT in per cent, NPS from −100 to 100; null for other metrics, and without a grade. */
  index: number | null;
  /** How often each grade was given; null where that is not known. */
  grades: readonly GradeCount[] | null;
}

/** The figure by which requests are measured; null: they have no grade. */
export type Measure = Exclude<Metric, 'survey'> | null;

/** The service's figures for the requests of a period (by their scheduled time), and for those of the period before. */
export interface GradesRow {
  campaign: number;
  name: string;
  channel: Campaign['type'];
  metric: Metric;
  /** The figure that `change` is about. */
  measure: Measure;
  /** Ascending; empty where the campaign has no grade. */
  scale: readonly number[];
  /** Its custom fields. */
  fields: readonly string[];
  /** In a chart: the step of the period; `before` is the step before it. */
  step?: Period;
  /** With `--by`: the custom field, and the value that these requests have in it. */
  by?: { field: string; value: string };
  now: GradeFigures;
  before: GradeFigures;
  /** Null where either period has no such figure. */
  change: number | null;
}

type Campaigns = Pick<FeedbackClient, 'campaigns'>;

interface Only {
  campaign?: number | undefined;
}

/** A row for each campaign that asked somebody in one of the two periods, by the service's own statistics. Two lists are read. */
export async function gradesByCampaign(service: Campaigns, period: Period, only?: Only): Promise<GradesRow[]> {
  const [now, before] = await Promise.all([period, periodBefore(period)].map((one) => campaignsIn(service, one)));
  return rowsOf(now, before, only).filter(hasRequests);
}

/** The grades of each step beside those of the step before. The steps follow each other. One list is read for each step, and one more. */
export async function gradesOverTime(service: Campaigns, steps: readonly Period[], only?: Only): Promise<GradesRow[]> {
  const [first] = steps;
  if (first === undefined) return [];
  const limited = pLimit(callsAtOnce);
  const lists = await Promise.all(
    [periodBefore(first), ...steps].map((one) => limited(() => campaignsIn(service, one))),
  );
  const rows = steps.flatMap((step, i) => rowsOf(lists[i + 1], lists[i], only).map((row) => ({ ...row, step })));
  const asked = new Set(rows.filter(hasRequests).map(({ campaign }) => campaign));
  return rows.filter(({ campaign }) => asked.has(campaign));
}

async function campaignsIn(service: Campaigns, { since, until }: Period): Promise<Map<number, Campaign>> {
  const found = new Map<number, Campaign>();
  for await (const one of service.campaigns({ statsFrom: since, statsTo: until })) found.set(one.id, one);
  return found;
}

function rowsOf(
  now: ReadonlyMap<number, Campaign> = new Map(),
  before: ReadonlyMap<number, Campaign> = new Map(),
  only?: Only,
): GradesRow[] {
  return [...now.values()]
    .filter(({ id }) => only?.campaign === undefined || only.campaign === id)
    .map((campaign) => {
      const earlier = before.get(campaign.id);
      const measure = campaign.metric === 'survey' ? null : campaign.metric;
      return rowOf(campaign, measure, figuresOf(campaign.stats), earlier ? figuresOf(earlier.stats) : nobody);
    });
}

function hasRequests({ now, before }: GradesRow): boolean {
  return now.asked > 0 || before.asked > 0;
}

export const nobody: GradeFigures = { asked: 0, answered: null, rate: null, average: null, index: null, grades: null };

/** Fewer answers say little, about a store or an agent as about a week. Where the service tells no number, nothing is said of it. */
export const fewAnswers = 10;
export const isFew = ({ answered }: Pick<GradeFigures, 'answered'>): boolean =>
  answered !== null && answered < fewAnswers;

export function resultOf({ average, index }: GradeFigures, measure: Measure): number | null {
  if (measure === null) return null;
  return measure === 'avg' ? average : index;
}

export function rowOf(
  campaign: Pick<Campaign, 'id' | 'name' | 'type' | 'metric' | 'grade_list' | 'custom_fields'>,
  measure: Measure,
  now: GradeFigures,
  before: GradeFigures,
): GradesRow {
  const { id, name, type: channel, metric } = campaign;
  const scale = campaign.grade_list.toSorted((a, b) => a - b);
  const fields = campaign.custom_fields.map((one) => one.name);
  const change = changeOf(resultOf(now, measure), resultOf(before, measure));
  return { campaign: id, name, channel, metric, measure, scale, fields, now, before, change };
}

export function changeOf(is: number | null, was: number | null): number | null {
  return is === null || was === null ? null : twoDecimals(is - was);
}

/** The response rate. */
export function rateOf(asked: number, answered: number | null): number | null {
  return asked === 0 || answered === null ? null : answered / asked;
}

function figuresOf(stats: CampaignStats): GradeFigures {
  const { appeals_total: asked, appeals_graded: answered, average_grade: average = null } = stats;
  const index = stats.csat_index ?? stats.nps_index ?? null;
  const known = { asked, answered, rate: rateOf(asked, answered), grades: gradesIn(stats.grade_counts) };
  // Without a grade the service may say 0.
  return answered === 0 ? { ...known, average: null, index: null } : { ...known, average, index };
}

/** Grades as NPS counts them: of eleven grades, the lower seven are no praise. */
export function toneOf(grade: number, maxGrade: number | undefined): 'bad' | 'wait' | 'good' | '' {
  if (maxGrade === undefined || maxGrade <= 1) return '';
  const share = grade / maxGrade;
  if (share >= (maxGrade >= 10 ? 0.9 : 0.8)) return 'good';
  return share <= (maxGrade >= 10 ? 0.6 : 0.4) ? 'bad' : 'wait';
}

/** The rows with the most requests, and the rest as one: a campaign may have two hundred stores. */
export function mostAsked(
  rows: readonly GradesRow[],
  most: number,
): { rows: GradesRow[]; others?: GradesRow; count: number } {
  const sorted = rows.toSorted((a, b) => b.now.asked - a.now.asked || b.before.asked - a.before.asked);
  const [shown, rest] = [sorted.slice(0, most), sorted.slice(most)];
  const others = together(rest);
  return { rows: shown, ...(others && { others }), count: rest.length };
}

/** Joins rows to one row. It weights their averages and indices by their answers, so every row has to know its answers. */
export function together(rows: readonly GradesRow[]): GradesRow | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const [now, before] = [sumOf(rows.map((row) => row.now)), sumOf(rows.map((row) => row.before))];
  const change = changeOf(resultOf(now, first.measure), resultOf(before, first.measure));
  const { by: _, ...campaign } = first;
  return { ...campaign, now, before, change };
}

function sumOf(parts: readonly GradeFigures[]): GradeFigures {
  const asked = parts.reduce((sum, one) => sum + one.asked, 0);
  const some = parts.filter((one) => one.asked > 0);
  const answered = some.reduce<number | null>(
    (sum, one) => (sum === null || one.answered === null ? null : sum + one.answered),
    0,
  );
  const weighted = (figureOf: (one: GradeFigures) => number | null): number | null => {
    if (answered === null || answered === 0) return null;
    const sum = some.reduce<number | null>((all, one) => {
      const figure = one.answered === 0 ? 0 : figureOf(one);
      return all === null || figure === null ? null : all + figure * (one.answered ?? 0);
    }, 0);
    return sum === null ? null : twoDecimals(sum / answered);
  };
  return {
    asked,
    answered,
    rate: rateOf(asked, answered),
    average: weighted(({ average }) => average),
    index: weighted(({ index }) => index),
    grades: gradesOf(some),
  };
}

function gradesOf(parts: readonly GradeFigures[]): GradeCount[] | null {
  const counts = new Map<number, number>();
  for (const { grades } of parts) {
    if (grades === null) return null;
    for (const { grade, count } of grades) counts.set(grade, (counts.get(grade) ?? 0) + count);
  }
  return ascending(counts);
}
