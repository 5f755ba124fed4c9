import type { Journey } from '../../journey/journey.ts';
import { gradeInWords } from '../../journey/outcomes.ts';
import { skipReasons } from '../../journey/reasons.ts';
import { refOf } from '../../journey/refs.ts';
import { journeyStates } from '../../journey/states.ts';
import { askedContactOf } from '../../journey/transitions.ts';
import { journeyAt, listAt } from '../addresses.ts';
import { type Content, type Html, html } from '../html.ts';
import { shownContact } from '../shown-contact.ts';
import { ago, sentence, time } from '../times.ts';
import { searchForm, select } from './forms.ts';
import { manyLinks, manyTold, selectedName, type ToldOfMany } from './many.ts';
import { stateBadge, stateChoices } from './state.ts';
import { type Column, table as dataTable } from './table.ts';

export interface ListedJourney {
  source: string;
  /** The word for the source's records: "ticket". */
  recordNoun?: string | undefined;
  journey: Journey;
}

interface List {
  journeys: readonly ListedJourney[];
  /** The place after which the next page begins. */
  next?: string;
  /** Whether closeloop stopped reading before the last journey. */
  isCut: boolean;
  isSearch: boolean;
  query: Readonly<Record<string, string | undefined>>;
  sources: readonly string[];
  rules: readonly string[];
  /** Whether customers' addresses are shown in full. */
  contacts: boolean;
  /** Whether the visitor sees buttons. */
  mayAct: boolean;
  /** The result of the action that the person has just done with many journeys. */
  told: ToldOfMany;
  now: Date;
  timeZone: string;
}

export function journeysView(list: List): Html {
  const { query, isSearch } = list;
  return html`${manyTold(list.told)}${search}
${isSearch ? html`<p><a href="/journeys">All journeys</a></p>` : filter(list)}
${list.journeys.length === 0 ? nothing(list) : table(list)}
${further(list, query)}`;
}

const search = searchForm({
  action: '/journeys/search',
  label: 'E-mail address, phone number, identifier, record (or the address of its page), request or journey',
  button: 'Find',
});

function filter({ query, sources, rules }: List): Html {
  return html`<form class="filter" method="get" action="/journeys">
<div><label for="state">State</label>${select('state', [['', 'any'], ...stateChoices], query.state)}</div>
${sources.length > 1 && html`<div><label for="source">Source</label>${any('source', sources, query.source)}</div>`}
<div><label for="rule">Rule</label>${any('rule', [...new Set([...rules, ...(query.rule ? [query.rule] : [])])], query.rule)}</div>
<div><label for="reason">Reason contains</label>
<input id="reason" name="reason" value="${query.reason ?? ''}" list="reasons" maxlength="200">
<datalist id="reasons">${skipReasons.map((reason) => html`<option value="${reason}"></option>`)}</datalist></div>
${query.cause && html`<input type="hidden" name="cause" value="${query.cause}">`}
<div><label for="since">From</label><input id="since" name="since" type="date" value="${query.since ?? ''}"></div>
<div><label for="until">Until</label><input id="until" name="until" type="date" value="${query.until ?? ''}"></div>
<button>Show</button>
</form>`;
}

function any(name: string, all: readonly string[], chosen: string | undefined): Html {
  return select(name, [['', 'any'], ...all.map((one) => [one, one] as const)], chosen);
}

function nothing({ isCut, isSearch }: List): Html {
  if (isSearch)
    return html`<p class="notice">No journey is known of that. A closing that has just come in may wait in the queue: see <a href="/operations">Operations</a>.</p>`;
  if (isCut) return html`<p class="notice">None of these journeys fits.</p>`;
  return html`<p class="notice">No journeys fit.</p>`;
}

const columns: readonly Column[] = [
  { name: 'Journey', kind: 'ref' },
  { name: 'Customer', kind: 'ref' },
  { name: 'State' },
  { name: 'Why' },
  { name: 'Agent, store …' },
  { name: 'Rule' },
  { name: 'Changed' },
];

function table(list: List): Html {
  const { journeys, timeZone } = list;
  const shown = dataTable({
    name: 'Journeys',
    caption: `Last changed first; those that wait, last due first. Times in ${timeZone}.`,
    columns,
    rows: journeys.map((one) => row(one, list)),
  });
  if (!list.mayAct) return shown;
  const { state } = list.query;
  const of = journeyStates.find((one) => one === state);
  return html`<form method="get" action="/many/replay">${shown}${manyLinks(list.query, of)}</form>`;
}

function row({ source, recordNoun, journey }: ListedJourney, { contacts, mayAct, now, timeZone }: List): Content[] {
  const { id, state, updatedAt, rule, values = {} } = journey;
  const contact = askedContactOf(journey);
  return [
    html`${mayAct && checkbox(refOf(source, id))}<a href="${journeyAt(source, id)}">${refOf(source, id)}</a>`,
    contact ? shownContact(contact, contacts) : '–',
    stateBadge(state, recordNoun),
    whyOf(journey, timeZone),
    Object.values(values).map(String).filter(Boolean).join(' · '),
    rule ?? '–',
    ago(updatedAt, now, timeZone),
  ];
}

function checkbox(ref: string): Html {
  return html`<input type="checkbox" name="${selectedName(ref)}" value="on" aria-label="Select ${ref}"> `;
}

function whyOf({ state, why, dueAt, answer, maxGrade }: Journey, timeZone: string): Content {
  if (state === 'waiting' && dueAt) return html`asks ${time(dueAt, timeZone)}`;
  if (why !== undefined) return sentence(why, timeZone);
  return answer && `grade ${gradeInWords({ answer, maxGrade }) ?? '–'}`;
}

function further({ next, isCut, isSearch, journeys }: List, query: List['query']): Content {
  if (next === undefined)
    return isSearch && isCut
      ? html`<p class="notice">There are earlier closings of this customer than are looked at here.</p>`
      : undefined;
  const text = isCut ? `Look further back (${journeys.length} fit among the journeys looked at)` : 'Next page';
  return html`<p class="actions"><a class="button" rel="next" href="${listAt({ ...query, after: next })}">${text}</a></p>`;
}
