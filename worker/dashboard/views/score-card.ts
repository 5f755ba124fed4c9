import { rangeOf } from '../../reports/cells.ts';
import { type GradesRow, resultOf } from '../../reports/grades.ts';
import { totalOf } from '../../reports/index-rule.ts';
import type { Period } from '../../reports/period.ts';
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

/** A campaign's figures at a glance, how often each grade was given, and how its result went. @param steps its own, one after the other */
export function scoreCard(row: GradesRow, steps: readonly GradesRow[], period: Period): Html {
  const { name, measure, now, before, scale } = row;
  const figure = resultOf(now, measure);
  return html`<section class="score" aria-label="${name}">
<h2>${name}</h2>
${
  measure !== null &&
  html`<p class="figure"><b>${figure === null ? '–' : written(figure, measure)}</b> ${nameOf(measure)}${measure === 'avg' && figure !== null && html` <span class="quiet">of ${scale.at(-1)}</span>`}</p>
<p>${change(row.change, resultOf(before, measure), measure)}</p>`
}
<dl class="counts">
<div><dt>Asked</dt><dd>${count(now.asked)} ${countChange(now.asked, before.asked)}</dd></div>
<div><dt>Answered</dt><dd>${count(now.answered)} ${countChange(now.answered, before.answered)}</dd></div>
<div><dt>Response rate</dt><dd>${percent(now.rate)} ${rateChange(now.rate, before.rate)}</dd></div>
${measure !== 'avg' && now.average !== null && html`<div><dt>Average</dt><dd>${decimal(now.average)} <span class="quiet">of ${scale.at(-1)}</span></dd></div>`}
</dl>
${distribution(row)}
${trend(row, steps, period)}
</section>`;
}

function distribution({ name, now }: GradesRow): Content {
  const grades = now.grades ?? [];
  const total = totalOf(grades);
  if (total === 0) return undefined;
  return html`<table class="grades"><caption>How often each grade was given</caption>
<thead><tr><th scope="col">Grade</th><th scope="col"><span class="unseen">Share, drawn, of ${name}</span></th><th scope="col" class="right">Answers</th><th scope="col" class="right">Share</th></tr></thead>
<tbody>${grades
    .toReversed()
    .map(
      (one) =>
        html`<tr><th scope="row">${one.grade}</th><td class="drawn">${shareBar(one.count / total)}</td><td class="right">${count(one.count)}</td><td class="right">${percent(one.count / total)}</td></tr>`,
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
  return html`<figure class="trend"><figcaption>${nameOf(row.measure)} over time, from ${decimal(range[0])} to ${range[1]}</figcaption>
${lineChart(points, range, label)}
<p class="ends"><span>${points[0]?.name}</span><span>${points.at(-1)?.name}</span></p>
<details><summary>Its figures</summary><table>
<thead><tr><th scope="col">Days</th><th scope="col" class="right">Asked</th><th scope="col" class="right">Answered</th><th scope="col" class="right">${nameOf(row.measure)}</th></tr></thead>
<tbody>${steps.map(({ step, now }) => html`<tr><th scope="row">${step && shortDays(step)}</th><td class="right">${count(now.asked)}</td><td class="right">${count(now.answered)}</td><td class="right">${figureOf(resultOf(now, row.measure), row.measure)}</td></tr>`)}</tbody></table></details></figure>`;
}
