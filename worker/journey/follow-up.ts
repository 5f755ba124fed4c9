import type { FollowUp, Journey } from './journey.ts';

/* What a person does with a follow-up. Pure. */

/** The follow-up after a step, with its line in the trace (no line if nothing changes); or the reason why the step is not allowed. */
export type FollowUpChange = { ok: true; followUp: FollowUp; trace: readonly string[] } | { ok: false; why: string };

/** A person's step with a follow-up. `outcome`: the result in the person's words, which no trace repeats. */
export type FollowUpDeed = { do: 'take' } | { do: 'done'; outcome: string } | { do: 'reopen' };
export type FollowUpStep = { by: string; at: Date } & FollowUpDeed;

export function changed(now: FollowUp | undefined, step: FollowUpStep): FollowUpChange {
  if (now === undefined) return { ok: false, why: 'there is no follow-up' };
  switch (step.do) {
    case 'take':
      return taken(now, step);
    case 'done':
      return finished(now, step);
    case 'reopen':
      return reopened(now, step);
  }
}

type Step<Do extends FollowUpStep['do']> = Extract<FollowUpStep, { do: Do }>;

/** The first person who takes a follow-up has it. */
function taken(now: FollowUp, { by, at }: Step<'take'>): FollowUpChange {
  if (now.state === 'done') return { ok: false, why: doneWords(now) };
  if (now.state === 'taken') return now.takenBy === by ? asItIs(now) : { ok: false, why: takenWords(now) };
  return {
    ok: true,
    followUp: { ...acted(now, at), state: 'taken', takenBy: by, takenAt: at },
    trace: [`follow-up taken by ${by}`],
  };
}

/** Only the person who has taken a follow-up may end it; if nobody has taken it, anybody may. */
function finished(now: FollowUp, { by, at, outcome }: Step<'done'>): FollowUpChange {
  if (now.state === 'done')
    return now.doneBy === by && now.outcome === outcome ? asItIs(now) : { ok: false, why: doneWords(now) };
  if (now.state === 'taken' && now.takenBy !== by) return { ok: false, why: takenWords(now) };
  return {
    ok: true,
    followUp: { ...acted(now, at), state: 'done', doneBy: by, doneAt: at, outcome },
    trace: [`follow-up done by ${by}`],
  };
}

/** Anybody may open a follow-up again: the person who took it may be away for weeks. The earlier result stays readable until the follow-up is done again. */
function reopened(now: FollowUp, { by, at }: Step<'reopen'>): FollowUpChange {
  if (now.state === 'open') return asItIs(now);
  const { takenBy: _, takenAt: _1, doneBy: _2, doneAt: _3, ...rest } = now;
  const line = now.state === 'done' ? `follow-up reopened by ${by}` : `follow-up given back by ${by}`;
  return { ok: true, followUp: { ...rest, state: 'open', changedAt: at }, trace: [line] };
}

const acted = (now: FollowUp, at: Date): FollowUp => ({
  ...now,
  firstActionAt: firstActionOf(now) ?? at,
  changedAt: at,
});

/** When somebody took or ended it for the first time; undefined: nobody has. */
export function firstActionOf({ firstActionAt, takenAt, doneAt }: FollowUp): Date | undefined {
  return firstActionAt ?? takenAt ?? doneAt;
}

const asItIs = (followUp: FollowUp): FollowUpChange => ({ ok: true, followUp, trace: [] });

const takenWords = ({ takenBy = 'somebody', takenAt }: FollowUp): string =>
  `${takenBy} has taken it${takenAt ? ` at ${takenAt.toISOString()}` : ''}; to take it over, give it back first`;

const doneWords = ({ doneBy = 'somebody', doneAt }: FollowUp): string =>
  `${doneBy} has done it${doneAt ? ` at ${doneAt.toISOString()}` : ''}; reopen it if there is more to do`;

/** Whom an open follow-up is meant for; `agent` where nobody knew the agent's name. */
export const personOf = ({ to, agent }: FollowUp): string => agent ?? to;

export function isOverdue({ state, dueAt }: FollowUp, now: Date): boolean {
  return state !== 'done' && dueAt <= now;
}

/** The list in which a journey has to be, by its own data. */
export type FollowUpPlace = { list: 'open' | 'done'; at: Date } | 'awaited' | 'nowhere';

/**
 * `awaited`: an action that is to open a follow-up is outstanding, which puts the journey into the list before the journey says so. No
 * clock decides that: a worker may stop for an hour between the two.
 */
export function placeOf(journey: Pick<Journey, 'followUp' | 'acting' | 'erasedAt'> | undefined): FollowUpPlace {
  if (journey === undefined || journey.erasedAt) return 'nowhere';
  const { followUp, acting } = journey;
  if (followUp && followUp.state !== 'done') return { list: 'open', at: followUp.dueAt };
  const isOutstanding = acting?.acts.some(
    ({ name, state }) => name === 'followUp' && (state === 'wanted' || state === 'begun'),
  );
  if (isOutstanding) return 'awaited';
  return followUp ? { list: 'done', at: followUp.doneAt ?? followUp.dueAt } : 'nowhere';
}
