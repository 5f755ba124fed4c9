import type { Counts } from '../../journey/hourly-counts.ts';
import { rangeOf } from '../../reports/cells.ts';
import { type Comment, mostAnswers } from '../../reports/comments.ts';
import { type GradesRow, resultOf } from '../../reports/grades.ts';
import { mostRead } from '../../reports/grades-by-field.ts';
import { mostAsked } from '../../reports/others.ts';
import type { Period } from '../../reports/period.ts';
import { namedPeriods } from '../../reports/period-names.ts';
import type { Read } from '../../reports/recent-readings.ts';
import { journeyAt, pathTo } from '../addresses.ts';
import { type Content, type Html, html } from '../html.ts';
import { time } from '../times.ts';
import { figureBar } from './charts.ts';
import { change, count, daysInWords, figureOf, nameOf, percent } from './figures.ts';
import { select } from './forms.ts';
import { scoreCard } from './score-card.ts';

interface Grades {
  byCampaign: Read<readonly GradesRow[]>;
  overTime: Read<readonly GradesRow[]>;
  by: string | undefined;
  /** By field only the campaigns most asked in are shown. */
  isCut: boolean;
  byField: Read<readonly GradesRow[]> | undefined;
  fields: readonly string[];
  query: {
    period?: string | undefined;
    since?: string | undefined;
    until?: string | undefined;
    campaign?: number | undefined;
    grade?: number | undefined;
  };
  period: Period;
  before: Period;
  /** What our own journeys say, by campaign. */
  counts: ReadonlyMap<number, Counts>;
  comments: readonly Comment[];
  timeZone: string;
}

/** Campaigns with a card of their own; the others stand in the table. */
const mostCards = 4;
/** Values of a field that have a row of their own. */
const mostValues = 20;
/** Campaigns whose values are read for a page: each takes several calls. */
export const mostByField = 6;
/** In place of a field: the figures are shown by none. */
export const noField = '-';

export function gradesView(grades: Grades): Html {
  const { byCampaign, query, period, before, timeZone } = grades;
  const rows = byCampaign.value?.filter(({ campaign }) => isChosen(campaign, query)) ?? [];
  const sorted = rows.toSorted((a, b) => b.now.asked - a.now.asked);
  return html`${presets(grades)}
${filter(grades)}
<p><strong>${daysInWords(period)}</strong>, compared with ${daysInWords(before)}. Days of ${timeZone}.
${byCampaign.readAt && html`<span class="quiet">Figures of the Feedback service, read ${time(byCampaign.readAt, timeZone)}.</span>`}</p>
${problem(grades)}
${byCampaign.value && rows.length === 0 && html`<p class="notice">Nobody was asked in this period, nor in the one before.</p>`}
${sorted.length > 0 && html`<div class="scores">${sorted.slice(0, mostCards).map((row) => scoreCard(row, stepsOf(row, grades), period))}</div>`}
${sorted.length > 1 && campaignTable(sorted, grades)}
${byFieldPart(grades)}
${commentsPart(grades)}`;
}

function stepsOf({ campaign }: GradesRow, { overTime }: Grades): GradesRow[] {
  return overTime.value?.filter((one) => one.campaign === campaign) ?? [];
}

function isChosen(campaign: number, { campaign: chosen }: Grades['query']): boolean {
  return chosen === undefined || chosen === campaign;
}

const presetNames: Record<(typeof namedPeriods)[number], string> = {
  '7-days': '7 days',
  '30-days': '30 days',
  'this-month': 'This month',
  'last-month': 'Last month',
  'this-quarter': 'This quarter',
  'last-quarter': 'Last quarter',
};

/** What else is chosen stays. */
function kept({ by, query }: Pick<Grades, 'by' | 'query'>): Record<string, string | undefined> {
  return { by: by ?? noField, campaign: query.campaign?.toString(), grade: query.grade?.toString() };
}

/** In place of a period's name. */
function hasDays({ since, until }: Grades['query']): boolean {
  return since !== undefined || until !== undefined;
}

function presets(grades: Grades): Html {
  const { query } = grades;
  const now = hasDays(query) ? undefined : (query.period ?? '30-days');
  const link = (name: (typeof namedPeriods)[number]): Html => {
    const at = pathTo('/grades', { period: name, ...kept(grades) });
    return name === now
      ? html`<li><a class="tab" href="${at}" aria-current="true">${presetNames[name]}</a></li>`
      : html`<li><a class="tab" href="${at}">${presetNames[name]}</a></li>`;
  };
  return html`<nav class="tabs" aria-label="Periods"><ul>${namedPeriods.map(link)}</ul></nav>`;
}

function filter(grades: Grades): Html {
  const { period, by, fields, query, byCampaign, comments } = grades;
  const campaigns = (byCampaign.value ?? []).map(({ campaign, name }) => [String(campaign), name] as const);
  const known = campaigns.some(([id]) => id === String(query.campaign));
  const chosen = query.campaign === undefined ? '' : String(query.campaign);
  const named = known || chosen === '' ? campaigns : [...campaigns, [chosen, `Campaign ${chosen}`] as const];
  const given = [
    ...gradesIn(grades),
    ...comments.flatMap(({ grade }) => grade ?? []),
    ...(query.grade === undefined ? [] : [query.grade]),
  ];
  const choices = [...new Set(given)].sort((a, b) => a - b).map((grade) => [String(grade), String(grade)] as const);
  const all = [...new Set([...fields, ...(by === undefined ? [] : [by])])].map((name) => [name, name] as const);
  const csvAt = pathTo('/grades.csv', { ...period, ...kept(grades) });
  return html`<form class="filter" method="get" action="/grades">
<div><label for="since">From</label><input id="since" name="since" type="date" value="${period.since}"></div>
<div><label for="until">Until</label><input id="until" name="until" type="date" value="${period.until}"></div>
<div><label for="by">By</label>${select('by', [[noField, 'nothing'], ...all], by ?? noField)}</div>
<div><label for="campaign">Campaign</label>${select('campaign', [['', 'all'], ...named], chosen)}</div>
<div><label for="grade">Comments with grade</label>${select('grade', [['', 'any'], ...choices], query.grade?.toString() ?? '')}</div>
<button class="main-button">Show</button>
<a class="button" href="${csvAt}" download>Download CSV</a>
</form>`;
}

function gradesIn({ byCampaign, query }: Grades): number[] {
  return (byCampaign.value ?? []).flatMap(({ campaign, scale }) => (isChosen(campaign, query) ? scale : []));
}

/** Of the service; what is stored here is shown all the same. */
function problem({ byCampaign, overTime, byField, counts }: Grades): Content {
  const why = byCampaign.problem ?? byField?.problem ?? overTime.problem;
  if (why === undefined) return undefined;
  const shown = byCampaign.value
    ? 'These are the figures that were read last.'
    : 'Its figures can not be shown now; below stands what closeloop has stored.';
  return html`<div class="notice"><p><strong>The Feedback service did not give new figures:</strong> ${why}</p><p>${shown}</p></div>
${byCampaign.value === undefined && storedTable(counts)}`;
}

function storedTable(counts: ReadonlyMap<number, Counts>): Html {
  if (counts.size === 0) return html`<p>No request of closeloop’s own is stored for these days.</p>`;
  return html`<h2>Requests of closeloop</h2>
<div class="wide" role="region" aria-label="Requests of closeloop" tabindex="0"><table>
<thead><tr><th scope="col">Campaign</th><th scope="col" class="right">Asked</th><th scope="col" class="right">Of these answered</th><th scope="col" class="right">Response rate</th></tr></thead>
<tbody>${[...counts].map(([id, { asked, responses }]) => html`<tr><th scope="row">${id}</th><td class="right">${count(asked)}</td><td class="right">${count(responses)}</td><td class="right">${percent(asked === 0 ? null : responses / asked)}</td></tr>`)}</tbody></table></div>`;
}

function campaignTable(rows: readonly GradesRow[], grades: Grades): Html {
  const { counts, query, period, by } = grades;
  // Its own fields may be others.
  const days = hasDays(query) ? { ...period } : { period: query.period };
  const at = (campaign: number) =>
    pathTo('/grades', { ...days, by: by === undefined ? noField : undefined, campaign: String(campaign) });
  return html`<h2>Campaigns</h2>
<div class="wide" role="region" aria-label="Campaigns" tabindex="0"><table>
<thead><tr><th scope="col">Campaign</th>${figureHeads}<th scope="col" class="right">By closeloop</th></tr></thead>
<tbody>${rows.map((row) => html`<tr><th scope="row" class="ref"><a href="${at(row.campaign)}">${row.name}</a></th>${figureCells(row)}<td class="right">${count(counts.get(row.campaign)?.asked ?? 0)}</td></tr>`)}</tbody></table></div>`;
}

const figureHeads = html`<th scope="col" class="right">Asked</th><th scope="col" class="right">Answered</th><th scope="col" class="right">Response rate</th><th scope="col" class="right">Result</th><th scope="col"><span class="unseen">Result, drawn</span></th><th scope="col">Against the period before</th>`;

function figureCells(row: GradesRow): Html {
  const { now, before, measure } = row;
  const figure = resultOf(now, measure);
  return html`<td class="right">${count(now.asked)}</td><td class="right">${count(now.answered)}</td><td class="right">${percent(now.rate)}</td><td class="right">${figureOf(figure, measure)}</td><td class="drawn">${figureBar(figure, rangeOf(row))}</td><td>${change(row.change, resultOf(before, measure), measure)}</td>`;
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
${groups.map((rows) => valueTable(by, rows))}`;
}

function valueTable(by: string, all: readonly GradesRow[]): Content {
  const { rows, others, count: more } = mostAsked(all, mostValues);
  const [first] = all;
  if (first === undefined) return undefined;
  const { name, metric, measure } = first;
  const lacks =
    metric !== measure && (metric === 'nps' || metric === 'csat')
      ? ` ${nameOf(metric)} is not shown: nobody has answered, there are more than ${count(mostRead)} requests, or the service counts it in a way of its own.`
      : '';
  return html`<div class="wide" role="region" aria-label="${by}, ${name}" tabindex="0"><table>
<caption><strong>${name}</strong>: ${nameOf(measure)}. Most asked first.${lacks}</caption>
<thead><tr><th scope="col">${by}</th>${figureHeads}</tr></thead>
<tbody>${rows.map((row) => html`<tr><th scope="row" class="ref">${row.by?.value === '' ? '(empty)' : row.by?.value}</th>${figureCells(row)}</tr>`)}${others && html`<tr class="others"><th scope="row">${more} others together</th>${figureCells(others)}</tr>`}</tbody></table></div>
${others && html`<p class="quiet">The CSV file has each of them.</p>`}`;
}

function commentsPart({ comments, query, timeZone }: Grades): Html {
  const none = query.grade === undefined ? 'There is none' : `There is none with grade ${query.grade}`;
  return html`<h2>Newest comments</h2>
<p class="quiet">Of requests that closeloop made to customers asked in this period. The last ${mostAnswers} answers are looked at.</p>
${comments.length === 0 ? html`<p>${none}.</p>` : html`<ol class="comments">${comments.map((one) => commentView(one, timeZone))}</ol>`}`;
}

function commentView(
  { at, grade, maxGrade, comment, campaignName, campaign, values, source, id, journey }: Comment,
  timeZone: string,
): Html {
  const given = grade === null ? 'No grade' : html`Grade ${grade}${maxGrade !== undefined && ` of ${maxGrade}`}`;
  const about = [
    campaignName ?? (campaign === undefined ? '' : `Campaign ${campaign}`),
    ...Object.entries(values).map(([name, value]) => `${name}: ${value}`),
  ];
  return html`<li><p class="said">${comment}</p>
<p class="quiet"><strong>${given}</strong> · ${about.filter((one) => one !== '').join(' · ')} · ${time(at, timeZone)} · <a href="${journeyAt(source, id)}">${journey}</a></p></li>`;
}
