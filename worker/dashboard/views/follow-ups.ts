import { minutesInWords } from '../../../core/schedule/duration.ts';
import { isOverdue } from '../../journey/follow-up.ts';
import type { FollowUp } from '../../journey/journey.ts';
import type { FollowUpFigures } from '../../reports/follow-ups.ts';
import { dueInWords } from '../../support/follow-ups.ts';
import { followUpAt, pathTo } from '../addresses.ts';
import { type Content, type Html, html } from '../html.ts';
import type { ShownAnswer } from '../shown-answer.ts';
import { ago, moment } from '../times.ts';
import { aboutAnswer, gradeBadge, wordsOf } from './answer.ts';
import { count, countChange, percent } from './figures.ts';
import { csrfField, select } from './forms.ts';

export interface FollowUpQuery {
  show: 'open' | 'overdue' | 'mine' | 'done';
  source: string;
  /** The action that the person has just done, and the follow-up's name. */
  did?: 'take' | 'done' | 'reopen' | undefined;
  of: string;
}

interface FollowUps {
  answers: readonly ShownAnswer[];
  /** Left out: the page shows a single follow-up. */
  counts?: { open: number; overdue: number };
  /** The figures of thirty days; undefined: closeloop has not counted them yet. */
  report?: { now: FollowUpFigures; before: FollowUpFigures; isCut: boolean } | undefined;
  query: FollowUpQuery;
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

export function followUpsView(shown: FollowUps): Html {
  const { answers, counts, query, next } = shown;
  return html`${told(query)}
${counts && tabs(counts, query)}
${counts && sourceFilter(shown)}
${shown.report && figures(shown.report)}
${answers.length === 0 ? html`<p class="notice good">${nothing[query.show]}</p>` : html`<ul class="cards">${answers.map((one) => card(one, shown))}</ul>`}
${next !== undefined && html`<p class="actions"><a class="button" rel="next" href="${addressOf(query, { after: next })}">${shown.isCut ? 'Look further' : 'Next page'}</a></p>`}
${counts === undefined && html`<p><a href="/follow-ups">All follow-ups</a></p>`}`;
}

function figures({ now, before, isCut }: NonNullable<FollowUps['report']>): Content {
  if (now.opened === 0 && before.opened === 0) return undefined;
  const { firstActionMs, gradedAgain, recovered } = now;
  const first = firstActionMs === null ? '–' : minutesInWords(Math.round(firstActionMs / 60_000));
  return html`<dl class="counts" aria-label="Thirty days">
<div><dt>Opened in 30 days</dt><dd>${count(now.opened)} ${countChange(now.opened, before.opened)}</dd></div>
<div><dt>Done</dt><dd>${count(now.done)}</dd></div>
<div><dt>Done in time</dt><dd>${percent(now.done === 0 ? null : now.withinDue / now.done)}</dd></div>
<div><dt>First taken up after</dt><dd>${first}</dd></div>
<div><dt>Happier afterwards</dt><dd>${gradedAgain === 0 ? '–' : `${recovered} of ${gradedAgain}`} <small class="quiet">who graded again</small></dd></div>
</dl>${isCut && html`<p class="quiet">Of the last ${count(now.opened)} that were looked at: there are more.</p>`}`;
}

const nothing: Record<FollowUpQuery['show'], string> = {
  open: 'Nobody waits for a person. An answer rule with “followUp” opens one.',
  overdue: 'Nothing is overdue.',
  mine: 'You have taken none.',
  done: 'None was done yet.',
};

const deedWords = { take: 'is yours', done: 'is done', reopen: 'is open again' } as const;

function told({ did, of }: FollowUpQuery): Content {
  if (did === undefined) return undefined;
  const [, source, id] = /^([^/]+)\/(.+)$/.exec(of) ?? [];
  const which = source === undefined || id === undefined ? 'It' : html`<a href="${followUpAt(source, id)}">${of}</a>`;
  return html`<p class="notice good" role="status">${which} ${deedWords[did]}.</p>`;
}

function addressOf({ show, source }: FollowUpQuery, more: Record<string, string> = {}): string {
  return pathTo('/follow-ups', { show: show === 'open' ? '' : show, source, ...more });
}

function tabs({ open, overdue }: NonNullable<FollowUps['counts']>, query: FollowUpQuery): Html {
  const link = (show: FollowUpQuery['show'], name: string): Html => {
    const at = addressOf({ ...query, show });
    return show === query.show
      ? html`<li><a class="tab" href="${at}" aria-current="true">${name}</a></li>`
      : html`<li><a class="tab" href="${at}">${name}</a></li>`;
  };
  return html`<nav class="tabs" aria-label="Which follow-ups"><ul>${link('open', `To do (${open})`)}${link('overdue', `Overdue (${overdue})`)}${link('mine', 'Mine')}${link('done', 'Done')}</ul></nav>`;
}

function sourceFilter({ sources, query }: FollowUps): Content {
  if (sources.length < 2) return undefined;
  return html`<form class="filter" method="get" action="/follow-ups"><input type="hidden" name="show" value="${query.show}">
<div><label for="source">Source</label>${select('source', [['', 'all'], ...sources.map((one) => [one, one] as const)], query.source)}</div>
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
${whose(followUp, shown)}
${forms(answer, followUp, shown)}
</li>`;
}

function dueBadge(followUp: FollowUp, { now, timeZone }: FollowUps): Content {
  if (followUp.state === 'done') return html`<span class="state good">done</span>`;
  const tone = isOverdue(followUp, now) ? 'bad' : 'wait';
  const words = dueInWords(followUp, now);
  return html`<span class="state ${tone}">${tone === 'bad' ? words : `due ${words}`}</span> <span class="quiet due">${moment(followUp.dueAt, timeZone)}</span>`;
}

function whose({ state, to, takenBy, takenAt, doneBy, doneAt, outcome }: FollowUp, { now, timeZone }: FollowUps): Html {
  const when = (at: Date | undefined): Content => at && ago(at, now, timeZone);
  const meant = to === 'agent' ? 'the agent of the record' : to;
  const line =
    state === 'done'
      ? html`Done by <strong>${doneBy}</strong> ${when(doneAt)}:`
      : state === 'taken'
        ? html`Taken by <strong>${takenBy}</strong> ${when(takenAt)}`
        : html`For ${meant}. Nobody has taken it.`;
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
    html`<form method="post" action="${followUpAt(source, id, deed)}">${csrfField(csrf)}<input type="hidden" name="to" value="${to}">${content}</form>`;
  const of = html`<span class="unseen"> ${ref}</span>`;
  const mayEnd = state === 'open' || (state === 'taken' && takenBy === me);
  return html`<div class="actions">
${state === 'open' && form('take', html`<button>Take it${of}</button>`)}
${mayEnd && html`<details class="act"><summary class="button">Done…${of}</summary>${form('done', html`<label for="outcome-${ref}">What was done (seen by colleagues alone)</label><textarea id="outcome-${ref}" name="outcome" rows="3" required maxlength="2000"></textarea><button class="main-button">Done</button>`)}</details>`}
${state !== 'open' && form('reopen', html`<button>${state === 'done' ? 'Reopen' : 'Give back'}${of}</button>`)}
</div>`;
}
