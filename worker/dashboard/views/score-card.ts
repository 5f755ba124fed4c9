import { rangeOf } from '../../reports/cells.ts';
import { type GradesRow, resultOf } from '../../reports/grades.ts';
import { totalOf } from '../../reports/index-rule.ts';
import type { Period } from '../../reports/period.ts';
import { answersAt } from '../addresses.ts';
import { type Content, type Html, html } from '../html.ts';
import { lineChart, shareBar } from './charts.ts';
import {
  change,
  count,
  countChange,
  daysInWords,
  decimal,
  figureOf,
  nameOf,
  percent,
  rateChange,
  shortDays,
  written,
} from './figures.ts';

/** A campaign's result, its trend, and the counts behind it. @param at the addresses of its figures and of its answers */
export function resultCard(
  row: GradesRow,
  steps: readonly GradesRow[],
  period: Period,
  at: { grades: string; answers: string; by: readonly (readonly [field: string, at: string])[] },
): Html {
  return html`<section class="score" aria-label="${row.name}">
<h2><a href="${at.grades}">${row.name}</a></h2>
${headline(row)}
${countsOf(row, at.answers)}
${trend(row, steps, period)}
${at.by.length > 0 && html`<p class="quiet">${at.by.map(([field, address], i) => html`${i > 0 && ' · '}<a href="${address}">By ${field}</a>`)}</p>`}
</section>`;
}

/**
 * A campaign's figures at a glance, the counts of each grade, and the trend of the result. @param steps the campaign's rows in order of
 * time
 */
export function scoreCard(row: GradesRow, steps: readonly GradesRow[], period: Period): Html {
  return html`<section class="score" aria-label="${row.name}">
<h2>${row.name}</h2>
${headline(row)}
${countsOf(row)}
${distribution(row, period)}
${trend(row, steps, period)}
</section>`;
}

function headline({ measure, now, before, scale, change: by }: GradesRow): Content {
  if (measure === null) return undefined;
  const figure = resultOf(now, measure);
  return html`<p class="figure"><b>${figure === null ? '–' : written(figure, measure)}</b> ${nameOf(measure)}${measure === 'avg' && figure !== null && html` <span class="quiet">of ${scale.at(-1)}</span>`}</p>
<p>${change(by, resultOf(before, measure), measure)}</p>`;
}

/** @param at the address of the campaign's answers */
function countsOf({ measure, now, before, scale }: GradesRow, at?: string): Html {
  const more =
    measure !== 'avg' &&
    now.average !== null &&
    html`<div><dt>Average</dt><dd>${decimal(now.average)} <span class="quiet">of ${scale.at(-1)}</span></dd></div>`;
  return askedCounts(now, before, { at, more });
}

interface AskedCounts {
  asked: number;
  answered: number | null;
  rate: number | null;
}

/**
 * How many customers were asked, how many of these answered, and the change since the period before. @param shown `at`: the address of
 * the answers
 */
export function askedCounts(
  now: AskedCounts,
  before: AskedCounts,
  { at, more, style = 'counts' }: { at?: string | undefined; more?: Content; style?: string },
): Html {
  const answered = at === undefined ? count(now.answered) : html`<a href="${at}">${count(now.answered)}</a>`;
  return html`<dl class="${style}">
<div><dt>Asked</dt><dd>${count(now.asked)} ${countChange(now.asked, before.asked)}</dd></div>
<div><dt>Answered</dt><dd>${answered} ${countChange(now.answered, before.answered)}</dd></div>
<div><dt>Response rate</dt><dd>${percent(now.rate)} ${rateChange(now.rate, before.rate)}</dd></div>
${more}
</dl>`;
}

/** @param shown the part that is shown all the same */
export function noNewFigures(why: string, shown: Content): Html {
  return html`<div class="notice"><p><strong>The Feedback service did not give new figures:</strong> ${why}</p>${shown && html`<p>${shown}</p>`}</div>`;
}

function distribution({ name, campaign, now }: GradesRow, period: Period): Content {
  const at = (grade: number) =>
    answersAt({ ...period, campaign: String(campaign), from: String(grade), to: String(grade) });
  const grades = now.grades ?? [];
  const total = totalOf(grades);
  if (total === 0) return undefined;
  return html`<table class="grades"><caption>How often each grade was given</caption>
<thead><tr><th scope="col">Grade</th><th scope="col"><span class="unseen">Share, drawn, of ${name}</span></th><th scope="col" class="right">Answers</th><th scope="col" class="right">Share</th></tr></thead>
<tbody>${grades
    .toReversed()
    .map(
      (one) =>
        html`<tr><th scope="row"><a href="${at(one.grade)}">${one.grade}</a></th><td class="drawn">${shareBar(one.count / total)}</td><td class="right">${count(one.count)}</td><td class="right">${percent(one.count / total)}</td></tr>`,
    )}</tbody></table>`;
}

function trend(row: GradesRow, steps: readonly GradesRow[], period: Period): Content {
  const range = rangeOf(row);
  const known = steps.filter(({ now }) => resultOf(now, row.measure) !== null);
  if (range === undefined || known.length < 2) return undefined;
  const points = steps.map(({ now, step }) => ({
    name: step ? shortDays(step) : '',
    figure: resultOf(now, row.measure),
  }));
  const label = `${nameOf(row.measure)} of ${row.name} over time, ${daysInWords(period)}; the table below has the figures`;
  return html`<figure class="trend"><figcaption>${nameOf(row.measure)} over time</figcaption>
${lineChart(points, range, label)}
<details><summary>Figures</summary><table>
<thead><tr><th scope="col">Days</th><th scope="col" class="right">Asked</th><th scope="col" class="right">Answered</th><th scope="col" class="right">${nameOf(row.measure)}</th></tr></thead>
<tbody>${steps.map(({ step, now }) => html`<tr><th scope="row">${step && shortDays(step)}</th><td class="right">${count(now.asked)}</td><td class="right">${count(now.answered)}</td><td class="right">${figureOf(resultOf(now, row.measure), row.measure)}</td></tr>`)}</tbody></table></details></figure>`;
}
