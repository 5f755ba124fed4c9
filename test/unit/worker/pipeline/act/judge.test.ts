import { describe, expect, test } from 'vitest';
import type { Act, Acting, Journey } from '../../../../../worker/journey/journey.ts';
import { dueRules, judged, noted, openActs, unchanged } from '../../../../../worker/pipeline/act/judge.ts';
import type { LoadedAnswerRule } from '../../../../../worker/pipeline/policy/answer-rules.ts';
import { journeyIn } from '../../../../support/worker/journey/example.ts';

const seenAt = new Date('2026-05-04T10:00:00Z');
const later = (ms: number) => new Date(seenAt.getTime() + ms);

const rule = (name: string, settle = 0, steps = ['note']): LoadedAnswerRule => ({
  name,
  settle,
  when: undefined,
  do: steps.map((step) => ({ name: step, params: undefined })),
});

/** An answered journey; `before`: by rule, the version that it was judged by, and whether that matched. */
function answered(version: number, before: Record<string, [version: number, matched: boolean]> = {}, acts: Act[] = []) {
  const entries = Object.entries(before).map(([name, [of, matched]]) => [name, { version: of, matched }]);
  const acting: Acting = { judged: Object.fromEntries(entries), acts };
  const answer = { grade: 1, comment: null, seenAt, version };
  return journeyIn('written', { answer, ...(entries.length + acts.length > 0 && { acting }) });
}

const actOf = (state: Act['state'], more: Partial<Act> = {}): Act => ({
  ...{ marker: 'support/41960.1.a1.unhappy.0', rule: 'unhappy', step: 0, name: 'note', version: 1, at: seenAt, state },
  ...more,
});

describe('rules are to judge an answer', () => {
  const slow = rule('slow', 10_000);
  const rows: [what: string, journey: Journey, afterMs: number, due: string[], nextInMs: number | undefined][] = [
    ['at once where they wait for nothing', answered(1), 0, ['now'], 5_000],
    ['each when it has settled', answered(1), 5_000, ['now', 'soon'], 5_000],
    ['all of them in the end', answered(1), 10_000, ['now', 'soon', 'slow'], undefined],
    ['once for a version', answered(1, { now: [1, true], soon: [1, false] }), 10_000, ['slow'], undefined],
    ['again by another version', answered(2, { now: [1, true], soon: [2, false] }), 5_000, ['now'], 5_000],
    ['and never where all have', answered(1, { now: [1, true], soon: [1, true], slow: [1, true] }), 0, [], undefined],
  ];
  test.each(rows)('%s', (_, journey, afterMs, due, nextInMs) => {
    const found = dueRules([rule('now'), rule('soon', 5_000), slow], journey, later(afterMs));
    expect(found.due.map(({ name }) => name)).toEqual(due);
    expect(found.nextInMs).toBe(nextInMs);
  });

  test('none, where there is no rule', () => {
    expect(dueRules([], answered(1), later(0))).toEqual({ due: [], nextInMs: undefined });
  });
});

describe('a verdict', () => {
  const rows: [what: string, journey: Journey, matches: boolean, acts: number, trace: RegExp | undefined][] = [
    ['that matches wants the actions', answered(1), true, 2, /"un happy" matches: note, tag/],
    ['that does not match wants none, and says nothing', answered(1), false, 0, undefined],
    ['that still matches repeats nothing', answered(2, { 'un happy': [1, true] }), true, 0, /still matches/],
    ['that matches no more undoes nothing', answered(2, { 'un happy': [1, true] }), false, 0, /matches no more/],
    ['that matches for the first time wants them then', answered(2, { 'un happy': [1, false] }), true, 2, /matches: /],
  ];
  test.each(rows)('%s', (_, journey, matches, acts, trace) => {
    const version = journey.answer?.version ?? 0;
    const verdict = { rule: rule('un happy', 0, ['note', 'tag']), matches };
    const decision = judged([verdict], version, later(1))(journey);
    expect(decision?.journey.acting).toMatchObject({ judged: { 'un happy': { version, matched: matches } } });
    expect(decision?.journey.acting?.acts).toHaveLength(acts);
    for (const [step, act] of (decision?.journey.acting?.acts ?? []).entries())
      expect(act).toMatchObject({ state: 'wanted', marker: `support/41960.1.a${version}.un-happy.${step}`, step });
    if (trace === undefined) expect(decision?.trace).toEqual([]);
    else expect(decision?.trace.join('\n')).toMatch(trace);
  });

  const verdict = [{ rule: rule('unhappy'), matches: true }];
  const stale: [what: string, journey: Journey][] = [
    ['on an answer that has changed meanwhile', answered(2)],
    ['on one that another process has judged', answered(1, { unhappy: [1, true] })],
    ['on a person who was forgotten', { ...answered(1), erasedAt: seenAt }],
    ['where there is no answer', journeyIn('asked')],
  ];
  test.each(stale)('%s changes nothing', (_, journey) => {
    expect(judged(verdict, 1, later(1))(journey)).toBeUndefined();
  });

  test('on the answer to a test withholds the actions', () => {
    const contact = { kind: 'email', value: 'test@example.com' } as const;
    const decision = judged(verdict, 1, later(1))({ ...answered(1), test: { contact } });
    expect(decision?.journey.acting?.acts.map(({ state }) => state)).toEqual(['withheld']);
    expect(decision?.trace.at(-1)).toMatch(/^TEST: /);
  });

  test('leaves what an earlier version has led to', () => {
    const decision = judged(verdict, 2, later(1))(answered(2, { unhappy: [1, false] }, [actOf('parked')]));
    expect(decision?.journey.acting?.acts.map(({ state }) => state)).toEqual(['parked', 'wanted']);
  });
});

describe('an action', () => {
  const followUp = { state: 'open', rule: 'unhappy', to: 'agent', openedAt: seenAt, dueAt: later(1) } as const;
  const states = ['wanted', 'begun', 'done', 'parked', 'withheld'] as const;
  const isOpen = (state: Act['state']): boolean => state === 'wanted' || state === 'begun';

  test.each(states)('that is %s', (state) => {
    const journey = answered(1, {}, [actOf(state)]);
    expect(openActs(journey)).toHaveLength(isOpen(state) ? 1 : 0);
    const news = noted([{ ...actOf('wanted'), change: { state: 'done' }, followUp }])(journey);
    expect(news?.journey.acting?.acts[0]?.state).toBe(isOpen(state) ? 'done' : undefined);
    expect(news?.journey.followUp).toBe(isOpen(state) ? followUp : undefined);
  });

  test('of another marker is left alone, as is one of a person who was forgotten', () => {
    const other = actOf('wanted', { marker: 'support/41960.1.a1.unhappy.1' });
    const decision = noted([{ ...other, change: { state: 'done' } }])(answered(1, {}, [actOf('wanted'), other]));
    expect(decision?.journey.acting?.acts.map(({ state }) => state)).toEqual(['wanted', 'done']);
    const forgotten = { ...answered(1, {}, [actOf('wanted')]), erasedAt: seenAt };
    expect(noted([{ ...actOf('wanted'), change: { state: 'done' } }])(forgotten)).toBeUndefined();
  });

  const beginnings: [what: string, now: Act, isBegun: boolean][] = [
    ['that nobody has begun', actOf('wanted'), true],
    ['that another process has begun since', actOf('begun', { at: later(1) }), false],
    ['that another process has ended since', actOf('done', { at: later(1) }), false],
  ];
  test.each(beginnings)('%s is as it was read only in the first case', (_, now, isAsRead) => {
    expect(unchanged([actOf('wanted')], answered(1, {}, [now]))).toHaveLength(isAsRead ? 1 : 0);
  });

  test('of unknown outcome begins again in one process alone', () => {
    const read = actOf('begun', { at: later(1) });
    expect(unchanged([read], answered(1, {}, [read]))).toHaveLength(1);
    expect(unchanged([read], answered(1, {}, [actOf('begun', { at: later(8) })]))).toEqual([]);
  });
});
