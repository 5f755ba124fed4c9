import { z } from 'zod';
import type { FeedbackClient } from '../../core/feedback/client.ts';
import { type GradesRow, gradesByCampaign, gradesOverTime, mostAsked } from '../reports/grades.ts';
import { gradesByField } from '../reports/grades-by-field.ts';
import { type Period, periodCalled, stepFor, stepsOf } from '../reports/period.ts';
import { namedPeriods } from '../reports/period-names.ts';
import { daysIn } from '../support/shown-time.ts';
import type { DashboardOptions } from './pages.ts';
import { type Read, RecentReadings } from './recent-readings.ts';

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

/** The first source, whose client calls the Feedback service; or the known reason why the service can't be called now. */
export type There =
  | { first: { feedback: FeedbackClient }; problem?: undefined }
  | { first?: undefined; problem: string };

export async function serviceThere({ engine }: Pick<DashboardOptions, 'engine'>): Promise<There> {
  const { pipelines, service } = engine();
  const [first] = pipelines.values();
  if (first === undefined) return { problem: 'no source is configured' };
  const down = await service.down({ now: true });
  return down ? { problem: down.why } : { first: first.context };
}

/** Stands for no field: the figures are not grouped. */
export const noField = '-';

export type Rows = Read<readonly GradesRow[]>;
export type Readings = ReturnType<typeof createReadings>;

export interface ByField {
  /** The custom field by whose values the figures are grouped. */
  by: string | undefined;
  byField: Rows | undefined;
  /** The custom fields by which the figures can be grouped. */
  fields: readonly string[];
  /** Whether the figures by field cover only the campaigns with the most requests. */
  isCut: boolean;
}

/** The service's statistics, at most a minute old unless the service is unreachable. */
export function createReadings(options: Pick<DashboardOptions, 'config' | 'now'>) {
  const readings = new RecentReadings<readonly GradesRow[]>({ now: options.now });
  const read = async (
    { first, problem }: There,
    question: string,
    { since, until }: Period,
    ask: (service: FeedbackClient) => Promise<GradesRow[]>,
  ): Promise<Rows> =>
    await readings.get(`${since} ${until} ${question}`, async () => (first ? await ask(first.feedback) : []), problem);
  const byCampaign = (there: There, period: Period) =>
    read(there, 'by campaign', period, (service) => gradesByCampaign(service, period));
  const overTime = async (there: There, period: Period): Promise<Rows> => {
    const step = stepFor(period);
    if (step === undefined) return {};
    return await read(there, `by ${step}`, period, (service) => gradesOverTime(service, stepsOf(period, step)));
  };
  /** @param most the most campaigns, as each needs several calls */
  const byFieldOf = async (
    there: There,
    query: { by?: string | undefined; campaign?: number | undefined },
    period: Period,
    all: Rows,
    most: number,
  ): Promise<ByField> => {
    const { feedback, marker } = options.config();
    const own = all.value?.filter(({ campaign }) => query.campaign === undefined || query.campaign === campaign) ?? [];
    // This field holds the journey's reference, which is different for each request: grouping by it would give a row for each request.
    const fields = [...new Set(own.flatMap((row) => row.fields))].filter((name) => name !== marker);
    const by = query.by === noField ? undefined : query.by || fields[0];
    if (by === undefined || all.value === undefined) return { by, byField: undefined, fields, isCut: false };
    const having = own.filter((row) => row.fields.includes(by));
    const campaigns = mostAsked(having, most).rows.map((row) => row.campaign);
    // If the first reading has timed out, the page does not wait for the second reading too.
    const stillThere = all.problem === undefined ? there : { problem: all.problem };
    const byField = await read(stillThere, JSON.stringify(['by', by, ...campaigns]), period, (service) =>
      gradesByField(service, [by], period, { campaigns, timeZone: feedback.timeZone }),
    );
    return { by, byField, fields, isCut: having.length > most };
  };
  return { byCampaign, overTime, byFieldOf };
}
