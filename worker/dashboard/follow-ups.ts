import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';
import { minutesInWords } from '../../core/schedule/duration.ts';
import { type FollowUpDeed, isOverdue } from '../journey/follow-up.ts';
import type { FollowUp } from '../journey/journey.ts';
import { refOf } from '../journey/refs.ts';
import { type FollowedSource, type FollowUpFigures, followUpReport } from '../reports/follow-ups.ts';
import {
  changeFollowUp,
  countFollowUps,
  dueInWords,
  type FollowUpFilter,
  type FoundFollowUp,
  followUpPage,
  personInWords,
} from '../support/follow-ups.ts';
import { findAnywhere } from '../support/repair.ts';
import { followUpAt, localAddress, pathTo, readPlace, writePlace } from './addresses.ts';
import { aboutAnswer, gradeBadge, wordsOf } from './answers.ts';
import { Audit } from './audit.ts';
import { formToken, mayAct, nameOf, seesContacts } from './guard.ts';
import { type Content, type Html, html } from './html.ts';
import { journeyOf } from './journey.ts';
import { type DashboardOptions, show } from './pages.ts';
import { periodOf } from './readings.ts';
import { RecentReadings } from './recent-readings.ts';
import { type AnsweredSource, type ShownAnswer, shownAnswers } from './shown-answer.ts';
import { ago, moment } from './times.ts';
import { count, countChange, percent } from './views/figures.ts';
import { choiceField, hidden, nextPage, tabs, told } from './views/forms.ts';

/** The follow-ups on one page. */
const size = 25;
/** The most follow-ups that closeloop reads for one page. */
const most = 1_000;
/** The most follow-ups that closeloop reads for the figures above the list, and how long a page waits for these figures. */
const mostCounted = 300;
const patienceMs = 150;

type Report = Awaited<ReturnType<typeof followUpReport>>;

const deeds = ['take', 'done', 'reopen'] as const;
const text = z.string().trim().max(1_000).catch('');
const Query = z.object({
  show: z.enum(['open', 'overdue', 'mine', 'done']).catch('open'),
  source: text,
  after: text,
  /** The action that the person has just done, and the follow-up's name. */
  did: z.enum(deeds).optional().catch(undefined),
  of: text,
});

type FollowUpQuery = z.output<typeof Query>;

const Deed = z.object({ deed: z.enum(deeds) });
const Form = z.object({
  to: z.string().max(4_000).catch('/follow-ups'),
  outcome: z.string().trim().max(2_000).catch(''),
});

/** `/follow-ups`: the customers who wait for a person because of their answer, and what people do about each. */
export function showFollowUps(app: FastifyInstance, options: DashboardOptions): void {
  listFollowUps(app, options);
  showOne(app, options);
  takeDeeds(app, options);
}

const page = { title: 'Follow-up', section: '/follow-ups' };

function listFollowUps(app: FastifyInstance, options: DashboardOptions): void {
  const report = reportOf(options);
  app.get('/follow-ups', async (request, reply) => {
    const query = Query.parse(request.query);
    const all = await options.engine().sources();
    const sources = all.filter(({ name }) => query.source === '' || query.source === name);
    const now = options.now();
    const [{ found, next, isCut }, counts, { value }] = await Promise.all([
      followUpPage(sources, filterOf(query, request), { now, size, most, after: readPlace(query.after) }),
      countFollowUps(sources, now),
      report(sources, query.source),
    ]);
    const body = followUpsView({
      ...(await shownOf(found, request, options)),
      counts,
      told: await toldOf(query, options),
      isCut,
      report: value,
      query,
      ...(next && { next: writePlace(next) }),
      sources: all.map(({ name }) => name),
      csrf: mayAct(request) ? formToken(reply) : undefined,
    });
    return await show(reply, { ...page, body });
  });
}

/** Reads the figures of the last thirty days, at most once a minute, because it has to read many journeys. */
function reportOf(options: DashboardOptions) {
  const readings = new RecentReadings<Report>({ patienceMs, now: options.now });
  return async (sources: readonly FollowedSource[], source: string) => {
    const { timeZone } = options.config().feedback;
    const period = periodOf({}, options);
    const reading = { timeZone, now: options.now(), most: mostCounted };
    const question = `${period.since} ${period.until} ${source}`;
    return await readings.get(question, async () => await followUpReport(sources, period, reading));
  };
}

function showOne(app: FastifyInstance, options: DashboardOptions): void {
  app.get('/follow-ups/:source/:id', async (request, reply) => {
    const { journey, context } = await journeyOf(request, options);
    const { followUp } = journey;
    if (followUp === undefined) return reply.callNotFound();
    const query = Query.parse(request.query);
    const body = followUpsView({
      ...(await shownOf([{ followUp, journey, context }], request, options)),
      ...{ query, told: await toldOf(query, options) },
      sources: [],
      csrf: mayAct(request) ? formToken(reply) : undefined,
    });
    return await show(reply, { ...page, title: `Follow-up ${refOf(context.name, journey.id)}`, body });
  });
}

function takeDeeds(app: FastifyInstance, options: DashboardOptions): void {
  const audit = new Audit(options.redis);
  app.post('/follow-ups/:source/:id/:deed', async (request, reply) => {
    const { deed } = Deed.safeParse(request.params).data ?? {};
    if (deed === undefined) return reply.callNotFound();
    const { journey, context } = await journeyOf(request, options);
    const ref = refOf(context.name, journey.id);
    const { to, outcome } = Form.parse(request.body);
    const by = nameOf(request);
    const at = options.now();
    await audit.noting({ at, who: by, what: `follow-up: ${deed}`, about: ref }, () =>
      changeFollowUp(journey, { by, at, ...deedOf(deed, outcome) }, context),
    );
    return await reply.redirect(withDeed(localAddress(to), deed, ref), 303);
  });
}

async function shownOf(
  found: readonly FoundFollowUp<AnsweredSource>[],
  request: FastifyRequest,
  { now, config }: DashboardOptions,
) {
  const answers = await shownAnswers(found, { contacts: seesContacts(request) });
  return { answers, me: nameOf(request), now: now(), timeZone: config().feedback.timeZone };
}

/**
 * What has become of the follow-up that the address names, if it is as the address says: anybody may open the address, later, or may have
 * written it.
 */
async function toldOf({ did, of }: FollowUpQuery, { engine }: Pick<DashboardOptions, 'engine'>): Promise<Content> {
  if (did === undefined) return undefined;
  const found = await findAnywhere(engine(), of).catch((error: unknown) => {
    if (error instanceof CloseloopError && error.advice.kind === 'permanent') return undefined;
    throw error;
  });
  const { state, takenBy, doneBy } = found?.journey.followUp ?? {};
  if (found === undefined || state !== states[did]) return undefined;
  const which = html`<a href="${followUpAt(found.context.name, found.journey.id)}">${refOf(found.context.name, found.journey.id)}</a>`;
  if (state === 'open') return told(html`${which} is open again.`);
  return told(html`${state === 'taken' ? takenBy : doneBy} has ${state} ${which}.`);
}

const states = { take: 'taken', done: 'done', reopen: 'open' } as const;

function filterOf({ show }: FollowUpQuery, request: FastifyRequest): FollowUpFilter {
  return {
    done: show === 'done',
    overdue: show === 'overdue',
    ...(show === 'mine' && { mine: nameOf(request) }),
  };
}

/** @throws CloseloopError config if the person completes a follow-up and does not say what was done */
function deedOf(deed: (typeof deeds)[number], outcome: string): FollowUpDeed {
  if (deed !== 'done') return { do: deed };
  if (outcome === '') throw new CloseloopError('Say what was done, then send the form again.', { kind: 'config' });
  return { do: deed, outcome };
}

/** The address of the page with the form, which then shows what was done. */
function withDeed(address: string, did: string, of: string): string {
  const [path = '/', query] = address.split('?');
  return pathTo(path, { ...Object.fromEntries(new URLSearchParams(query)), did, of });
}

interface FollowUps {
  answers: readonly ShownAnswer[];
  /** Left out: the page shows a single follow-up. */
  counts?: { open: number; overdue: number };
  /** The figures of thirty days; undefined: closeloop has not counted them yet. */
  report?: { now: FollowUpFigures; before: FollowUpFigures; isCut: boolean } | undefined;
  query: FollowUpQuery;
  /** The message about what the person has just done. */
  told: Content;
  /** The place after which the next page begins. */
  next?: string;
  /** Whether closeloop stopped reading before the last follow-up. */
  isCut?: boolean;
  sources: readonly string[];
  /** The visitor's name, with which the visitor takes a follow-up. */
  me: string;
  /** Undefined: the visitor may not act. */
  csrf: string | undefined;
  now: Date;
  timeZone: string;
}

function followUpsView(shown: FollowUps): Html {
  const { answers, counts, query, next } = shown;
  return html`${shown.told}
${counts && followUpTabs(counts, query)}
${counts && sourceFilter(shown)}
${shown.report && figures(shown.report)}
${answers.length === 0 ? html`<p class="notice good">${nothing[query.show]}</p>` : html`<ul class="cards">${answers.map((one) => card(one, shown))}</ul>`}
${next !== undefined && nextPage(addressOf(query, { after: next }), shown.isCut ? 'Look further' : undefined)}
${counts === undefined && html`<p><a href="/follow-ups">All follow-ups</a></p>`}`;
}

function figures({ now, before, isCut }: NonNullable<FollowUps['report']>): Content {
  if (now.opened === 0 && before.opened === 0) return undefined;
  const { firstActionMs, untaken, gradedAgain, recovered } = now;
  const due = now.done + now.overdue;
  const first = firstActionMs === null ? '–' : minutesInWords(Math.round(firstActionMs / 60_000));
  return html`<dl class="counts" aria-label="Thirty days">
<div><dt>Opened in 30 days</dt><dd>${count(now.opened)} ${countChange(now.opened, before.opened)}</dd></div>
<div><dt>Done</dt><dd>${count(now.done)}</dd></div>
<div><dt>Done in time</dt><dd>${percent(due === 0 ? null : now.withinDue / due)}${due > 0 && html` <small class="quiet">${count(now.withinDue)} of ${count(due)} that are done or overdue</small>`}</dd></div>
<div><dt>First taken up after</dt><dd>${first}${untaken > 0 && html` <small class="quiet">${count(untaken)} not taken up yet</small>`}</dd></div>
<div><dt>Happier afterwards</dt><dd>${gradedAgain === 0 ? '–' : `${recovered} of ${gradedAgain}`} <small class="quiet">who graded again</small></dd></div>
</dl>${isCut && html`<p class="quiet">Of the last ${count(now.opened)} that were looked at: there are more.</p>`}`;
}

const nothing: Record<FollowUpQuery['show'], string> = {
  open: 'Nobody waits for a person. An answer rule with “followUp” opens one.',
  overdue: 'Nothing is overdue.',
  mine: 'You have taken none, and none is meant for you.',
  done: 'None was done yet.',
};

function addressOf({ show, source }: FollowUpQuery, more: Record<string, string> = {}): string {
  return pathTo('/follow-ups', { show: show === 'open' ? '' : show, source, ...more });
}

function followUpTabs({ open, overdue }: NonNullable<FollowUps['counts']>, query: FollowUpQuery): Html {
  const link = (show: FollowUpQuery['show'], name: string) => {
    return { at: addressOf({ ...query, show }), name, isHere: show === query.show };
  };
  return tabs('Which follow-ups', [
    link('open', `To do (${open})`),
    link('overdue', `Overdue (${overdue})`),
    link('mine', 'Mine'),
    link('done', 'Done'),
  ]);
}

function sourceFilter({ sources, query }: FollowUps): Content {
  if (sources.length < 2) return undefined;
  return html`<form class="filter" method="get" action="/follow-ups">${hidden('show', query.show)}
${choiceField('source', 'Source', sources, { chosen: query.source, none: 'all' })}
<button>Show</button></form>`;
}

function card(answer: ShownAnswer, shown: FollowUps): Content {
  const { followUp, ref } = answer;
  if (followUp === undefined) return undefined;
  const { now, timeZone } = shown;
  return html`<li class="${isOverdue(followUp, now) ? 'card bad' : 'card'}">
<h2 class="card-head">${gradeBadge(answer)} <span class="unseen">${ref}</span>${dueBadge(followUp, shown)}<span class="quiet due">${answer.comment === '' && 'without words · '}answered ${answer.at && ago(answer.at, now, timeZone)}</span></h2>
${wordsOf(answer)}
${aboutAnswer(answer)}
${whose(followUp, answer, shown)}
${forms(answer, followUp, shown)}
</li>`;
}

function dueBadge(followUp: FollowUp, { now, timeZone }: FollowUps): Content {
  if (followUp.state === 'done') return html`<span class="state good">done</span>`;
  const tone = isOverdue(followUp, now) ? 'bad' : 'wait';
  return html`<span class="state ${tone}">${dueInWords(followUp, now)}</span> <span class="quiet due">${moment(followUp.dueAt, timeZone)}</span>`;
}

function whose(followUp: FollowUp, { noun }: ShownAnswer, { now, timeZone }: FollowUps): Html {
  const { state, takenBy, takenAt, doneBy, doneAt, outcome } = followUp;
  const when = (at: Date | undefined): Content => at && ago(at, now, timeZone);
  const line =
    state === 'done'
      ? html`Done by <strong>${doneBy}</strong> ${when(doneAt)}:`
      : state === 'taken'
        ? html`Taken by <strong>${takenBy}</strong> ${when(takenAt)}`
        : html`For ${personInWords(followUp, noun)}. Nobody has taken it.`;
  const earlier = state !== 'done' && outcome !== undefined && 'Done before, and reopened: ';
  return html`<p class="whose">${line}</p>${outcome !== undefined && html`<p class="outcome">${earlier}${outcome}</p>`}`;
}

function forms(
  { source, id, ref }: ShownAnswer,
  { state, takenBy }: FollowUp,
  { csrf, me, query, counts }: FollowUps,
): Content {
  if (csrf === undefined) return undefined;
  const to = counts ? addressOf(query) : followUpAt(source, id);
  const form = (deed: string, content: Content): Html =>
    html`<form method="post" action="${followUpAt(source, id, deed)}">${hidden('csrf', csrf)}${hidden('to', to)}${content}</form>`;
  const of = html`<span class="unseen"> ${ref}</span>`;
  const mayEnd = state === 'open' || (state === 'taken' && takenBy === me);
  return html`<div class="actions">
${state === 'open' && form('take', html`<button>Take it${of}</button>`)}
${mayEnd && html`<details class="act"><summary class="button">Done…${of}</summary>${form('done', html`<label for="outcome-${ref}">What was done (seen by colleagues alone)</label><textarea id="outcome-${ref}" name="outcome" rows="3" required maxlength="2000"></textarea><button class="main-button">Done</button>`)}</details>`}
${state !== 'open' && form('reopen', html`<button>${state === 'done' ? 'Reopen' : 'Give back'}${of}</button>`)}
</div>`;
}
