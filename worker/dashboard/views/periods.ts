import { namedPeriods } from '../../reports/period-names.ts';
import { pathTo } from '../addresses.ts';
import { type Html, html } from '../html.ts';

export interface ShownPeriod {
  period?: (typeof namedPeriods)[number] | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

const names: Record<(typeof namedPeriods)[number], string> = {
  '7-days': '7 days',
  '30-days': '30 days',
  'this-month': 'This month',
  'last-month': 'Last month',
  'this-quarter': 'This quarter',
  'last-quarter': 'Last quarter',
};

/** Links to the same page for each named period. @param kept the visitor's other choices, which the links keep */
export function periodTabs(path: string, query: ShownPeriod, kept: Record<string, string | undefined> = {}): Html {
  const hasDays = query.since !== undefined || query.until !== undefined;
  const now = hasDays ? undefined : (query.period ?? '30-days');
  const link = (name: (typeof namedPeriods)[number]): Html => {
    const at = pathTo(path, { period: name, ...kept });
    return name === now
      ? html`<li><a class="tab" href="${at}" aria-current="true">${names[name]}</a></li>`
      : html`<li><a class="tab" href="${at}">${names[name]}</a></li>`;
  };
  return html`<nav class="tabs" aria-label="Periods"><ul>${namedPeriods.map(link)}</ul></nav>`;
}
