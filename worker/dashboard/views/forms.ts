import { namedPeriods } from '../../reports/period-names.ts';
import { pathTo } from '../addresses.ts';
import { type Content, type Html, html } from '../html.ts';

/** A search by POST: the searched text may be a customer's address, which must not be in the address of a page. */
export function searchForm({
  action,
  label,
  button,
  value = '',
}: {
  action: string;
  label: string;
  button: string;
  value?: string;
}): Html {
  return html`<form class="filter" method="post" action="${action}" role="search">
<div class="grow"><label for="q">${label}</label>
<input id="q" name="q" type="search" value="${value}" required maxlength="1000" autocomplete="off"></div>
<button class="main-button">${button}</button>
</form>`;
}

export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

interface ActingForm {
  /** The address that takes the form. */
  at: string;
  /** The token of every form that changes something (`formToken`). */
  csrf: string;
  content?: Content;
  button: string;
  /** The page that the person came from. */
  back?: string;
}

/** A form that changes something, on a page of its own. */
export function actingForm({ at, csrf, content, button, back }: ActingForm): Html {
  return html`<form method="post" action="${at}">
${hidden('csrf', csrf)}${content}
<p class="actions"><button class="main-button">${button}</button>${back !== undefined && html` ${backTo(back)}`}</p>
</form>`;
}

export function backTo(at: string): Html {
  return html`<a class="button" href="${at}">Back</a>`;
}

/** The field in which a person gives the reason for an action. */
export function reasonField(label: string, value = ''): Html {
  return html`<div class="filter"><div class="grow"><label for="why">${label}</label><input id="why" name="why" value="${value}" required maxlength="500"></div></div>`;
}

/** The message about what the person has just done. */
export function told(what: Content): Html {
  return html`<p class="notice good" role="status">${what}</p>`;
}

type Choice = string | readonly [value: string, text: string];

/**
 * A filter's field with choices. If the current value is not among the choices it is added. @param none the text of the first choice,
 * which filters nothing
 */
export function choiceField(
  name: string,
  label: string,
  all: readonly Choice[],
  { chosen = '', none }: { chosen?: string | undefined; none?: string },
): Html {
  const given = all.map((one) => (typeof one === 'string' ? ([one, one] as const) : one));
  const known = [...(none === undefined ? [] : [['', none] as const]), ...given];
  const choices = known.some(([value]) => value === chosen) ? known : [...known, [chosen, chosen] as const];
  const option = ([value, text]: readonly [string, string]): Html =>
    html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`;
  return html`<div><label for="${name}">${label}</label><select id="${name}" name="${name}">${choices.map(option)}</select></div>`;
}

/** The field of a filter by campaign. */
export function campaignField(
  known: readonly (readonly [id: number, name: string])[],
  chosen: number | undefined,
): Html {
  const all = new Map(known);
  if (chosen !== undefined && !all.has(chosen)) all.set(chosen, `Campaign ${chosen}`);
  const choices = [...all].map(([id, name]) => [String(id), name] as const);
  return choiceField('campaign', 'Campaign', choices, { chosen: chosen?.toString(), none: 'all' });
}

/** The fields of a filter by days. */
export function dayFields(
  { since, until }: { since?: string | undefined; until?: string | undefined },
  [from, to] = ['From', 'Until'],
): Html {
  const field = (name: string, label: string, value = ''): Html =>
    html`<div><label for="${name}">${label}</label><input id="${name}" name="${name}" type="date" value="${value}"></div>`;
  return html`${field('since', from, since)}${field('until', to, until)}`;
}

/** The link to the next page of a list. */
export function nextPage(at: string, text = 'Next page'): Html {
  return html`<p class="actions"><a class="button" rel="next" href="${at}">${text}</a></p>`;
}

export interface Tab {
  at: string;
  name: Content;
  isHere: boolean;
}

export function tabs(label: string, all: readonly Tab[]): Html {
  return html`<nav class="tabs" aria-label="${label}"><ul>${all.map((one) => tab(one, 'true'))}</ul></nav>`;
}

/** @param current the value of `aria-current` for the tab that is open */
export function tab({ at, name, isHere }: Tab, current: 'true' | 'page'): Html {
  return html`<li><a class="tab" href="${at}"${isHere && html` aria-current="${current}"`}>${name}</a></li>`;
}

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

const hasDays = ({ since, until }: ShownPeriod): boolean => since !== undefined || until !== undefined;

/** Links to the same page for each named period. @param kept the visitor's other choices, which the links keep */
export function periodTabs(path: string, query: ShownPeriod, kept: Record<string, string | undefined> = {}): Html {
  const now = hasDays(query) ? undefined : (query.period ?? '30-days');
  const link = (period: (typeof namedPeriods)[number]): Tab => {
    return { at: pathTo(path, { period, ...kept }), name: names[period], isHere: period === now };
  };
  return tabs('Periods', namedPeriods.map(link));
}

/** The period as the address has it: a named period moves on with the days. */
export function daysOf({
  query,
  period: { since, until },
}: {
  query: ShownPeriod;
  period: { since: string; until: string };
}): Record<string, string | undefined> {
  return hasDays(query) ? { since, until } : { period: query.period };
}
