import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { csv } from '../reports/cells.ts';
import { type AnswerFilter, findAnswers } from '../reports/find-answers.ts';
import { instantsOf } from '../reports/period.ts';
import { stateInWords } from '../support/follow-ups.ts';
import { inZone } from '../support/shown-time.ts';
import { fieldPrefix, readPlace, writePlace } from './addresses.ts';
import { seesContacts } from './guard.ts';
import type { DashboardOptions } from './options.ts';
import { show } from './pages.ts';
import { NumberQuery, PeriodQuery, periodOf } from './period-query.ts';
import { type ShownAnswer, shownAnswers } from './shown-answer.ts';
import { answersView } from './views/answers.ts';

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
  return { ...Query.parse(all), values: Object.fromEntries(values.slice(0, mostFields)) };
}

/** `/answers` lists the answers of the customers whom closeloop has asked, with filters; `/answers.csv` gives the same list for a spreadsheet. */
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
      ...choicesOf(
        options,
        page.found.map(({ journey }) => journey),
      ),
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
    yield `\u{feff}${csv([[...columns, ...fields, 'follow-up']])}`;
    let after = readPlace(query.after);
    do {
      const page = await findAnswers(sources, filter, { size: 500, most, after });
      const answers = await shownAnswers(page.found, { contacts: seesContacts(request) });
      yield csv(answers.map((one) => cellsOf(one, fields, { timeZone, now: options.now() })));
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

interface Known {
  campaign?: number | undefined;
  campaignName?: string | undefined;
  values?: Readonly<Record<string, unknown>> | undefined;
}

/** The choices of the filters: what the configuration names, and what the shown answers contain. */
function choicesOf({ config, engine }: Pick<DashboardOptions, 'config' | 'engine'>, shown: readonly Known[]) {
  const rules = config().sources.flatMap((source) => source.rules);
  const fields = [
    ...rules.flatMap((rule) => Object.keys(rule.fields)),
    ...shown.flatMap(({ values = {} }) => Object.keys(values)),
  ];
  const campaigns = new Map(engine().campaigns.map((id) => [id, `Campaign ${id}`]));
  for (const { campaign, campaignName } of shown)
    if (campaign !== undefined) campaigns.set(campaign, campaignName ?? `Campaign ${campaign}`);
  return {
    fields: [...new Set(fields)],
    campaigns: [...campaigns],
    rules: [...new Set(rules.map(({ name }) => name))],
  };
}

const columns = ['answered', 'grade', 'of', 'comment', 'customer', 'campaign', 'source', 'record', 'address'] as const;

function cellsOf(
  answer: ShownAnswer,
  fields: readonly string[],
  { timeZone, now }: { timeZone: string; now: Date },
): string[] {
  const {
    at,
    grade: given,
    maxGrade,
    comment,
    customer,
    campaign,
    campaignName,
    source,
    record,
    recordUrl,
    followUp,
  } = answer;
  const values = new Map(answer.values);
  return [
    at === undefined ? '' : inZone(at.toISOString(), timeZone),
    given === null ? '' : String(given),
    maxGrade === undefined ? '' : String(maxGrade),
    comment,
    customer ?? '',
    campaignName === '' ? String(campaign ?? '') : campaignName,
    source,
    record,
    recordUrl ?? '',
    ...fields.map((field) => values.get(field) ?? ''),
    followUp === undefined ? '' : inZone(stateInWords(followUp, now), timeZone),
  ];
}
