import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';
import type { FeedbackClient } from '../../core/feedback/client.ts';
import { cellsOf } from '../reports/cells.ts';
import { newestComments } from '../reports/comments.ts';
import { csv } from '../reports/csv.ts';
import { type GradesRow, gradesByCampaign, gradesOverTime } from '../reports/grades.ts';
import { gradesByField } from '../reports/grades-by-field.ts';
import { mostAsked } from '../reports/others.ts';
import { type Period, periodBefore, periodCalled, stepFor, stepsOf } from '../reports/period.ts';
import { namedPeriods } from '../reports/period-names.ts';
import { type Read, RecentReadings } from '../reports/recent-readings.ts';
import { storedCounts } from '../reports/stored-counts.ts';
import { daysIn } from '../support/shown-time.ts';
import type { DashboardOptions } from './options.ts';
import { show } from './pages.ts';
import { serviceThere, type There } from './service.ts';
import { gradesView, mostByField, noField } from './views/grades.ts';

const shownComments = 20;

const day = z.iso.date().optional().catch(undefined);
const number = z
  .string()
  .regex(/^-?\d{1,9}(\.\d{1,4})?$/)
  .transform(Number)
  .optional()
  .catch(undefined);
const Query = z.object({
  period: z.enum(namedPeriods).optional().catch(undefined),
  since: day,
  until: day,
  /** A custom field, or `noField`. Left out: the first there is. */
  by: z.string().trim().max(500).optional().catch(undefined),
  campaign: number,
  /** Of the comments. */
  grade: number,
});
type Query = z.output<typeof Query>;

type Options = Pick<DashboardOptions, 'engine' | 'config' | 'now'>;
type Rows = Read<readonly GradesRow[]>;

/** `/grades`: what customers say, as `closeloop report` tells it; `/grades.csv`: the same for a spreadsheet. */
export function showGrades(app: FastifyInstance, options: Options): void {
  const readings = readingsOf(options);

  app.get('/grades', async (request, reply) => {
    const query = Query.parse(request.query);
    const { timeZone } = options.config().feedback;
    const period = periodOf(query, daysIn(timeZone)(options.now()));
    const contexts = await options.engine().sources();
    const there = await serviceThere(options);
    const { campaign, grade } = query;
    const [figures, counts, comments] = await Promise.all([
      figuresOf(query, period, { readings, there }),
      storedCounts(contexts, period, { timeZone, now: options.now() }),
      newestComments(contexts, { ...period, timeZone, size: shownComments, campaign, grade }),
    ]);
    const body = gradesView({ ...figures, query, period, before: periodBefore(period), counts, comments, timeZone });
    return await show(reply, { title: 'Grades', section: '/grades', body });
  });

  app.get('/grades.csv', async (request, reply) => {
    const query = Query.parse(request.query);
    const { timeZone } = options.config().feedback;
    const period = periodOf(query, daysIn(timeZone)(options.now()));
    const there = await serviceThere(options);
    const byCampaign = await readings.byCampaign(there, period);
    const { by, byField } = await readings.byFieldOf(there, query, period, byCampaign, Number.POSITIVE_INFINITY);
    const { value, problem } = byField ?? byCampaign;
    if (value === undefined)
      throw new CloseloopError(`The figures could not be read: ${problem ?? 'no source is configured'}.`, {
        kind: 'transient',
      });
    const rows = value.filter(({ campaign }) => query.campaign === undefined || query.campaign === campaign);
    // Excel takes a file for UTF-8 only by this mark.
    const text = `\u{feff}${csv(cellsOf(rows, 'csv'))}`;
    reply.header('content-disposition', `attachment; filename="${fileNameOf(by, period)}"`);
    return await reply.type('text/csv; charset=utf-8').send(text);
  });
}

function periodOf({ period, since, until }: Query, today: string): Period {
  if (since === undefined && until === undefined) return periodCalled(period ?? '30-days', today);
  const last = until ?? today;
  const first = since ?? periodCalled('30-days', last).since;
  return first <= last ? { since: first, until: last } : { since: last, until: first };
}

interface ByField {
  /** The custom field that the figures are shown by. */
  by: string | undefined;
  byField: Rows | undefined;
  /** What they can be shown by. */
  fields: readonly string[];
  /** By field only of the campaigns most asked in. */
  isCut: boolean;
}

interface Figures extends ByField {
  /** Of all campaigns. */
  byCampaign: Rows;
  overTime: Rows;
}

async function figuresOf(
  query: Query,
  period: Period,
  { readings, there }: { readings: ReturnType<typeof readingsOf>; there: There },
): Promise<Figures> {
  const [byCampaign, overTime] = await Promise.all([
    readings.byCampaign(there, period),
    readings.overTime(there, period),
  ]);
  return { byCampaign, overTime, ...(await readings.byFieldOf(there, query, period, byCampaign, mostByField)) };
}

/** The service's statistics, read a minute ago at most unless the service is away. */
function readingsOf(options: Pick<Options, 'config'>) {
  const readings = new RecentReadings<readonly GradesRow[]>();
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
  const byFieldOf = async (there: There, query: Query, period: Period, all: Rows, most: number): Promise<ByField> => {
    const { feedback, marker } = options.config();
    const own = all.value?.filter(({ campaign }) => query.campaign === undefined || query.campaign === campaign) ?? [];
    // The journey's reference is another one for every request.
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

function fileNameOf(by: string | undefined, { since, until }: Period): string {
  const words = (by ?? '').toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const part = words.length === 0 ? '' : `-by-${words.join('-').slice(0, 40)}`;
  return `closeloop-grades${part}-${since}-to-${until}.csv`;
}
