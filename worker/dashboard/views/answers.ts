import type { Period } from '../../reports/period.ts';
import { stateInWords } from '../../support/follow-ups.ts';
import { fieldPrefix, followUpAt, pathTo } from '../addresses.ts';
import { type Content, type Html, html } from '../html.ts';
import type { ShownAnswer } from '../shown-answer.ts';
import { sentence } from '../times.ts';
import { answerCard } from './answer.ts';
import { daysInWords } from './figures.ts';
import { select } from './forms.ts';
import { periodTabs, type ShownPeriod } from './periods.ts';

interface Answers {
  answers: readonly ShownAnswer[];
  /** The place after which the next page begins. */
  next?: string;
  /** Whether closeloop stopped reading before the last answer. */
  isCut: boolean;
  query: ShownPeriod & {
    from?: number | undefined;
    to?: number | undefined;
    campaign?: number | undefined;
    rule: string;
    source: string;
    words?: 'yes' | undefined;
    text: string;
    values: Readonly<Record<string, string>>;
  };
  period: Period;
  sources: readonly string[];
  rules: readonly string[];
  campaigns: readonly (readonly [id: number, name: string])[];
  fields: readonly string[];
  now: Date;
  timeZone: string;
}

export function answersView(shown: Answers): Html {
  const { answers, period, query, now, timeZone } = shown;
  return html`${periodTabs('/answers', query, keptIn(query))}
${filter(shown)}
<p><strong>${daysInWords(period)}</strong> <span class="quiet">in days of ${timeZone}: answers given or changed then, the newest first, of customers that closeloop has asked.</span></p>
${leagues(shown)}
${answers.length === 0 ? nothing(shown) : html`<ul class="cards">${answers.map((one) => answerCard(one, { now, timeZone }, followUpLine(one, shown)))}</ul>`}
${further(shown)}`;
}

/** Links to the same answers grouped by a custom field (agent, store). */
function leagues(shown: Answers): Content {
  const { fields, query } = shown;
  if (fields.length === 0) return undefined;
  const at = (by: string) => pathTo('/grades', { ...daysOf(shown), campaign: query.campaign?.toString(), by });
  return html`<p>Compare: ${fields.map((field, i) => html`${i > 0 && ' · '}<a href="${at(field)}">by ${field}</a>`)}</p>`;
}

/** The filter of the address, without the period and the page. */
function keptIn({
  from,
  to,
  campaign,
  rule,
  source,
  words,
  text,
  values,
}: Answers['query']): Record<string, string | undefined> {
  const fields = Object.entries(values).map(([field, value]) => [`${fieldPrefix}${field}`, value]);
  return {
    ...{ from: from?.toString(), to: to?.toString(), campaign: campaign?.toString(), rule, source, words, text },
    ...Object.fromEntries(fields),
  };
}

function daysOf({ query, period }: Answers): Record<string, string | undefined> {
  return query.since === undefined && query.until === undefined ? { period: query.period } : { ...period };
}

function filter(shown: Answers): Html {
  const { query, period, sources, rules, campaigns, fields } = shown;
  const { from, to, campaign, values, words, text } = query;
  const known = campaigns.map(([id, name]) => [String(id), name] as const);
  const chosen = campaign?.toString() ?? '';
  const named =
    chosen === '' || known.some(([id]) => id === chosen) ? known : [...known, [chosen, `Campaign ${chosen}`] as const];
  const all = [...new Set([...fields, ...Object.keys(values)])];
  const number = (name: string, label: string, value: number | undefined): Html =>
    html`<div class="short"><label for="${name}">${label}</label><input id="${name}" name="${name}" inputmode="decimal" pattern="-?[0-9.]*" value="${value?.toString() ?? ''}"></div>`;
  const csvAt = pathTo('/answers.csv', { ...daysOf(shown), ...keptIn(query) });
  return html`<form class="filter" method="get" action="/answers" role="search">
<div><label for="since">From day</label><input id="since" name="since" type="date" value="${period.since}"></div>
<div><label for="until">Until day</label><input id="until" name="until" type="date" value="${period.until}"></div>
${number('from', 'Grade from', from)}${number('to', 'to', to)}
<div><label for="campaign">Campaign</label>${select('campaign', [['', 'all'], ...named], chosen)}</div>
${all.map((field, i) => html`<div class="field"><label for="field-${i}">${field}</label><input id="field-${i}" name="${fieldPrefix}${field}" value="${values[field] ?? ''}" maxlength="500"></div>`)}
${sources.length > 1 && html`<div><label for="source">Source</label>${any('source', sources, query.source)}</div>`}
${rules.length > 1 && html`<div><label for="rule">Rule</label>${any('rule', rules, query.rule)}</div>`}
<div class="grow"><label for="text">Words contain</label><input id="text" name="text" type="search" value="${text}" maxlength="500"></div>
<div class="choice"><input type="checkbox" id="words" name="words" value="yes"${checked(words !== undefined)}><label for="words">With words only</label></div>
<button class="main-button">Show</button>
<a class="button" href="/answers">Clear</a>
<a class="button" href="${csvAt}" download>Download CSV</a>
</form>`;
}

const checked = (is: boolean): Content => is && html` checked`;

function any(name: string, all: readonly string[], chosen: string): Html {
  const known = chosen === '' || all.includes(chosen) ? all : [...all, chosen];
  return select(name, [['', 'all'], ...known.map((one) => [one, one] as const)], chosen);
}

function followUpLine({ source, id, followUp }: ShownAnswer, { now, timeZone }: Answers): Content {
  if (followUp === undefined) return undefined;
  return html`<p>Follow-up: <a href="${followUpAt(source, id)}">${sentence(stateInWords(followUp, now), timeZone)}</a></p>`;
}

function nothing({ isCut }: Answers): Html {
  return html`<p class="notice">${isCut ? 'None of these answers fits.' : 'No answer fits.'}</p>`;
}

function further(shown: Answers): Content {
  const { next, isCut, answers, query } = shown;
  if (next === undefined) return undefined;
  const text = isCut ? `Look further back (${answers.length} fit among the answers looked at)` : 'Next page';
  return html`<p class="actions"><a class="button" rel="next" href="${pathTo('/answers', { ...daysOf(shown), ...keptIn(query), after: next })}">${text}</a></p>`;
}
