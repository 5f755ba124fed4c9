import type { Act, Acting, FollowUp, Journey } from '../../journey/journey.ts';
import { markOf } from '../../journey/refs.ts';
import type { Decision } from '../../journey/transitions.ts';
import type { LoadedAnswerRule } from '../policy/answer-rules.ts';

/* Decides which actions an answer leads to. Pure. */

const none: Acting = { judged: {}, acts: [] };

/** The rules that have to judge this version now, and the time until the next of the other rules has to. */
export function dueRules(
  rules: readonly LoadedAnswerRule[],
  { answer, acting = none }: Pick<Journey, 'answer' | 'acting'>,
  now: Date,
): { due: LoadedAnswerRule[]; nextInMs: number | undefined } {
  const open = rules.filter(({ name }) => acting.judged[name]?.version !== answer?.version);
  const left = ({ settle }: LoadedAnswerRule): number => (answer?.seenAt.getTime() ?? 0) + settle - now.getTime();
  const waits = open.map(left).filter((ms) => ms > 0);
  return { due: open.filter((rule) => left(rule) <= 0), nextInMs: waits.length === 0 ? undefined : Math.min(...waits) };
}

export interface Verdict {
  rule: LoadedAnswerRule;
  matches: boolean;
  /** Why the rule's condition could not be evaluated. */
  flaw?: string;
}

/** The name of a rule for the marker of an action, without characters that a vendor might change in a note. */
const plain = (rule: string): string => rule.replace(/[^\w-]+/g, '-');

/**
 * The journey with the verdicts on one version of its answer; undefined where the answer has changed since, or was judged already. A rule that
 * matched the version before does not act again, and a rule that no longer matches undoes nothing.
 */
export function judged(verdicts: readonly Verdict[], version: number, at: Date): Decide {
  return (now) => {
    const { acting = none, answer, erasedAt, test } = now;
    const fresh = verdicts.filter(({ rule }) => acting.judged[rule.name]?.version !== version);
    if (erasedAt || answer?.version !== version || fresh.length === 0) return undefined;
    const acts: Act[] = [];
    const trace: string[] = [];
    for (const { rule, matches, flaw } of fresh) {
      if (flaw !== undefined) trace.push(`answer rule "${rule.name}" could not be judged: ${flaw}`);
      const did = acting.judged[rule.name]?.matched === true;
      if (matches && did) trace.push(`answer rule "${rule.name}" still matches: its actions are not repeated`);
      if (!matches && did) trace.push(`answer rule "${rule.name}" matches no more: nothing is undone`);
      if (!matches || did) continue;
      trace.push(`answer rule "${rule.name}" matches: ${rule.do.map(({ name }) => name).join(', ')}`);
      for (const [step, { name }] of rule.do.entries()) {
        const marker = `${markOf(now)}.a${version}.${plain(rule.name)}.${step}`;
        acts.push({ marker, rule: rule.name, step, name, version, state: test ? 'withheld' : 'wanted', at });
      }
    }
    if (test && acts.length > 0) trace.push('TEST: none of these actions is done');
    const news = Object.fromEntries(fresh.map(({ rule, matches }) => [rule.name, { version, matched: matches }]));
    const after: Acting = { ...acting, judged: { ...acting.judged, ...news }, acts: [...acting.acts, ...acts] };
    return { journey: { ...now, acting: after }, trace };
  };
}

/** The actions that are still to be done, for all versions of the answer. */
export const openActs = ({ acting = none }: Pick<Journey, 'acting'>): Act[] =>
  acting.acts.filter(({ state }) => state === 'wanted' || state === 'begun');

/** The actions that no other process has begun or ended since they were read. */
export const unchanged = (read: readonly Act[], now: Pick<Journey, 'acting'>): Act[] =>
  openActs(now).filter(({ marker, state, at }) =>
    read.some((one) => one.marker === marker && one.state === state && one.at.getTime() === at.getTime()),
  );

/** News of an action. */
export interface News extends Pick<Act, 'marker' | 'name'> {
  change: Partial<Act>;
  trace?: string;
  /** The follow-up that the action opens, unless the journey has an open follow-up. */
  followUp?: FollowUp;
}

export function parking({ marker, rule, name }: Pick<Act, 'marker' | 'rule' | 'name'>, why: string, at: Date): News {
  const trace = `answer rule "${rule}": ${name} is parked: ${why}`;
  return { marker, name, change: { state: 'parked', at, why }, trace };
}

/** Decides on a change. Pure; called again where the journey has changed meanwhile. */
export type Decide = (now: Journey) => Decision;

/** Combines several changes into one: each change is decided on the result of the change before. */
export const inOneChange =
  (...all: readonly Decide[]): Decide =>
  (now) =>
    all.reduce<Decision>((before, decide) => {
      const next = decide(before?.journey ?? now);
      return next ? { journey: next.journey, trace: [...(before?.trace ?? []), ...next.trace] } : before;
    }, undefined);

const isOpen = (followUp: FollowUp | undefined): boolean => followUp !== undefined && followUp.state !== 'done';

/** The journey with news of its actions; undefined where all these actions have ended, or the person was erased. */
export function noted(news: readonly News[]): Decide {
  return (now) => {
    const open = new Set(openActs(now).map(({ marker }) => marker));
    const fresh = news.filter(({ marker }) => open.has(marker));
    if (fresh.length === 0 || now.acting === undefined || now.erasedAt) return undefined;
    const acts = now.acting.acts.map((act) => ({
      ...act,
      ...fresh.find(({ marker }) => marker === act.marker)?.change,
    }));
    const followUp = isOpen(now.followUp) ? undefined : fresh.find((one) => one.followUp)?.followUp;
    const journey = { ...now, ...(followUp && { followUp }), acting: { ...now.acting, acts } };
    return { journey, trace: fresh.flatMap((one) => one.trace ?? []) };
  };
}
