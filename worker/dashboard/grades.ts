import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';
import type { Counts } from '../journey/hourly-counts.ts';
import { csv, rangeOf, cellsOf as reportCells } from '../reports/cells.ts';
import { fewAnswers, type GradesRow, isFew, mostAsked, resultOf } from '../reports/grades.ts';
import { mostRead } from '../reports/grades-by-field.ts';
import { type Period, periodBefore } from '../reports/period.ts';
import {
  byChannel,
  type ChannelHours,
  channelInWords,
  type HourOfDay,
  storedCounts,
} from '../reports/stored-counts.ts';
import { answersAt, pathTo } from './addresses.ts';
import { type Content, type Html, html } from './html.ts';
import { type DashboardOptions, show } from './pages.ts';
import {
  type ByField,
  NumberQuery,
  noField,
  PeriodQuery,
  periodOf,
  type Readings,
  type Rows,
  serviceThere,
  type There,
} from './readings.ts';
import { time } from './times.ts';
import { type Bar, barChart, figureBar, highestOf } from './views/charts.ts';
import { change, count, daysInWords, figureOf, nameOf, percent } from './views/figures.ts';
import { campaignField, choiceField, dayFields, daysOf, periodTabs } from './views/forms.ts';
import { noNewFigures, scoreCard } from './views/score-card.ts';
import { type Column, cellsOf, drawn, named, right, table } from './views/table.ts';

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
    const text = `\u{feff}${csv(reportCells(rows, 'csv'))}`;
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

interface Grades extends Figures {
  query: Query;
  period: Period;
  before: Period;
  /** The counts of closeloop's own journeys, by campaign. */
  counts: ReadonlyMap<number, Counts>;
  /** The same counts by the hour in which customers were asked. */
  hours: readonly HourOfDay[];
  /** The same counts by channel; empty where the channels are unknown. */
  channels: readonly ChannelHours[];
  timeZone: string;
}

/** Campaigns with a card of their own; the others stand in the table. */
const mostCards = 4;
/** The most values of a field that have a row of their own. */
const mostValues = 20;
/** The most campaigns whose values closeloop reads for a page, as each needs several calls. */
const mostByField = 6;

function gradesView(grades: Grades): Html {
  const { byCampaign, query, period, before, timeZone } = grades;
  const rows = byCampaign.value?.filter(({ campaign }) => isChosen(campaign, query)) ?? [];
  const sorted = rows.toSorted((a, b) => b.now.asked - a.now.asked);
  return html`${periodTabs('/grades', grades.query, kept(grades))}
${filter(grades)}
<p><strong>${daysInWords(period)}</strong>, compared with ${daysInWords(before)}. Days of ${timeZone}.
<span class="quiet">Figures of the Feedback service: of customers asked in this period, whenever they answered.</span></p>
${problem(grades)}
${byCampaign.value && rows.length === 0 && html`<p class="notice">Nobody was asked in this period, nor in the one before.</p>`}
${sorted.length > 0 && html`<div class="scores">${sorted.slice(0, mostCards).map((row) => scoreCard(row, stepsOf(row, grades), period))}</div>`}
${sorted.length > 1 && campaignTable(sorted, grades)}
${byFieldPart(grades)}
${hoursPart(grades)}
<p class="actions"><a class="button" href="${answersAt({ ...daysOf(grades), campaign: query.campaign?.toString() })}">Answers given in these days</a></p>`;
}

function stepsOf({ campaign }: GradesRow, { overTime }: Grades): GradesRow[] {
  return overTime.value?.filter((one) => one.campaign === campaign) ?? [];
}

function isChosen(campaign: number, { campaign: chosen }: Grades['query']): boolean {
  return chosen === undefined || chosen === campaign;
}

/** The visitor's other choices, which links keep. */
function kept({ by, query }: Pick<Grades, 'by' | 'query'>): Record<string, string | undefined> {
  return { by: by ?? noField, campaign: query.campaign?.toString() };
}

function filter(grades: Grades): Html {
  const { period, by, fields, query, byCampaign } = grades;
  const campaigns = (byCampaign.value ?? []).map(({ campaign, name }) => [campaign, name] as const);
  const csvAt = pathTo('/grades.csv', { ...period, ...kept(grades) });
  return html`<form class="filter" method="get" action="/grades">
${dayFields(period)}
${choiceField('by', 'By', [[noField, 'nothing'], ...fields], { chosen: by ?? noField })}
${campaignField(campaigns, query.campaign)}
<button class="main-button">Show</button>
<a class="button" href="${csvAt}" download>Download CSV</a>
</form>`;
}

/** The problem with the service. closeloop's own counts are shown all the same. */
function problem({ byCampaign, overTime, byField, counts, timeZone }: Grades): Content {
  const why = byCampaign.problem ?? byField?.problem ?? overTime.problem;
  if (why === undefined) return undefined;
  const shown = byCampaign.value
    ? html`These are the figures that were read last${byCampaign.readAt && html`, ${time(byCampaign.readAt, timeZone)}`}.`
    : 'Its figures can not be shown now; below stands what closeloop has stored.';
  return html`${noNewFigures(why, shown)}
${byCampaign.value === undefined && storedTable(counts)}`;
}

function storedTable(counts: ReadonlyMap<number, Counts>): Html {
  if (counts.size === 0) return html`<p>No request of closeloop’s own is stored for these days.</p>`;
  return html`<h2>Requests of closeloop</h2>
${table({
  name: 'Requests of closeloop',
  columns: ['Campaign', right('Asked'), right('Of these answered'), right('Response rate')],
  rows: [...counts].map(([id, { asked, responses }]) => [
    ...[id, count(asked), count(responses)],
    percent(asked === 0 ? null : responses / asked),
  ]),
})}`;
}

function campaignTable(rows: readonly GradesRow[], grades: Grades): Html {
  const { counts, by } = grades;
  // The link has no field, as another campaign may have other fields.
  const days = daysOf(grades);
  const at = (campaign: number) =>
    pathTo('/grades', { ...days, by: by === undefined ? noField : undefined, campaign: String(campaign) });
  return html`<h2>Campaigns</h2>
${table({
  name: 'Campaigns',
  columns: [named('Campaign'), ...figureColumns, right('By closeloop')],
  rows: rows.map((row) => [
    html`<a href="${at(row.campaign)}">${row.name}</a>`,
    ...figureCells(row),
    count(counts.get(row.campaign)?.asked ?? 0),
  ]),
})}`;
}

const figureColumns: readonly Column[] = [
  right('Asked'),
  right('Answered'),
  right('Response rate'),
  right('Result'),
  drawn('Result, drawn'),
  'Against the period before',
];

function figureCells(row: GradesRow): Content[] {
  const { now, before, measure } = row;
  const figure = resultOf(now, measure);
  return [
    ...[count(now.asked), count(now.answered), percent(now.rate), figureOf(figure, measure)],
    figureBar(figure, rangeOf(row)),
    change(row.change, resultOf(before, measure), measure),
  ];
}

function byFieldPart(grades: Grades): Content {
  const { by, byField, isCut } = grades;
  if (by === undefined || byField?.value === undefined) return undefined;
  const askedIn = (rows: readonly GradesRow[]) => rows.reduce((sum, { now }) => sum + now.asked, 0);
  const groups = [...Map.groupBy(byField.value, ({ campaign }) => campaign).values()].sort(
    (a, b) => askedIn(b) - askedIn(a),
  );
  if (groups.length === 0)
    return html`<h2>By ${by}</h2><p class="notice">No request of this period or the one before has a value of “${by}” that its campaign shows in reports.</p>`;
  return html`<h2>By ${by}</h2>
${isCut && html`<p class="quiet">Of the ${mostByField} campaigns most asked in that have it: choose a campaign to see another.</p>`}
${groups.map((rows) => valueTable(by, rows, grades))}`;
}

/** The answers by hour and channel, which help to choose send windows. */
function hoursPart({ hours, channels, timeZone }: Grades): Content {
  if (hours.length < 2) return undefined;
  const [only] = channels.length === 1 ? channels : [];
  const whose = html`Of the customers whom closeloop asked in this hour${only && ` (all by ${channelInWords(only.channel)})`}, how many per cent have answered; paler where fewer than ${fewAnswers} were asked. On the clock of ${timeZone}.`;
  const several = channels.length > 1 ? channels : [];
  const highest = highestOf(several.flatMap(({ hours: own }) => barsOf(own, hours)));
  return html`<h2>Response by hour of asking</h2>
${hoursFigure({ name: 'Response by hour of asking', caption: whose, own: hours, hours })}
${
  several.length > 0 &&
  html`<div class="scores">${several.map(({ channel, hours: own }) => {
    const by = channelInWords(channel);
    return hoursFigure({
      name: `Response by hour of asking, by ${by}`,
      caption: html`Of those asked by ${by}`,
      own,
      hours,
      highest,
    });
  })}</div>`
}`;
}

interface HoursFigure {
  name: string;
  caption: Html;
  own: readonly HourOfDay[];
  /** All hours that have a place on the axis. */
  hours: readonly HourOfDay[];
  highest?: number;
}

function hoursFigure({ name, caption, own, hours, highest }: HoursFigure): Html {
  return html`<figure class="trend score"><figcaption>${caption}</figcaption>
${barChart(barsOf(own, hours), `${name}; the table below has the figures`, highest)}
<details><summary>Figures</summary>${table({
    name,
    columns: ['Hour', right('Asked'), right('Answered'), right('Response rate')],
    rows: own.map(({ hour, asked, responses }) => [
      clock(hour),
      ...[count(asked), count(responses)],
      percent(responses / asked),
    ]),
  })}</details></figure>`;
}

function barsOf(own: readonly HourOfDay[], hours: readonly HourOfDay[]): Bar[] {
  return hours.map(({ hour }) => {
    const { asked = 0, responses = 0 } = own.find((one) => one.hour === hour) ?? {};
    const share = asked === 0 ? null : responses / asked;
    const above = share === null ? '' : String(Math.round(share * 100));
    return { name: clock(hour), figure: share, text: `${above} %`, above, isFew: asked < fewAnswers };
  });
}

const clock = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;

/** The rows with enough answers first, best result first; then the other rows. */
function ranked(rows: readonly GradesRow[]): GradesRow[] {
  const result = ({ now, measure }: GradesRow) => resultOf(now, measure) ?? Number.NEGATIVE_INFINITY;
  return rows.toSorted(
    (a, b) => Number(isFew(a.now)) - Number(isFew(b.now)) || result(b) - result(a) || b.now.asked - a.now.asked,
  );
}

function valueTable(by: string, all: readonly GradesRow[], grades: Grades): Content {
  const { rows: most, others, count: more } = mostAsked(all, mostValues);
  const rows = ranked(most);
  const [first] = all;
  if (first === undefined) return undefined;
  const { name, metric, measure } = first;
  const lacks =
    metric !== measure && (metric === 'nps' || metric === 'csat')
      ? ` ${nameOf(metric)} is not shown: nobody has answered, there are more than ${count(mostRead)} requests, or the service counts it in a way of its own.`
      : '';
  const columns: readonly Column[] = [named(by), ...figureColumns];
  const together = others && [`${more} others together`, ...figureCells(others)];
  return html`${table({
    name: `${by}, ${name}`,
    caption: html`<strong>${name}</strong>: ${nameOf(measure)}. Best first; below, those with fewer than ${fewAnswers} answers.${lacks}`,
    columns,
    rows: rows.map((row) => [valueLink(row, grades), ...figureCells(row)]),
    last: together && html`<tr class="others">${cellsOf(together, columns)}</tr>`,
  })}
${others && html`<p class="quiet">The CSV file has each of them.</p>`}`;
}

/** A link to the value's answers. */
function valueLink({ by, campaign, now }: GradesRow, grades: Grades): Content {
  if (by === undefined || by.value === '') return '(empty)';
  const at = answersAt({ ...daysOf(grades), campaign: String(campaign) }, { [by.field]: by.value });
  return html`<a href="${at}">${by.value}</a>${isFew(now) && html` <small class="quiet">few answers</small>`}`;
}
