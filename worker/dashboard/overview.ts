import type { FastifyInstance } from 'fastify';
import { findAnswers } from '../reports/find-answers.ts';
import { instantsOf, periodBefore } from '../reports/period.ts';
import { countFollowUps, followUpsIn } from '../support/follow-ups.ts';
import { seesContacts } from './guard.ts';
import { stateOfAll } from './operations.ts';
import type { DashboardOptions } from './options.ts';
import { show } from './pages.ts';
import { PeriodQuery, periodOf } from './period-query.ts';
import type { Readings } from './readings.ts';
import { serviceThere } from './service.ts';
import { shownAnswers } from './shown-answer.ts';
import { countNotices } from './views/operations.ts';
import { overviewView } from './views/overview.ts';

/** How many answers and follow-ups this page shows. The pages that it links to show all. */
const newest = 8;
const oldestFollowUps = 5;
/** How many answers closeloop reads at most to find the newest. */
const most = 200;

/** `/`: the customers' grades, the follow-ups, and the problems. Each part leads to the page that shows more of it. */
export function showOverview(app: FastifyInstance, options: DashboardOptions, readings: Readings): void {
  app.get('/', async (request, reply) => {
    const query = PeriodQuery.parse(request.query);
    const { timeZone } = options.config().feedback;
    const period = periodOf(query, options);
    const now = options.now();
    const [sources, there] = await Promise.all([options.engine().sources(), serviceThere(options)]);
    const { from: since, until } = instantsOf(period, timeZone);
    const [byCampaign, overTime, answers, followUps, counts, operations] = await Promise.all([
      readings.byCampaign(there, period),
      readings.overTime(there, period),
      findAnswers(sources, { since, until }, { size: newest, most }),
      followUpsIn(sources, {}, { now, limit: oldestFollowUps }),
      countFollowUps(sources, now),
      stateOfAll(options),
    ]);
    const shown = { contacts: seesContacts(request) };
    const body = overviewView({
      ...{ byCampaign, overTime, query, period, before: periodBefore(period), now, timeZone },
      answers: await shownAnswers(answers.found, shown),
      followUps: await shownAnswers(followUps, shown),
      counts,
      tests: operations.tests,
      marker: options.config().marker,
      notices: countNotices(operations),
    });
    return await show(reply, { title: 'Overview', section: '/', body });
  });
}
