import type { Measure } from '../../reports/grades.ts';
import type { Period } from '../../reports/period.ts';
import { type Content, type Html, html } from '../html.ts';

const measureNames = { avg: 'Average', csat: 'CSAT', nps: 'NPS' } as const;

export function nameOf(measure: Measure): string {
  return measure === null ? 'No grade' : measureNames[measure];
}

/** An arrow and a word, as colour alone is not enough for everybody. */
function arrow(by: number | null, text: string): Html {
  if (by === null) return html`<span class="quiet">nothing to compare with</span>`;
  if (by === 0) return html`<span class="quiet">no change</span>`;
  return by > 0
    ? html`<span class="up"><span aria-hidden="true">▲</span> up ${text}</span>`
    : html`<span class="down"><span aria-hidden="true">▼</span> down ${text}</span>`;
}

export function change(by: number | null, before: number | null, measure: Measure): Html {
  const from =
    before === null || by === null || by === 0
      ? undefined
      : html` <span class="quiet">from ${figureOf(before, measure)}</span>`;
  return html`<span class="change">${arrow(by, by === null ? '' : shortened(Math.abs(by), measure))}${from}</span>`;
}

export function countChange(now: number | null, before: number | null): Content {
  if (now === null || before === null || before === 0) return undefined;
  return html`<small>${arrow(now - before, count(Math.abs(now - before)))}</small>`;
}

export function rateChange(now: number | null, before: number | null): Content {
  if (now === null || before === null) return undefined;
  const points = Math.round((now - before) * 1_000) / 10;
  return html`<small>${arrow(points, `${decimal(Math.abs(points))} points`)}</small>`;
}

export function figureOf(figure: number | null, measure: Measure): string {
  return figure === null || measure === null ? '–' : written(figure, measure);
}

export function written(figure: number, measure: Exclude<Measure, null>): string {
  return measure === 'csat' ? `${shortened(figure, measure)} %` : shortened(figure, measure);
}

const counts = new Intl.NumberFormat('en-GB');
const decimals = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 2 });

export function count(n: number | null): string {
  return n === null ? '–' : counts.format(n);
}

/** Rounds percentages to tenths: hundredths would tell readers nothing. */
function shortened(figure: number, measure: Measure): string {
  return decimal(measure === 'avg' ? figure : Math.round(figure * 10) / 10);
}

export function decimal(figure: number): string {
  return decimals.format(figure).replace('-', '−');
}

export function percent(share: number | null): string {
  return share === null ? '–' : `${Math.round(share * 100)} %`;
}

const days = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'short', year: 'numeric' });
const shorter = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'short' });

export function daysInWords({ since, until }: Period): string {
  return days.formatRange(new Date(since), new Date(until));
}

export function shortDays({ since, until }: Period): string {
  return shorter.formatRange(new Date(since), new Date(until));
}
