import pLimit from 'p-limit';
import type { FeedbackClient } from '../../core/feedback/client.ts';
import type { Campaign, CampaignStats, Metric } from '../../core/feedback/schemas.ts';
import { type Period, periodBefore } from './period.ts';

/** How many calls to the service a report has under way at once. */
const callsAtOnce = 4;

export interface GradeFigures {
  asked: number;
  /** Null where the service does not tell: the statistics of a custom field's value have none. */
  answered: number | null;
  /** Answered of asked, 0 to 1; null where either is not known, or nobody was asked. */
  rate: number | null;
  /** The average grade; null without a grade. */
  average: number | null;
  /** By the campaign's metric: CSAT in per cent, NPS from −100 to 100; null for other metrics, and without a grade. */
  index: number | null;
}

/** What the service says of the requests that were scheduled in a period, beside those of the period before. */
export interface GradesRow {
  campaign: number;
  name: string;
  metric: Metric;
  /** Ascending; empty where the campaign has no grade. */
  scale: readonly number[];
  /** With `--by`: the custom field, and the value that these requests have in it. */
  by?: { field: string; value: string };
  now: GradeFigures;
  before: GradeFigures;
  /** What changed of the campaign's own figure (index, or else average); null where either period has none. */
  change: number | null;
}

type Service = Pick<FeedbackClient, 'campaigns' | 'customFieldStatistics'>;

/** One row for each campaign that was asked in, in either period; by the service's own statistics. Two lists are read. */
export async function gradesByCampaign(
  service: Pick<Service, 'campaigns'>,
  period: Period,
  only?: { campaign?: number | undefined },
): Promise<GradesRow[]> {
  const [now, before] = await Promise.all(
    [period, periodBefore(period)].map(async ({ since, until }) => {
      const found = new Map<number, Campaign>();
      for await (const one of service.campaigns({ statsFrom: since, statsTo: until })) found.set(one.id, one);
      return found;
    }),
  );
  return [...(now?.values() ?? [])]
    .filter(({ id }) => only?.campaign === undefined || only.campaign === id)
    .map((campaign) => {
      const earlier = before?.get(campaign.id);
      const [figures, figuresBefore] = [figuresOf(campaign.stats), earlier ? figuresOf(earlier.stats) : nobody];
      return rowOf(campaign, figures, figuresBefore);
    })
    .filter((row) => row.now.asked > 0 || row.before.asked > 0);
}

/**
 * One row for each value of these custom fields, campaign by campaign, most asked first. Two calls a campaign; fields that the
 * campaign does not show in reports are not there.
 */
export async function gradesByField(
  service: Service,
  fields: readonly string[],
  period: Period,
  only?: { campaign?: number | undefined; changedSince?: string | undefined },
): Promise<GradesRow[]> {
  const campaigns: Campaign[] = [];
  for await (const one of service.campaigns()) {
    const hasOne = one.custom_fields.some(({ name }) => fields.includes(name));
    if (hasOne && (only?.campaign === undefined || only.campaign === one.id)) campaigns.push(one);
  }
  const limited = pLimit(callsAtOnce);
  const changedSince = only?.changedSince;
  const rows = await Promise.all(
    campaigns.map(async (campaign) => {
      const [now, before] = await Promise.all(
        [period, periodBefore(period)].map(({ since, until }) =>
          limited(() =>
            service.customFieldStatistics({ campaign: campaign.id, dateFrom: since, dateTo: until, changedSince }),
          ),
        ),
      );
      return fields.flatMap((field) => {
        const [values, earlier] = [valuesOf(now ?? [], field, campaign), valuesOf(before ?? [], field, campaign)];
        const names = [...new Set([...values.keys(), ...earlier.keys()])];
        const found = names.map((value) => {
          const [figures, figuresBefore] = [values.get(value) ?? nobody, earlier.get(value) ?? nobody];
          return {
            ...rowOf({ ...campaign, metric: 'avg' }, figures, figuresBefore),
            metric: campaign.metric,
            by: { field, value },
          };
        });
        return found.sort((a, b) => b.now.asked - a.now.asked || a.by.value.localeCompare(b.by.value));
      });
    }),
  );
  return rows.flat();
}

const nobody: GradeFigures = { asked: 0, answered: null, rate: null, average: null, index: null };

/** The figure that the campaign is measured by: what `change` is about. */
export function resultOf({ average, index }: GradeFigures, metric: Metric): number | null {
  if (metric === 'survey') return null;
  return metric === 'avg' ? average : index;
}

function rowOf(campaign: Campaign, now: GradeFigures, before: GradeFigures): GradesRow {
  const { id, name, metric, grade_list: scale } = campaign;
  const [is, was] = [resultOf(now, metric), resultOf(before, metric)];
  // The service's figures have two decimals.
  const change = is === null || was === null ? null : Math.round((is - was) * 100) / 100;
  return { campaign: id, name, metric, scale: scale.toSorted((a, b) => a - b), now, before, change };
}

function figuresOf(stats: CampaignStats): GradeFigures {
  const { appeals_total: asked, appeals_graded: answered, average_grade: average = null } = stats;
  const index = stats.csat_index ?? stats.nps_index ?? null;
  const rate = asked === 0 ? null : answered / asked;
  // Without a grade the service may say 0.
  return { asked, answered, rate, ...(answered === 0 ? { average: null, index: null } : { average, index }) };
}

type Statistics = Awaited<ReturnType<Service['customFieldStatistics']>>;

function valuesOf(statistics: Statistics, field: string, { grade_list: scale }: Campaign): Map<string, GradeFigures> {
  // How many of a value's requests were graded is not told: where none was, the average may be 0.
  const averageOf = (told: number | null) => (told === 0 && !scale.includes(0) ? null : told);
  const values = statistics.filter(({ name }) => name === field).flatMap((one) => one.values);
  return new Map(
    values.map(({ value, count, average_grade: average = null }) => [
      String(value ?? ''),
      { ...nobody, asked: count, average: averageOf(average) },
    ]),
  );
}
