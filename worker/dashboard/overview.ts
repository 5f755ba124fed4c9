import type { FastifyInstance } from 'fastify';
import { isOverdue } from '../journey/follow-up.ts';
import { findAnswers } from '../reports/find-answers.ts';
import { type GradesRow, rateOf } from '../reports/grades.ts';
import { instantsOf, type Period, periodBefore } from '../reports/period.ts';
import { countFollowUps, dueInWords, followUpsIn } from '../support/follow-ups.ts';
import { answersAt, followUpAt, pathTo } from './addresses.ts';
import { answerCard, gradeBadge } from './answers.ts';
import { seesContacts } from './guard.ts';
import { type Content, type Html, html } from './html.ts';
import { stateOfAll } from './operations.ts';
import { type DashboardOptions, show } from './pages.ts';
import { PeriodQuery, periodOf, type Readings, serviceThere } from './readings.ts';
import type { Read } from './recent-readings.ts';
import { type ShownAnswer, shownAnswers } from './shown-answer.ts';
import { daysInWords } from './views/figures.ts';
import { daysOf, periodTabs, type ShownPeriod } from './views/forms.ts';
import { countNotices } from './views/operations.ts';
import { askedCounts, noNewFigures, resultCard } from './views/score-card.ts';

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

interface Overview {
  /** The sources in test mode. */
  tests: readonly string[];
  byCampaign: Read<readonly GradesRow[]>;
  overTime: Read<readonly GradesRow[]>;
  /** The newest answers of the period. */
  answers: readonly ShownAnswer[];
  /** The most overdue follow-ups. */
  followUps: readonly ShownAnswer[];
  counts: { open: number; overdue: number };
  /** The number of problems that need a person, and of problems that end by themselves. */
  notices: { urgent: number; others: number };
  /** The custom field with the journey's reference, which is useless as a grouping. */
  marker: string;
  query: ShownPeriod;
  period: Period;
  before: Period;
  now: Date;
  timeZone: string;
}

/** How often the page refreshes itself: many people leave it open. */
const everySeconds = 15;
/** The most campaigns that have a card of their own. */
const mostCards = 4;
/** The most custom fields that a card links to. */
const mostFields = 4;

export function overviewView(overview: Overview): Html {
  const { query, period, before, timeZone } = overview;
  return html`${overview.tests.map((why) => html`<p class="notice">${why}</p>`)}${health(overview)}
${periodTabs('/', query)}
<p><strong>${daysInWords(period)}</strong>, compared with ${daysInWords(before)}. <span class="quiet">Days of ${timeZone}.</span></p>
<div class="columns">
<div id="results" data-live="${everySeconds}">${results(overview)}</div>
<div>${followUpPart(overview)}
${answerPart(overview)}</div>
</div>`;
}

function health({ notices: { urgent, others } }: Overview): Html {
  const [tone, text] =
    urgent > 0
      ? ['notice bad', `${urgent} ${urgent === 1 ? 'thing needs' : 'things need'} a person`]
      : others > 0
        ? ['notice', others === 1 ? '1 thing to know' : `${others} things to know`]
        : ['notice good', 'closeloop itself is all right'];
  return html`<p class="${tone} health" id="health" data-live="${everySeconds}"><a href="/operations">${text}</a></p>`;
}

function results(overview: Overview): Content {
  const { byCampaign, overTime, period, marker } = overview;
  const { value, problem } = byCampaign;
  const rows = (value ?? []).toSorted((a, b) => b.now.asked - a.now.asked);
  const stepsOf = (row: GradesRow) => overTime.value?.filter(({ campaign }) => campaign === row.campaign) ?? [];
  const at = (row: GradesRow) => ({
    grades: pathTo('/grades', { ...daysOf(overview), campaign: String(row.campaign) }),
    answers: answersAt({ ...daysOf(overview), campaign: String(row.campaign) }),
    by: row.fields
      .filter((field) => field !== marker)
      .slice(0, mostFields)
      .map((by) => [by, pathTo('/grades', { ...daysOf(overview), campaign: String(row.campaign), by })] as const),
  });
  return html`${problem !== undefined && noNewFigures(problem, value && 'These are the figures that were read last.')}
${value && rows.length === 0 && nobodyAsked}
${rows.length > 1 && total(rows)}
${rows.slice(0, mostCards).map((row) => resultCard(row, stepsOf(row), period, at(row)))}
${rows.length > mostCards && html`<p><a href="${pathTo('/grades', daysOf(overview))}">All ${rows.length} campaigns</a></p>`}`;
}

const nobodyAsked = html`<div class="notice"><p><strong>Nobody was asked in this period, nor in the one before.</strong></p>
<p>A customer is asked when a ticket, deal or order closes and a rule fits. <a href="/settings">Settings</a> has the rules in words, <a href="/journeys">Journeys</a> every closing with what was decided.</p></div>`;

/** The number of requests and answers over all campaigns. Results of different campaigns can't be added. */
function total(rows: readonly GradesRow[]): Html {
  const sum = (of: (row: GradesRow) => number | null): number => rows.reduce((all, row) => all + (of(row) ?? 0), 0);
  const now = { asked: sum((row) => row.now.asked), answered: sum((row) => row.now.answered) };
  const before = { asked: sum((row) => row.before.asked), answered: sum((row) => row.before.answered) };
  const withRate = (counts: typeof now) => ({ ...counts, rate: rateOf(counts.asked, counts.answered) });
  return askedCounts(withRate(now), withRate(before), { style: 'counts total' });
}

function followUpPart({ followUps, counts, now }: Overview): Html {
  const row = (answer: ShownAnswer): Content => {
    const { followUp, source, id, comment, values } = answer;
    if (!followUp) return undefined;
    const late = isOverdue(followUp, now);
    const who = followUp.state === 'taken' ? `taken by ${followUp.takenBy}` : 'nobody has taken it';
    return html`<li class="${late ? 'card bad' : 'card'}"><p>${gradeBadge(answer)} <span class="state ${late ? 'bad' : 'wait'}">${dueInWords(followUp, now)}</span> <span class="quiet">${who}</span></p>
<p class="said"><a href="${followUpAt(source, id)}">${comment === '' ? 'Without words' : comment}</a></p><p class="quiet about">${values
      .map(([, value]) => value)
      .filter((one) => one !== '')
      .join(' · ')}</p></li>`;
  };
  return html`<section id="waiting" data-live="${everySeconds}"><h2>Waiting for a person <span class="quiet">${counts.open > 0 && `${counts.open}, ${counts.overdue} overdue`}</span></h2>
${counts.open === 0 ? html`<p class="notice good">Nobody.</p>` : html`<ul class="cards">${followUps.map(row)}</ul><p><a href="/follow-ups">All follow-ups</a></p>`}</section>`;
}

function answerPart(overview: Overview): Html {
  const { answers, now, timeZone } = overview;
  return html`<section id="newest" data-live="${everySeconds}"><h2>Newest answers</h2>
${answers.length === 0 ? html`<p class="notice">None in this period.</p>` : html`<ul class="cards">${answers.map((one) => answerCard(one, { now, timeZone, kept: daysOf(overview) }))}</ul><p><a href="${answersAt(daysOf(overview))}">All answers</a></p>`}</section>`;
}
