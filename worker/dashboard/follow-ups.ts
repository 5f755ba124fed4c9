import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';
import type { FollowUpDeed } from '../journey/follow-up.ts';
import { refOf } from '../journey/refs.ts';
import { type FollowedSource, followUpReport } from '../reports/follow-ups.ts';
import {
  changeFollowUp,
  countFollowUps,
  type FollowUpFilter,
  type FoundFollowUp,
  followUpPage,
} from '../support/follow-ups.ts';
import { localAddress, pathTo, readPlace, writePlace } from './addresses.ts';
import { Audit } from './audit.ts';
import { journeyOf } from './find.ts';
import { formToken, mayAct, nameOf, seesContacts } from './guard.ts';
import type { DashboardOptions } from './options.ts';
import { show } from './pages.ts';
import { periodOf } from './period-query.ts';
import { RecentReadings } from './recent-readings.ts';
import { type AnsweredSource, shownAnswers } from './shown-answer.ts';
import { type FollowUpQuery, followUpsView } from './views/follow-ups.ts';

/** The follow-ups on one page. */
const size = 25;
/** The most follow-ups of each source that closeloop reads for one page. */
const most = 500;
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
    const body = followUpsView({
      ...(await shownOf([{ followUp, journey, context }], request, options)),
      query: Query.parse(request.query),
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
    const note = (what: string) => audit.note({ at: options.now(), who: by, what, about: ref });
    await note(`follow-up: ${deed}`);
    try {
      await changeFollowUp(journey, { by, at: options.now(), ...deedOf(deed, outcome) }, context);
    } catch (error) {
      await note(`follow-up: ${deed} was refused`);
      throw error;
    }
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
