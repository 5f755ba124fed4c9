import type { FeedbackClient } from '../../core/feedback/client.ts';
import { type GradesRow, gradesByCampaign, gradesOverTime } from '../reports/grades.ts';
import { gradesByField } from '../reports/grades-by-field.ts';
import { mostAsked } from '../reports/others.ts';
import { type Period, stepFor, stepsOf } from '../reports/period.ts';
import { type Read, RecentReadings } from '../reports/recent-readings.ts';
import type { DashboardOptions } from './options.ts';
import type { There } from './service.ts';
import { noField } from './views/grades.ts';

export type Rows = Read<readonly GradesRow[]>;
export type Readings = ReturnType<typeof createReadings>;

export interface ByField {
  /** The custom field that the figures are shown by. */
  by: string | undefined;
  byField: Rows | undefined;
  /** What they can be shown by. */
  fields: readonly string[];
  /** By field only of the campaigns most asked in. */
  isCut: boolean;
}

/** The service's statistics, read a minute ago at most unless the service is away. */
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
  /** @param most campaigns: each takes several calls */
  const byFieldOf = async (
    there: There,
    query: { by?: string | undefined; campaign?: number | undefined },
    period: Period,
    all: Rows,
    most: number,
  ): Promise<ByField> => {
    const { feedback, marker } = options.config();
    const own = all.value?.filter(({ campaign }) => query.campaign === undefined || query.campaign === campaign) ?? [];
    // Each request has its own journey's reference in this field: grades by it would be a row for each request.
    const fields = [...new Set(own.flatMap((row) => row.fields))].filter((name) => name !== marker);
    const by = query.by === noField ? undefined : query.by || fields[0];
    if (by === undefined || all.value === undefined) return { by, byField: undefined, fields, isCut: false };
    const having = own.filter((row) => row.fields.includes(by));
    const campaigns = mostAsked(having, most).rows.map((row) => row.campaign);
    // Who has waited for the one in vain does not wait for the other as well.
    const stillThere = all.problem === undefined ? there : { problem: all.problem };
    const byField = await read(stillThere, JSON.stringify(['by', by, ...campaigns]), period, (service) =>
      gradesByField(service, [by], period, { campaigns, timeZone: feedback.timeZone }),
    );
    return { by, byField, fields, isCut: having.length > most };
  };
  return { byCampaign, overTime, byFieldOf };
}
