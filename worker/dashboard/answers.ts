import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { FollowUp, Journey } from '../journey/journey.ts';
import { csv } from '../reports/cells.ts';
import { type AnswerFilter, findAnswers } from '../reports/find-answers.ts';
import { toneOf } from '../reports/grades.ts';
import { instantsOf, type Period } from '../reports/period.ts';
import { stateInWords } from '../support/follow-ups.ts';
import { inZone } from '../support/shown-time.ts';
import { answersAt, fieldPrefix, followUpAt, journeyAt, pathTo, readPlace, writePlace } from './addresses.ts';
import { seesContacts } from './guard.ts';
import { type Content, type Html, html, linked } from './html.ts';
import { type DashboardOptions, show } from './pages.ts';
import { NumberQuery, PeriodQuery, periodOf } from './readings.ts';
import { type ShownAnswer, shownAnswers } from './shown-answer.ts';
import { ago, sentence } from './times.ts';
import { daysInWords } from './views/figures.ts';
import { campaignField, choiceField, dayFields, daysOf, nextPage, periodTabs } from './views/forms.ts';

/** How many answers a page shows, and how many closeloop reads at most to fill the page. */
const size = 50;
const most = 1_000;

const text = z.string().trim().max(500).catch('');
const Query = PeriodQuery.extend({
  from: NumberQuery,
  to: NumberQuery,
  campaign: NumberQuery,
  rule: text,
  source: text,
  words: z.literal('yes').optional().catch(undefined),
  text,
  after: text,
});
type Query = z.output<typeof Query> & { values: Record<string, string> };

/** The most custom fields that one query may filter by. */
const mostFields = 20;

/** Reads the whole filter from the address, so that a person can send the address to a colleague. */
function queryOf(request: FastifyRequest): Query {
  const all = z.record(z.string(), z.unknown()).parse(request.query);
  const values = Object.entries(all).flatMap(([name, value]): [string, string][] => {
    const field = name.startsWith(fieldPrefix) ? name.slice(fieldPrefix.length) : '';
    return field !== '' && typeof value === 'string' && value.trim() !== ''
      ? [[field, value.trim().slice(0, 500)]]
      : [];
  });
  const { from, to, ...query } = Query.parse(all);
  // Grades the wrong way round are put right, as days are.
  const grades = from !== undefined && to !== undefined && from > to ? { from: to, to: from } : { from, to };
  return { ...query, ...grades, values: Object.fromEntries(values.slice(0, mostFields)) };
}

/**
 * `/answers` lists the answers of the customers whom closeloop has asked, with filters; `/answers.csv` gives the same list for a
 * spreadsheet.
 */
export function showAnswers(app: FastifyInstance, options: DashboardOptions): void {
  app.get('/answers', async (request, reply) => {
    const query = queryOf(request);
    const all = await options.engine().sources();
    const period = periodOf(query, options);
    const page = await findAnswers(sourcesIn(all, query), filterOf(query, options), {
      ...{ size, most },
      after: readPlace(query.after),
    });
    const body = answersView({
      answers: await shownAnswers(page.found, { contacts: seesContacts(request) }),
      ...(page.next && { next: writePlace(page.next) }),
      ...{ isCut: page.isCut, query, period, now: options.now(), timeZone: options.config().feedback.timeZone },
      sources: all.map(({ name }) => name),
      ...choicesOf(options, page.found),
    });
    return await show(reply, { title: 'Answers', section: '/answers', body });
  });

  app.get('/answers.csv', async (request, reply) => {
    const query = queryOf(request);
    const { since, until } = periodOf(query, options);
    reply.header('content-disposition', `attachment; filename="closeloop-answers-${since}-to-${until}.csv"`);
    reply.type('text/csv; charset=utf-8');
    return await reply.send(Readable.from(linesOf(query, request)));
  });

  /** Yields the lines of all answers that match the filter, reading as many answers at a time as a page shows. */
  async function* linesOf(query: Query, request: FastifyRequest): AsyncGenerator<string> {
    const sources = sourcesIn(await options.engine().sources(), query);
    const filter = filterOf(query, options);
    const { timeZone } = options.config().feedback;
    const { fields } = choicesOf(options, []);
    // Excel reads a file as UTF-8 only if it begins with this mark.
    yield `\u{feff}${csv([[...columns, ...fields, ...followUpColumns]])}`;
    let after = readPlace(query.after);
    do {
      const page = await findAnswers(sources, filter, { size: 500, most, after });
      const answers = await shownAnswers(page.found, { contacts: seesContacts(request) });
      yield csv(answers.map((one) => cellsOf(one, fields, timeZone)));
      after = page.next;
    } while (after !== undefined);
  }
}

function sourcesIn<In extends { name: string }>(all: readonly In[], { source }: Query): In[] {
  return all.filter(({ name }) => source === '' || source === name);
}

function filterOf(
  { from, to, campaign, rule, words, text, values, ...days }: Query,
  options: DashboardOptions,
): AnswerFilter {
  const { from: since, until } = instantsOf(periodOf(days, options), options.config().feedback.timeZone);
  return {
    ...{ since, until, from, to, campaign, values, text },
    ...(rule !== '' && { rule }),
    ...(words && { hasWords: true }),
  };
}

/** The choices of the filters: what the configuration names, and what the shown answers contain. */
function choicesOf(
  { config, engine }: Pick<DashboardOptions, 'config' | 'engine'>,
  shown: readonly { journey: Journey }[],
) {
  const rules = config().sources.flatMap((source) => source.rules);
  const fields = [
    ...rules.flatMap((rule) => Object.keys(rule.fields)),
    ...shown.flatMap(({ journey: { values = {} } }) => Object.keys(values)),
  ];
  const campaigns = new Map(engine().campaigns.map((id) => [id, `Campaign ${id}`]));
  for (const { journey } of shown) {
    const { campaign, campaignName } = journey;

    if (campaign !== undefined) campaigns.set(campaign, campaignName ?? `Campaign ${campaign}`);
  }
  return {
    fields: [...new Set(fields)],
    campaigns: [...campaigns],
    rules: [...new Set(rules.map(({ name }) => name))],
  };
}

const columns = [
  'answered',
  'grade',
  'of',
  'comment',
  'customer',
  'campaign',
  'source',
  'record',
  'record link',
] as const;
const followUpColumns = ['follow-up', 'follow-up due', 'follow-up by', 'follow-up done'] as const;

function cellsOf(answer: ShownAnswer, fields: readonly string[], timeZone: string): string[] {
  const { at, grade, maxGrade, campaign, campaignName, followUp } = answer;
  const when = (instant: Date | undefined): string => (instant ? inZone(instant.toISOString(), timeZone) : '');
  const values = new Map(answer.values);
  return [
    when(at),
    grade === null ? '' : String(grade),
    maxGrade === undefined ? '' : String(maxGrade),
    answer.comment,
    answer.customer ?? '',
    campaignName === '' ? String(campaign ?? '') : campaignName,
    answer.source,
    answer.record,
    answer.recordUrl ?? '',
    ...fields.map((field) => values.get(field) ?? ''),
    followUp?.state ?? '',
    when(followUp?.dueAt),
    followUp?.doneBy ?? followUp?.takenBy ?? '',
    when(followUp?.doneAt),
  ];
}

/** "2 of 5", and the grade that it was when it opened a follow-up. The colour adds no information to the text. */
export function gradeBadge({ grade, maxGrade, was }: Pick<ShownAnswer, 'grade' | 'maxGrade' | 'was'>): Html {
  const before = was !== undefined && html` <span class="quiet">${was}</span>`;
  if (grade === null) return html`<span class="grade">no grade</span>${before}`;
  return html`<span class="grade ${toneOf(grade, maxGrade)}"><b>${grade}</b>${maxGrade !== undefined && ` of ${maxGrade}`}</span>${before}`;
}

/** The customer's comment, if there is one. */
export function wordsOf({ comment }: Pick<ShownAnswer, 'comment'>): Content {
  return comment !== '' && html`<p class="said">${comment}</p>`;
}

/** An answer in a list, with further content below it. @param kept the visitor's filter, which the links keep */
export function answerCard(
  answer: ShownAnswer,
  { kept, ...clock }: { now: Date; timeZone: string; kept: Kept },
  below?: Content,
): Html {
  const { at, comment } = answer;
  return html`<li class="card"><p class="card-head">${gradeBadge(answer)} <span class="quiet">${comment === '' && 'without words · '}${at && ago(at, clock.now, clock.timeZone)}</span></p>
${wordsOf(answer)}
${aboutAnswer(answer, kept)}${below}</li>`;
}

type Kept = Readonly<Record<string, string | undefined>>;

/** The customer, the campaign and the values. Each links to the answers that share it. */
export function aboutAnswer(answer: ShownAnswer, kept: Kept = {}): Html {
  const { customer, campaign, campaignName, values, isTest } = answer;
  const parts: Content[] = [
    isTest && html`<strong>Test</strong>`,
    customer,
    ...values.map(
      ([field, value]) => value !== '' && html`${field} <a href="${answersAt(kept, { [field]: value })}">${value}</a>`,
    ),
    campaign !== undefined &&
      html`<a href="${answersAt({ ...kept, campaign: String(campaign) })}">${campaignName === '' ? `Campaign ${campaign}` : campaignName}</a>`,
    recordLinks(answer),
  ];
  const shown = parts.filter((one) => one !== false && one !== undefined && one !== '');
  return html`<p class="quiet about">${shown.map((one, i) => html`${i > 0 && ' · '}${one}`)}</p>`;
}

/** Links to the record at its vendor, and to the journey. */
function recordLinks({ source, id, record, recordUrl }: ShownAnswer): Html {
  return html`${linked(`${source} ${record}`, recordUrl)} (<a href="${journeyAt(source, id)}">journey</a>)`;
}

interface Answers {
  answers: readonly ShownAnswer[];
  /** The place after which the next page begins. */
  next?: string;
  /** Whether closeloop stopped reading before the last answer. */
  isCut: boolean;
  query: Query;
  period: Period;
  sources: readonly string[];
  rules: readonly string[];
  campaigns: readonly (readonly [id: number, name: string])[];
  fields: readonly string[];
  now: Date;
  timeZone: string;
}

function answersView(shown: Answers): Html {
  const { answers, period, query, now, timeZone } = shown;
  const card = { now, timeZone, kept: { ...daysOf(shown), ...keptIn(query) } };
  // Only a list of one page tells how many there are.
  const isWhole = shown.next === undefined && !shown.isCut && query.after === '';
  return html`${periodTabs('/answers', query, keptIn(query))}
${filter(shown)}
<p><strong>${daysInWords(period)}</strong> <span class="quiet">in days of ${timeZone}: answers given or changed then, the newest first, of customers that closeloop has asked.</span>${isWhole && answers.length > 0 && html` ${answers.length} ${answers.length === 1 ? 'answer' : 'answers'}.`}</p>
${leagues(shown)}
${answers.length === 0 ? nothing(shown) : html`<ul class="cards">${answers.map((one) => answerCard(one, card, one.followUp && html`<p>Follow-up: ${followUpLink(one.source, one, shown)}</p>`))}</ul>`}
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
function keptIn({ from, to, campaign, rule, source, words, text, values }: Query): Record<string, string | undefined> {
  const fields = Object.entries(values).map(([field, value]) => [`${fieldPrefix}${field}`, value]);
  return {
    ...{ from: from?.toString(), to: to?.toString(), campaign: campaign?.toString(), rule, source, words, text },
    ...Object.fromEntries(fields),
  };
}

function filter(shown: Answers): Html {
  const { query, period, sources, rules, campaigns, fields } = shown;
  const { from, to, campaign, values, words, text } = query;
  const all = [...new Set([...fields, ...Object.keys(values)])];
  const number = (name: string, label: string, value: number | undefined): Html =>
    html`<div class="short"><label for="${name}">${label}</label><input id="${name}" name="${name}" inputmode="decimal" pattern="-?[0-9.]*" value="${value?.toString() ?? ''}"></div>`;
  const csvAt = pathTo('/answers.csv', { ...daysOf(shown), ...keptIn(query) });
  return html`<form class="filter" method="get" action="/answers" role="search">
${dayFields(period, ['From day', 'Until day'])}
${number('from', 'Grade from', from)}${number('to', 'to', to)}
${campaignField(campaigns, campaign)}
${all.map((field, i) => html`<div class="field"><label for="field-${i}">${field}</label><input id="field-${i}" name="${fieldPrefix}${field}" value="${values[field] ?? ''}" maxlength="500"></div>`)}
${sources.length > 1 && choiceField('source', 'Source', sources, { chosen: query.source, none: 'all' })}
${rules.length > 1 && choiceField('rule', 'Rule', rules, { chosen: query.rule, none: 'all' })}
<div class="grow"><label for="text">Words contain</label><input id="text" name="text" type="search" value="${text}" maxlength="500"></div>
<div class="choice"><input type="checkbox" id="words" name="words" value="yes"${words !== undefined && html` checked`}><label for="words">With words only</label></div>
<button class="main-button">Show</button>
<a class="button" href="/answers">Clear</a>
<a class="button" href="${csvAt}" download>Download CSV</a>
</form>`;
}

/** A link to the follow-up that an answer has opened. Its text says the follow-up's state. */
export function followUpLink(
  source: string,
  { id, followUp }: { id: string; followUp?: FollowUp | undefined },
  { now, timeZone }: { now: Date; timeZone: string },
): Content {
  return followUp && html`<a href="${followUpAt(source, id)}">${sentence(stateInWords(followUp, now), timeZone)}</a>`;
}

function nothing({ isCut }: Answers): Html {
  return html`<p class="notice">${isCut ? 'None of these answers fits.' : 'No answer fits.'}</p>`;
}

function further(shown: Answers): Content {
  const { next, isCut, answers, query } = shown;
  if (next === undefined) return undefined;
  const text = isCut ? `Look further back (${answers.length} fit among the answers looked at)` : undefined;
  return nextPage(pathTo('/answers', { ...daysOf(shown), ...keptIn(query), after: next }), text);
}
