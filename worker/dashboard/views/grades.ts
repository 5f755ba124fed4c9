import type { Counts } from '../../journey/hourly-counts.ts';
import { rangeOf } from '../../reports/cells.ts';
import { type GradesRow, mostAsked, resultOf } from '../../reports/grades.ts';
import { mostRead } from '../../reports/grades-by-field.ts';
import type { Period } from '../../reports/period.ts';
import { type ChannelHours, channelInWords, type HourOfDay } from '../../reports/stored-counts.ts';
import { answersAt, pathTo } from '../addresses.ts';
import { type Content, type Html, html } from '../html.ts';
import type { Read } from '../recent-readings.ts';
import { time } from '../times.ts';
import { type Bar, barChart, figureBar, highestOf } from './charts.ts';
import { change, count, daysInWords, figureOf, nameOf, percent } from './figures.ts';
import { select } from './forms.ts';
import { periodTabs, type ShownPeriod } from './periods.ts';
import { scoreCard } from './score-card.ts';
import { type Column, cellsOf, table } from './table.ts';

interface Grades {
  byCampaign: Read<readonly GradesRow[]>;
  overTime: Read<readonly GradesRow[]>;
  by: string | undefined;
  /** Whether the figures by field cover only the campaigns with the most requests. */
  isCut: boolean;
  byField: Read<readonly GradesRow[]> | undefined;
  fields: readonly string[];
  query: ShownPeriod & {
    campaign?: number | undefined;
  };
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
export const mostByField = 6;
/** Stands for no field: the figures are not grouped. */
export const noField = '-';

export function gradesView(grades: Grades): Html {
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
  const campaigns = (byCampaign.value ?? []).map(({ campaign, name }) => [String(campaign), name] as const);
  const known = campaigns.some(([id]) => id === String(query.campaign));
  const chosen = query.campaign === undefined ? '' : String(query.campaign);
  const named = known || chosen === '' ? campaigns : [...campaigns, [chosen, `Campaign ${chosen}`] as const];
  const all = [...new Set([...fields, ...(by === undefined ? [] : [by])])].map((name) => [name, name] as const);
  const csvAt = pathTo('/grades.csv', { ...period, ...kept(grades) });
  return html`<form class="filter" method="get" action="/grades">
<div><label for="since">From</label><input id="since" name="since" type="date" value="${period.since}"></div>
<div><label for="until">Until</label><input id="until" name="until" type="date" value="${period.until}"></div>
<div><label for="by">By</label>${select('by', [[noField, 'nothing'], ...all], by ?? noField)}</div>
<div><label for="campaign">Campaign</label>${select('campaign', [['', 'all'], ...named], chosen)}</div>
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
  return html`<div class="notice"><p><strong>The Feedback service did not give new figures:</strong> ${why}</p><p>${shown}</p></div>
${byCampaign.value === undefined && storedTable(counts)}`;
}

function storedTable(counts: ReadonlyMap<number, Counts>): Html {
  if (counts.size === 0) return html`<p>No request of closeloop’s own is stored for these days.</p>`;
  return html`<h2>Requests of closeloop</h2>
${table({
  name: 'Requests of closeloop',
  columns: [
    { name: 'Campaign' },
    { name: 'Asked', kind: 'right' },
    { name: 'Of these answered', kind: 'right' },
    { name: 'Response rate', kind: 'right' },
  ],
  rows: [...counts].map(([id, { asked, responses }]) => [
    ...[id, count(asked), count(responses)],
    percent(asked === 0 ? null : responses / asked),
  ]),
})}`;
}

/** The period as the address has it: a named period moves on with the days. */
function daysOf({ query, period }: Pick<Grades, 'query' | 'period'>): Record<string, string | undefined> {
  return query.since === undefined && query.until === undefined ? { period: query.period } : { ...period };
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
  columns: [{ name: 'Campaign', kind: 'ref' }, ...figureColumns, { name: 'By closeloop', kind: 'right' }],
  rows: rows.map((row) => [
    html`<a href="${at(row.campaign)}">${row.name}</a>`,
    ...figureCells(row),
    count(counts.get(row.campaign)?.asked ?? 0),
  ]),
})}`;
}

const figureColumns: readonly Column[] = [
  { name: 'Asked', kind: 'right' },
  { name: 'Answered', kind: 'right' },
  { name: 'Response rate', kind: 'right' },
  { name: 'Result', kind: 'right' },
  { name: 'Result, drawn', kind: 'drawn' },
  { name: 'Against the period before' },
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
    columns: [
      { name: 'Hour' },
      { name: 'Asked', kind: 'right' },
      { name: 'Answered', kind: 'right' },
      { name: 'Response rate', kind: 'right' },
    ],
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

/** Fewer answers say little about a store or an agent. */
const fewAnswers = 10;
const isFew = ({ now }: GradesRow): boolean => (now.answered ?? 0) < fewAnswers;

/** The rows with enough answers first, best result first; then the other rows. */
function ranked(rows: readonly GradesRow[]): GradesRow[] {
  const result = ({ now, measure }: GradesRow) => resultOf(now, measure) ?? Number.NEGATIVE_INFINITY;
  return rows.toSorted(
    (a, b) => Number(isFew(a)) - Number(isFew(b)) || result(b) - result(a) || b.now.asked - a.now.asked,
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
  const columns: readonly Column[] = [{ name: by, kind: 'ref' }, ...figureColumns];
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
function valueLink({ by, campaign, ...row }: GradesRow, grades: Grades): Content {
  if (by === undefined || by.value === '') return '(empty)';
  const at = answersAt({ ...daysOf(grades), campaign: String(campaign) }, { [by.field]: by.value });
  return html`<a href="${at}">${by.value}</a>${isFew({ by, campaign, ...row }) && html` <small class="quiet">few answers</small>`}`;
}
