import { type JourneyState, journeyStates } from '../../journey/states.ts';
import { isPutOff } from '../../operations/delivery-counts.ts';
import { sentenceOf } from '../../operations/outage.ts';
import { type PausableStep, pausableSteps } from '../../operations/pausable-steps.ts';
import type { Pause } from '../../operations/pauses.ts';
import type { Absence } from '../../pipeline/absences.ts';
import { daysIn } from '../../support/shown-time.ts';
import type { SourceState } from '../../support/source-state.ts';
import { listAt, manyAt } from '../addresses.ts';
import { type Content, type Html, html } from '../html.ts';
import type { HourOfWork, Issue, SkipCount } from '../last-work.ts';
import { ago, moment, sentence, time } from '../times.ts';
import { type Bar, barChart, shareBar } from './charts.ts';
import { count, percent } from './figures.ts';
import { actingForm, reasonField } from './forms.ts';
import { type Column, table as dataTable, drawn, right, stateBadge, stateNames } from './table.ts';

interface ShownSource {
  state: SourceState;
  quotas: readonly { quota: string; limit: number; remaining: number }[];
  /** Whether closeloop polls the source. */
  polls: boolean;
}

export interface Operations {
  /** The sources in test mode. */
  tests: readonly string[];
  sources: readonly ShownSource[];
  /** The pauses of collecting grades, which runs over all sources. */
  collectPauses: readonly Pause[];
  /** The problems of the processes. */
  problems: readonly string[];
  /** Sources that are not in this configuration. */
  absences: readonly Absence[];
  at: Date;
  timeZone: string;
  /** The causes of stopped journeys and of skipped closings; undefined: closeloop has not counted them yet. */
  causes: { issues: readonly Issue[]; isCut: boolean; skips: readonly SkipCount[]; of: number } | undefined;
  /** The last 24 hours; undefined: closeloop has not counted them yet. */
  hours: readonly HourOfWork[] | undefined;
  /** Whether the visitor sees buttons. */
  mayAct: boolean;
}

/** The states of a journey from the closing to the grade on the record; `left` has the states off this way. */
const way = ['received', 'waiting', 'creating', 'asked', 'answered', 'written'] as const;
const left = journeyStates.filter((state) => !way.some((one) => one === state));

export function operationsView(operations: Operations): Html {
  const { tests, sources, at, timeZone, mayAct } = operations;
  const { urgent, others } = countNotices(operations);
  return html`<div id="operations" data-live>
<p>${time(at, timeZone)} <span class="quiet">(${timeZone})</span></p>
${tests.map((why) => html`<p class="notice">${why}</p>`)}
<h2>${urgent === 0 && others > 0 ? 'To know' : 'Needs a person'}</h2>
${notices(operations)}
${causesPart(operations)}
<h2>On their way, or there</h2>
${flow(way, sources)}
<h2>Closed without a rating</h2>
${flow(left, sources)}
${skipsPart(operations)}
${dayPart(operations)}
<h2>Sources</h2>
${table(sources, { timeZone, mayAct })}
</div>`;
}

function flow(states: readonly JourneyState[], sources: readonly ShownSource[]): Html {
  const total = (state: JourneyState) => sources.reduce((sum, one) => sum + one.state.journeys[state], 0);
  return html`<ul class="flow">${states.map((state) => html`<li><a href="${listAt({ state })}"><b>${total(state)}</b> ${stateNames[state]}</a></li>`)}</ul>`;
}

interface Notice {
  /** A person has to act; otherwise the problem ends by itself. */
  isUrgent: boolean;
  what: Content;
  why: string;
  remedy: Content;
}

/** @returns how many problems need a person, and how many end by themselves */
export function countNotices(operations: Omit<Operations, 'mayAct' | 'causes' | 'hours'>): {
  urgent: number;
  others: number;
} {
  const all = allNotices({ ...operations, causes: undefined, hours: undefined, mayAct: false });
  const urgent = all.filter(({ isUrgent }) => isUrgent).length;
  return { urgent, others: all.length - urgent };
}

function whatHelps({ source, state, cause }: Issue, mayAct: boolean): Content {
  const query = { source, state, cause };
  if (state === 'parked')
    return html`Look at one, and say what you found out. <a class="button" href="${listAt(query)}">Look at them</a>`;
  return html`Mend the cause, then replay them.${mayAct && html` <a class="button" href="${manyAt('replay', query)}">Replay all…</a>`}`;
}

/** Why customers were not asked, by reason. */
function skipsPart({ causes }: Operations): Content {
  if (causes === undefined || causes.skips.length === 0) return undefined;
  const { skips, of } = causes;
  return html`<h2>Not asked, by reason</h2>
${dataTable({
  name: 'Not asked, by reason',
  caption: `Of the last ${of} closings that nobody was asked about.`,
  columns: ['Reason', right('Closings'), drawn('Share, drawn')],
  rows: skips.map(({ reason, count }) => [
    html`<a href="${listAt({ state: 'skipped', reason })}">${reason.replaceAll('-', ' ')}</a>`,
    count,
    shareBar(count / of),
  ]),
})}`;
}

/** The most issues that the page lists. */
const mostCauses = 20;

function causesPart({ causes, timeZone, at, mayAct }: Operations): Content {
  if (causes === undefined || causes.issues.length === 0) return undefined;
  const { issues, isCut } = causes;
  const listOf = ({ source, state, cause }: Issue) => ({ source, state, cause });
  return html`<h2>What stopped, by cause</h2>
${dataTable({
  name: 'What stopped, by cause',
  ...(isCut && { caption: 'Of the last ones that stopped: there are more.' }),
  columns: ['Cause', right('Journeys'), 'First', 'Last', 'State', 'What helps'],
  rows: issues
    .slice(0, mostCauses)
    .map((one) => [
      html`${one.source}: ${one.why === '' ? 'no reason' : sentence(one.why, timeZone)}`,
      html`<a href="${listAt(listOf(one))}">${one.count}</a>`,
      ago(one.first, at, timeZone),
      ago(one.last, at, timeZone),
      stateBadge(one.state),
      whatHelps(one, mayAct),
    ]),
})}`;
}

function notices(operations: Operations): Html {
  const all = allNotices(operations);
  if (all.length === 0)
    return html`<p class="notice good">closeloop itself is all right: nothing here needs a person.</p>`;
  return html`<ul class="notices">${all.map((one) => noticeView(one, operations.timeZone))}</ul>`;
}

function allNotices({ sources, collectPauses, problems, absences, mayAct }: Operations): Notice[] {
  return [
    ...sources.flatMap((one) => noticesOf(one, mayAct)),
    ...collectPauses.map((pause) => stopped('collect', pause, mayAct)),
    ...problems.map((why) => ({
      isUrgent: true,
      what: 'Processes',
      why,
      remedy: html`<a href="/settings">Settings</a> shows them`,
    })),
    ...absences.map(({ source: what, problem: why, remedy }) => ({ isUrgent: true, what, why, remedy })),
  ];
}

function noticeView({ isUrgent, what, why, remedy }: Notice, timeZone: string): Html {
  return html`<li class="notice ${isUrgent && 'bad'}"><p><strong>${what}</strong></p><p>${sentence(why, timeZone)}</p><p class="quiet">${remedy}</p></li>`;
}

function noticesOf({ state }: ShownSource, mayAct: boolean): Notice[] {
  const { source, journeys, paused, held, down, quotaUsedUpUntil, erasing, refused } = state;
  return [
    ...paused.map((pause) => stopped(source, pause, mayAct)),
    ...held.map(({ stage, only, why, jobs }) => ({
      isUrgent: true,
      what: `${source}: ${only} is held up (${stage}, ${jobs} waiting)`,
      why,
      remedy: 'No data is lost, and other jobs continue. Fix the cause: processing resumes automatically.',
    })),
    ...needs('parked', source, journeys.parked, 'closeloop could not find out by itself: resolve each.'),
    ...needs('failed', source, journeys.failed, 'See why, mend it, and replay them.'),
    ...down.map((one) => ({
      isUrgent: false,
      what: `${source}: ${one.endpoint} ${one.askedUntil === undefined ? 'does not answer' : 'asks to wait'}`,
      why: `since ${one.since.toISOString()}: ${sentenceOf(one)}`,
      remedy: html`Nothing is lost: work goes on by itself when it answers again.${tryNow(source, mayAct)}`,
    })),
    ...(quotaUsedUpUntil === undefined ? [] : [usedUp(source, quotaUsedUpUntil, mayAct)]),
    ...erasing.map(({ id, receivedAt, held: by }) => ({
      isUrgent: by.length > 0,
      what: `${source}: an erasure is not done (${id})`,
      why: `since ${receivedAt.toISOString()}: ${by.join('; ') || 'at work'}`,
      remedy: 'It is tried again by itself; at once: closeloop contact erasures retry.',
    })),
    ...Object.entries(refused).map(([why, count]) => ({
      isUrgent: false,
      what: `${source}: ${count} ${count === 1 ? 'delivery was' : 'deliveries were'} ${isPutOff(why) ? 'put off' : 'refused'} within a day`,
      why,
      remedy: isPutOff(why)
        ? 'The vendor was told to send them again.'
        : 'Where they are the vendor’s own: closeloop check says what to mend.',
    })),
  ];
}

function stopped(source: string, { stage, why, at, by }: Pause, mayAct: boolean): Notice {
  const step = pausableSteps.find((one) => one === stage);
  const button = (text: string): Content =>
    mayAct &&
    step !== undefined &&
    source !== 'collect' &&
    html` <a class="button" href="${stepAt(source, step, 'resume')}">${text}</a>`;
  const pausedSince = `since ${at.toISOString()}${by === undefined ? '' : ` by ${by}`}: ${why}`;
  return by === undefined
    ? {
        isUrgent: true,
        what: `${source}: ${stage} has stopped`,
        why: pausedSince,
        remedy: html`Nothing is lost. Mend it: one job a minute finds out, and it goes on.${button('Try now…')}`,
      }
    : {
        isUrgent: false,
        what: `${source}: ${stage} is paused`,
        why: pausedSince,
        remedy: html`What comes in is stored and waits.${button('Resume…')}`,
      };
}

/** Resuming any step of a source makes closeloop try the source's waiting work at once. */
const tryNow = (source: string, mayAct: boolean): Content =>
  mayAct && html` <a class="button" href="${stepAt(source, 'ask', 'resume')}">Try now…</a>`;

function usedUp(source: string, until: Date, mayAct: boolean): Notice {
  const why = `until ${until.toISOString()} by the vendor’s word`;
  const remedy = html`Work goes on by itself; see who else calls the vendor, or raise the quota.${tryNow(source, mayAct)}`;
  return { isUrgent: false, what: `${source}: the vendor’s quota is used up`, why, remedy };
}

function needs(state: 'parked' | 'failed', source: string, count: number, remedy: string): Notice[] {
  if (count === 0) return [];
  const what = html`<a href="${listAt({ source, state })}">${source}: ${count} ${count === 1 ? 'journey' : 'journeys'} ${state === 'failed' ? 'failed' : count === 1 ? 'needs you' : 'need you'}</a>`;
  return [{ isUrgent: true, what, why: '', remedy }];
}

/** Received, sent and stopped journeys, hour by hour. */
function dayPart({ hours, timeZone }: Operations): Content {
  if (hours === undefined) return undefined;
  const charts = [
    { name: 'Deliveries', of: ({ deliveries }: HourOfWork) => deliveries },
    { name: 'Asked', of: ({ asked }: HourOfWork) => asked },
    // Only of these there is a list: the state of the others has changed since.
    { name: 'Failed', of: ({ failed }: HourOfWork) => failed, at: listAt({ state: 'failed' }) },
  ];
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' });
  const total = (of: (hour: HourOfWork) => number) => count(hours.reduce((sum, hour) => sum + of(hour), 0));
  return html`<h2>The last 24 hours</h2>
<div class="scores">${charts.map(
    ({ name, of, at }) =>
      html`<figure class="trend score"><figcaption>${at === undefined ? name : html`<a href="${at}">${name}</a>`}: <b>${total(of)}</b></figcaption>
${barChart(barsOf(hours, of, clock), `${name} in each of the last 24 hours; the table below has the figures`)}</figure>`,
  )}</div>
<details><summary>Figures</summary>${dataTable({
    name: 'The last 24 hours',
    caption: `Deliveries that were taken, customers who were asked, and journeys that failed and were not mended since. On the clock of ${timeZone}.`,
    columns: ['Hour', ...charts.map(({ name }) => right(name))],
    rows: hours
      .toReversed()
      .map((hour) => [
        moment(hour.at, timeZone),
        ...[count(hour.deliveries), count(hour.asked)],
        hour.failed === 0 ? 0 : html`<a href="${failedAt(hour.at, timeZone)}">${count(hour.failed)}</a>`,
      ]),
  })}</details>`;
}

/** A bar for each hour. The highest bar has its figure above it. */
function barsOf(
  hours: readonly HourOfWork[],
  of: (hour: HourOfWork) => number,
  clock: Pick<Intl.DateTimeFormat, 'format'>,
): Bar[] {
  const figures = hours.map(of);
  const highest = figures.indexOf(Math.max(...figures));
  return hours.map(({ at }, i) => {
    const text = count(figures[i] ?? 0);
    return { name: clock.format(at), figure: figures[i] ?? 0, text, above: i === highest && text !== '0' ? text : '' };
  });
}

/** The address of the failed journeys of the hour's day. */
function failedAt(at: Date, timeZone: string): string {
  const day = daysIn(timeZone)(at);
  return listAt({ state: 'failed', since: day, until: day });
}

function table(sources: readonly ShownSource[], shown: Pick<Operations, 'timeZone' | 'mayAct'>): Html {
  return dataTable({
    name: 'Sources',
    caption: 'Asked, answered and response rate: of the last seven days.',
    columns: shown.mayAct ? [...columns, 'Pause'] : columns,
    rows: sources.map((one) => row(one, shown)),
  });
}

const columns: readonly Column[] = [
  'Source',
  'Last delivery',
  'Last poll',
  'Jobs',
  'Quota left',
  right('Asked'),
  right('Answered'),
  right('Rate'),
];

function row(
  { state, quotas, polls }: ShownSource,
  { timeZone, mayAct }: Pick<Operations, 'timeZone' | 'mayAct'>,
): Content[] {
  const { source, lastDelivery, poll, queues, lastWeek } = state;
  const { asked, answered, responseRate } = lastWeek;
  const cells: Content[] = [
    html`<a href="${listAt({ source })}">${source}</a>`,
    lastDelivery ? time(lastDelivery, timeZone) : 'none yet',
    html`${polled(poll?.doneAt, polls, timeZone)}${poll && poll.missed > 0 && html`<br>${poll.missed} that no webhook reported`}`,
    jobs(queues),
    quotas.length === 0
      ? '–'
      : quotas.map(({ quota, limit, remaining }) => html`${remaining} of ${limit} ${quota}<br>`),
    ...[asked, answered, percent(responseRate)],
  ];
  if (!mayAct) return cells;
  return [...cells, pausableSteps.map((step) => html`<a href="${stepAt(source, step, 'pause')}">${step}</a> `)];
}

function polled(at: Date | undefined, polls: boolean, timeZone: string): Content {
  if (!polls) return 'it has none';
  return at ? time(at, timeZone) : 'not yet';
}

function jobs(queues: SourceState['queues']): Content {
  const busy = Object.entries(queues).filter(([, { waiting, running, delayed }]) => waiting + running + delayed > 0);
  if (busy.length === 0) return 'none';
  return busy.map(([step, { waiting, running, delayed }]) => {
    const parts = [
      waiting > 0 && `${waiting} waiting`,
      running > 0 && `${running} running`,
      delayed > 0 && `${delayed} for later`,
    ];
    return html`${step}: ${parts.filter(Boolean).join(', ')}<br>`;
  });
}

function stepAt(source: string, step: PausableStep, action: 'pause' | 'resume'): string {
  return `/sources/${source}/${step}/${action}`;
}

export function pauseView(asked: {
  source: string;
  step: PausableStep;
  action: 'pause' | 'resume';
  csrf: string;
}): Html {
  const { source, step, action, csrf } = asked;
  const effect =
    action === 'pause'
      ? 'What runs already ends, nothing more of it is begun in any process. What comes in is stored and waits.'
      : 'It goes on in every process; where it had stopped by itself, one job finds out first whether the cause is mended.';
  const content = action === 'pause' && reasonField('Why, for whoever finds it paused');
  const button = action === 'pause' ? 'Pause it' : 'Resume it';
  return html`<p>${effect}</p>
${actingForm({ at: stepAt(source, step, action), csrf, content, button, back: '/operations' })}`;
}
