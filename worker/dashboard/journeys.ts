import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Source } from '../../core/connector/contract.ts';
import { contactKey, parseContact } from '../../core/contact.ts';
import type { Journey } from '../journey/journey.ts';
import { addressDigest } from '../journey/journey-keys.ts';
import { gradeInWords } from '../journey/outcomes.ts';
import { skipReasons } from '../journey/reasons.ts';
import { refOf } from '../journey/refs.ts';
import { type JourneyState, journeyStates } from '../journey/states.ts';
import type { JourneyStore } from '../journey/store.ts';
import { askedContactOf } from '../journey/transitions.ts';
import { instant } from '../support/instant.ts';
import { recordIn, type Searched, withinSource } from '../support/journey-filter.ts';
import { isBefore, journeyPage } from '../support/journey-pages.ts';
import { findAnywhere, type Repair } from '../support/repair.ts';
import { journeyAt, listAt, manyAt, readPlace, writePlace } from './addresses.ts';
import { mayAct, seesContacts } from './guard.ts';
import { type Content, type Html, html } from './html.ts';
import { causeOf } from './last-work.ts';
import { type DashboardOptions, show } from './pages.ts';
import { shownContact } from './shown-answer.ts';
import { ago, sentence, time } from './times.ts';
import { choiceField, dayFields, hidden, nextPage, searchForm, told } from './views/forms.ts';
import { type Column, table as dataTable, journeyLink, named, stateBadge, stateChoices } from './views/table.ts';

/** How many journeys a page shows, and how many closeloop reads at most to fill the page. */
const size = 50;
const most = 1_000;
const text = z.string().trim().max(1_000).optional().catch(undefined);
const day = z.iso.date().optional().catch(undefined);
/** The query of the list's address. It identifies nobody: `person` is a keyed digest. */
const Query = z.object({
  state: z.enum(journeyStates).optional().catch(undefined),
  source: text,
  rule: text,
  reason: text,
  /** The cause of an issue: reasons that differ only in instants and numbers have the same cause. */
  cause: text,
  since: day,
  until: day,
  person: text,
  record: text,
  request: text,
  after: text,
});
export type ListQuery = z.output<typeof Query>;

export function queryOf(fields: unknown): ListQuery {
  return Query.parse(fields);
}

/** The actions that a person may do with many journeys at once. Each does the same as on a journey's page. */
export const manyActions = ['replay', 'ask-now', 'cancel'] as const satisfies readonly Repair[];
export type ManyAction = (typeof manyActions)[number];

const count = z
  .string()
  .regex(/^\d{1,6}$/)
  .optional()
  .catch(undefined);
/**
 * The action that the person has just done: on how many journeys it was done, on how many it was not possible, and how many further
 * journeys match the filter.
 */
const ManyResult = z.object({
  did: z.enum(manyActions).optional().catch(undefined),
  done: count,
  refused: count,
  left: count,
});

const Search = z.object({ q: z.string().trim().max(1_000).catch('') });

type Options = Pick<DashboardOptions, 'engine' | 'config' | 'now' | 'seal'>;

/** `/journeys`: the list of journeys, and the search by what a person knows of a customer. */
export function listJourneys(app: FastifyInstance, options: Options): void {
  app.get('/journeys', async (request, reply) => {
    const query = queryOf(request.query);
    const all = await options.engine().sources();
    const page = await journeysOf(query, options, { size, most });
    const rules = [...new Set(all.flatMap((context) => context.rules.map(({ name }) => name)))];
    const { timeZone } = options.config().feedback;
    const body = journeysView({
      ...{ ...page, query, timeZone, rules, now: options.now(), contacts: seesContacts(request) },
      ...{ isSearch: isSearch(query), mayAct: mayAct(request), told: ManyResult.parse(request.query) },
      sources: all.map(({ name }) => name),
    });
    return await show(reply, { title: 'Journeys', section: '/journeys', body });
  });
  // The search is a POST, as browsers and proxies keep addresses of pages, and the searched text may be a customer's address.
  app.post('/journeys/search', { config: { access: 'read', isSearch: true } }, async (request, reply) => {
    const { q } = Search.parse(request.body ?? {});
    return await reply.redirect(q === '' ? '/journeys' : await addressOf(q, options), 303);
  });
}

function isSearch({ person, record, request }: ListQuery): boolean {
  return [person, record, request].some((one) => (one ?? '') !== '');
}

interface Extent {
  /** How many journeys the caller wants, and how many closeloop reads at most to find them. */
  size: number;
  most: number;
}

/** The journeys that match the query of a list's address. */
export async function journeysOf(query: ListQuery, { engine, config, now }: Omit<Options, 'seal'>, extent: Extent) {
  const { source = '' } = query;
  // A link from before a rename has the source's earlier name.
  const sources = (await engine().sources()).filter(
    ({ name, storedAs }) => source === '' || source === name || source === storedAs,
  );
  if (isSearch(query)) return await searched(sources, query, extent);
  return await listed(sources, query, { ...extent, timeZone: config().feedback.timeZone, now: now() });
}

async function listed(
  sources: readonly Searched[],
  { state, rule, reason, cause, since, until, after }: ListQuery,
  { size, most, ...clock }: Extent & { timeZone: string; now: Date },
): Promise<{ journeys: ListedJourney[]; next?: string; isCut: boolean }> {
  const page = await journeyPage(sources, {
    lists: state === undefined ? journeyStates : [state],
    fits: fitting({ rule, reason, cause }),
    since: since === undefined ? undefined : instant(since, 'From', clock),
    until: until === undefined ? undefined : instant(dayAfter(until), 'Until', clock),
    after: readPlace(after),
    size,
    most,
  });
  const journeys = page.found.map(({ journey, context }) => ({ source: context.name, journey }));
  return { journeys, isCut: page.isCut, ...(page.next && { next: writePlace(page.next) }) };
}

function fitting({
  rule = '',
  reason = '',
  cause = '',
}: Pick<ListQuery, 'rule' | 'reason' | 'cause'>): (journey: Journey) => boolean {
  const part = reason.toLowerCase();
  return (journey) =>
    (rule === '' || journey.rule === rule) &&
    (cause === '' || causeOf(journey.why ?? '') === cause) &&
    (part === '' || journey.reason === part || (journey.why ?? '').toLowerCase().includes(part));
}

/**
 * One page of the journeys that a search found, last changed first. For a person the search covers the newest `most` closings in each
 * source.
 */
async function searched(
  sources: readonly Searched[],
  { person = '', record = '', request = '', state, rule, reason, cause, after }: ListQuery,
  { size, most }: Extent,
): Promise<{ journeys: ListedJourney[]; next?: string; isCut: boolean }> {
  const fits = fitting({ rule, reason, cause });
  let isCut = false;
  const lists = await Promise.all(
    sources.map(async ({ name, store }) => {
      const known = person === '' ? undefined : await store.queries.newestKnownBy({ digest: person }, most);
      isCut ||= known !== undefined && known.count > most;
      const found = [
        ...(known?.journeys ?? []),
        ...(record === '' ? [] : await store.records.journeysOf(record)),
        ...(request === '' ? [] : await ofRequest(store, request)),
      ];
      return [...new Map(found.map((journey) => [journey.id, { source: name, journey }])).values()];
    }),
  );
  const place = readPlace(after);
  const behind = lists
    .flat()
    .filter(({ journey }) => (state === undefined || journey.state === state) && fits(journey))
    .map((one) => ({ one, at: one.journey.updatedAt.getTime(), ref: refOf(one.source, one.journey.id) }))
    .filter((one) => place === undefined || isBefore(place, one))
    .sort((a, b) => (isBefore(a, b) ? -1 : 1));
  const last = behind.length > size ? behind[size - 1] : undefined;
  const journeys = behind.slice(0, size).map(({ one }) => one);
  return last ? { journeys, next: writePlace(last), isCut: false } : { journeys, isCut };
}

async function ofRequest(store: JourneyStore, request: string): Promise<Journey[]> {
  const [id] = await store.requests.journeyIdsOf([request]);
  return id === undefined ? [] : await store.those([id]);
}

/** The record whose page at its vendor has this address; undefined where the address belongs to no record. */
function recordAt({ source }: { source: Pick<Source, 'recordUrl'> }, address: URL): string | undefined {
  const asWritten = (url: URL | null): string | undefined => url?.href.replace(/[?#].*$/s, '').replace(/\/+$/, '');
  const parts = address.pathname.split('/').map((part) => decodedPart(part));
  return parts.find((id) => id !== '' && asWritten(URL.parse(source.recordUrl?.(id) ?? '')) === asWritten(address));
}

function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address at which the list shows what this text names: a journey, a record, a feedback request or, by a digest, a person. */
async function addressOf(q: string, { engine, seal, config }: Options): Promise<string> {
  const named = await findAnywhere(engine(), q).catch(() => undefined);
  if (named) return journeyAt(named.context.name, named.journey.id);
  const address = /^https?:/.test(q) ? URL.parse(q) : null;
  let record: string | undefined;
  let request: string | undefined;
  let source: string | undefined;
  for (const context of await engine().sources()) {
    const { name, store } = context;
    const known = address && recordAt(context, address);
    const id = known ?? recordIn(context, q);
    if ((await store.records.journeysOf(id)).length > 0) {
      record = id;
      if (known !== undefined || withinSource(context, q) !== undefined) source = name;
    }
    if ((await store.requests.journeyIdsOf([q]))[0] !== undefined) request = q;
  }
  const { defaultCountry } = config();
  return listAt({
    person: addressDigest(seal, contactKey(parseContact(q, { defaultCountry }))),
    record,
    request,
    source,
  });
}

function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}

interface ListedJourney {
  source: string;
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
  told: z.output<typeof ManyResult>;
  now: Date;
  timeZone: string;
}

function journeysView(list: List): Html {
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
${choiceField('state', 'State', stateChoices, { chosen: query.state, none: 'any' })}
${sources.length > 1 && choiceField('source', 'Source', sources, { chosen: query.source, none: 'any' })}
${choiceField('rule', 'Rule', rules, { chosen: query.rule, none: 'any' })}
<div><label for="reason">Reason contains</label>
<input id="reason" name="reason" value="${query.reason ?? ''}" list="reasons" maxlength="200">
<datalist id="reasons">${skipReasons.map((reason) => html`<option value="${reason}"></option>`)}</datalist></div>
${query.cause && hidden('cause', query.cause)}
${dayFields(query)}
<button>Show</button>
</form>`;
}

function nothing({ isCut, isSearch }: List): Html {
  if (isSearch)
    return html`<p class="notice">No journey is known of that. A closing that has just come in may wait in the queue: see <a href="/operations">Operations</a>.</p>`;
  if (isCut) return html`<p class="notice">None of these journeys fits.</p>`;
  return html`<p class="notice">No journeys fit.</p>`;
}

const columns: readonly Column[] = [
  named('Journey'),
  named('Customer'),
  'State',
  'Why',
  'Agent, store …',
  'Rule',
  'Changed',
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

function row({ source, journey }: ListedJourney, { contacts, mayAct, now, timeZone }: List): Content[] {
  const { id, state, updatedAt, rule, values = {} } = journey;
  const contact = askedContactOf(journey);
  return [
    html`${mayAct && checkbox(refOf(source, id))}${journeyLink(source, id)}`,
    contact ? shownContact(contact, contacts) : '–',
    stateBadge(state),
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
  const text = isCut ? `Look further back (${journeys.length} fit among the journeys looked at)` : undefined;
  return nextPage(listAt({ ...query, after: next }), text);
}

export const manyTitles: Record<ManyAction, string> = {
  replay: 'Replay',
  'ask-now': 'Ask now about',
  cancel: 'Cancel',
};
const didWords: Record<ManyAction, string> = {
  replay: 'taken up again',
  'ask-now': 'asked as soon as they may be',
  cancel: 'cancelled',
};

/** The actions that may help journeys in a state. */
const ofState: Partial<Record<JourneyState, readonly ManyAction[]>> = {
  failed: ['replay', 'cancel'],
  parked: ['replay', 'cancel'],
  skipped: ['replay'],
  waiting: ['ask-now', 'cancel'],
  asked: ['cancel'],
};

/** The prefix of a selected journey's reference in a form, and the name of its checkbox. */
export const selectedPrefix = 'j.';
const selectedName = (ref: string): string => `${selectedPrefix}${ref}`;

/** The actions on the selected journeys of a list, and on all journeys that match its filter. */
function manyLinks(query: Readonly<Record<string, string | undefined>>, state: JourneyState | undefined): Content {
  const { after: _, ...filter } = query;
  const fitting = (state && ofState[state]) ?? [];
  return html`${Object.entries(filter).map(([name, value]) => value && hidden(name, value))}<p class="actions">With the selected: ${manyActions.map((action) => html`<button formaction="/many/${action}">${manyTitles[action]}…</button> `)}</p>
${fitting.length > 0 && html`<p class="actions">With all that fit: ${fitting.map((action) => html`<a class="button" href="${manyAt(action, filter)}">${manyTitles[action]} all…</a> `)}</p>`}`;
}

/** The sentence above the list about the action that the person has just done. */
function manyTold({ did, done = '0', refused = '0', left = '0' }: z.output<typeof ManyResult>): Content {
  if (did === undefined) return undefined;
  return told(
    html`${done} ${done === '1' ? 'journey was' : 'journeys were'} ${didWords[did]}.${refused !== '0' && ` ${refused} could not have it: they are as they were.`}${left !== '0' && ` ${left} more fit: do it once more.`}`,
  );
}
