import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';
import { cellsOf, csv } from '../reports/cells.ts';
import { type Period, periodBefore } from '../reports/period.ts';
import { byChannel, storedCounts } from '../reports/stored-counts.ts';
import type { DashboardOptions } from './options.ts';
import { show } from './pages.ts';
import { NumberQuery, PeriodQuery, periodOf } from './period-query.ts';
import type { ByField, Readings, Rows } from './readings.ts';
import { serviceThere, type There } from './service.ts';
import { gradesView, mostByField } from './views/grades.ts';

const Query = PeriodQuery.extend({
  /** A custom field, or `noField`. Left out: the first custom field. */
  by: z.string().trim().max(500).optional().catch(undefined),
  campaign: NumberQuery,
});
type Query = z.output<typeof Query>;

type Options = Pick<DashboardOptions, 'engine' | 'config' | 'now'>;

/** `/grades` shows the figures of `closeloop report`; `/grades.csv` gives the same figures for a spreadsheet. */
export function showGrades(app: FastifyInstance, options: Options, readings: Readings): void {
  app.get('/grades', async (request, reply) => {
    const query = Query.parse(request.query);
    const { timeZone } = options.config().feedback;
    const period = periodOf(query, options);
    const contexts = await options.engine().sources();
    const there = await serviceThere(options);
    const [figures, { byCampaign: counts, byHour: hours, hours: responses }] = await Promise.all([
      figuresOf(query, period, { readings, there }),
      storedCounts(contexts, period, { timeZone, now: options.now(), campaign: query.campaign }),
    ]);
    const known = new Map(figures.byCampaign.value?.map(({ campaign, channel }) => [campaign, channel]));
    const body = gradesView({
      ...{ ...figures, query, period, before: periodBefore(period), counts, hours, timeZone },
      // While the service is unreachable, the channels of its campaigns are unknown.
      channels: known.size === 0 ? [] : byChannel(responses, known),
    });
    return await show(reply, { title: 'Grades', section: '/grades', body });
  });

  app.get('/grades.csv', async (request, reply) => {
    const query = Query.parse(request.query);
    const period = periodOf(query, options);
    const there = await serviceThere(options);
    const byCampaign = await readings.byCampaign(there, period);
    const { by, byField } = await readings.byFieldOf(there, query, period, byCampaign, Number.POSITIVE_INFINITY);
    const { value, problem } = byField ?? byCampaign;
    if (value === undefined)
      throw new CloseloopError(`The figures could not be read: ${problem ?? 'no source is configured'}.`, {
        kind: 'transient',
      });
    const rows = value.filter(({ campaign }) => query.campaign === undefined || query.campaign === campaign);
    // Excel reads a file as UTF-8 only if it begins with this mark.
    const text = `\u{feff}${csv(cellsOf(rows, 'csv'))}`;
    reply.header('content-disposition', `attachment; filename="${fileNameOf(by, period)}"`);
    return await reply.type('text/csv; charset=utf-8').send(text);
  });
}

interface Figures extends ByField {
  /** The figures of all campaigns. */
  byCampaign: Rows;
  overTime: Rows;
}

async function figuresOf(
  query: Query,
  period: Period,
  { readings, there }: { readings: Readings; there: There },
): Promise<Figures> {
  const [byCampaign, overTime] = await Promise.all([
    readings.byCampaign(there, period),
    readings.overTime(there, period),
  ]);
  return { byCampaign, overTime, ...(await readings.byFieldOf(there, query, period, byCampaign, mostByField)) };
}

function fileNameOf(by: string | undefined, { since, until }: Period): string {
  const words = (by ?? '').toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const part = words.length === 0 ? '' : `-by-${words.join('-').slice(0, 40)}`;
  return `closeloop-grades${part}-${since}-to-${until}.csv`;
}
