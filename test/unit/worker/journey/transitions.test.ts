import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { erased } from '../../../../worker/journey/forget.ts';
import { type Intent, type Journey, type JourneyState, journeyStates } from '../../../../worker/journey/journey.ts';
import {
  askedStates,
  endedUnasked,
  mayHaveAsked,
  settledStates,
  unaskedStates,
} from '../../../../worker/journey/outcomes.ts';
import {
  askedContactOf,
  firstOf,
  ifStill,
  mayComeBack,
  mayFollow,
  type Step,
  statesBefore,
  step,
} from '../../../../worker/journey/transitions.ts';
import { journeyIn } from '../../../support/worker/journey/example.ts';

/** Every pair, in the order of `journeyStates`: row from, column to; x may follow. */
const table: Record<JourneyState, string> = {
  //          rec ski wai cre ask ans wri can exp tes wit fai par
  received: ' .   x   x   .   .   .   .   x   .   .   .   x   x ',
  skipped: '  x   .   .   .   .   .   .   .   .   .   .   .   . ',
  waiting: '  x   x   x   x   x   .   .   x   .   .   x   x   x ',
  creating: ' .   .   x   x   x   .   .   .   .   .   .   x   x ',
  asked: '    .   .   .   .   .   x   .   x   x   x   .   x   . ',
  answered: ' .   .   .   .   .   x   x   x   .   .   .   x   x ',
  written: '  .   .   .   .   .   x   .   .   .   .   .   .   . ',
  cancelled: 'x   .   .   .   .   .   .   .   .   .   .   .   . ',
  expired: '  .   .   .   .   .   x   .   .   .   .   .   .   . ',
  tested: '   .   .   .   .   .   .   .   .   .   x   .   .   . ',
  withheld: ' .   .   .   .   .   .   .   .   .   .   .   .   . ',
  failed: '   x   .   x   x   .   x   .   x   .   .   .   .   . ',
  parked: '   .   .   x   .   x   x   .   x   .   .   .   .   . ',
};
const pairs = journeyStates.flatMap((from) => {
  const marks = table[from].trim().split(/ +/);
  return journeyStates.map((to, i) => [from, to, marks[i] === 'x'] as const);
});

describe('a step', () => {
  test.each(pairs)('it goes from %s to %s: %s', (from, to, allowed) => {
    expect(mayFollow(from, to)).toBe(allowed);
    const at = new Date('2026-05-04T10:00:00Z');
    const before = journeyIn(from, { why: 'an old reason', withdrawing: 'it was open', wasOut: true });
    const go = () => step(before, to, at, { rule: 'phone team' });
    if (!allowed) return expect(go).toThrow(`${to} cannot follow ${from}`);
    const { why: _, withdrawing: _1, wasOut: _2, ...rest } = before;
    return expect(go()).toEqual({ ...rest, state: to, updatedAt: at, rule: 'phone team' });
  });

  test('it asks at most once between two moments in which the service refused or a person decided', () => {
    const walks = fc.array(fc.nat(), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(walks, (choices) => {
        let state: JourneyState = 'received';
        let asked = 0;
        let mayReturn = false;
        for (const choice of choices) {
          // What was cancelled after it asked never comes back (mayComeBack).
          const ways: JourneyState[] = journeyStates.filter(
            (to) => mayFollow(state, to) && (state !== 'cancelled' || mayReturn),
          );
          const to: JourneyState | undefined = ways[choice % Math.max(1, ways.length)];
          if (to === undefined) break;
          const refused = state === 'creating' && to === 'waiting';
          const personActed = state === 'failed' || state === 'parked' || state === 'skipped';
          if (refused || personActed) asked = 0;
          if (to === 'cancelled') mayReturn = unaskedStates.includes(state);
          if (to === 'asked' && state !== 'asked') asked += 1;
          if (asked > 1) return false;
          state = to;
        }
        return true;
      }),
      { numRuns: 2_000 },
    );
  });

  test('it never leads from an asked customer to a cancelled journey and back to asking', () => {
    const unasked = journeyIn('cancelled', { wasOut: true });
    const { intent: _, requestId: _1, answer: _2, ...bare } = unasked;
    expect(mayComeBack(bare)).toBe(true);
    for (const more of [{ requestId: '7' }, { intent }, { answer }, { erasedAt: at }, { wasOut: false }]) {
      const journey = { ...bare, ...more };
      expect(mayComeBack(journey)).toBe(false);
      for (const to of journeyStates) expect(() => step(journey, to, at)).toThrow(/cannot follow cancelled/);
    }
    for (const state of ['asked', 'answered', 'written', 'expired', 'tested', 'withheld'] as const) {
      expect((['received', 'waiting', 'creating'] as const).filter((to) => mayFollow(state, to))).toEqual([]);
    }
  });
});

test('every state is unasked, asked, or an end without a question', () => {
  const neither = journeyStates.filter((state) => !unaskedStates.includes(state) && !askedStates.includes(state));
  expect(neither).toEqual(['skipped', 'cancelled', 'failed', 'parked']);
  expect(unaskedStates.filter((state) => askedStates.includes(state))).toEqual([]);
});

test('a state is settled unless a step of ours or the customer is awaited', () => {
  const open: JourneyState[] = ['received', 'waiting', 'creating', 'asked', 'answered'];
  expect(journeyStates.filter((state) => settledStates.includes(state))).toEqual(
    journeyStates.filter((state) => !open.includes(state)),
  );
});

describe('an erased journey', () => {
  const at = new Date('2026-05-05T10:00:00Z');
  const personal: Partial<Journey> = {
    contact: { kind: 'email', value: 'erika@example.com' },
    personId: 'p-7',
    values: { name: 'Erika' },
    answer: { grade: 4, comment: 'Frau Muster was kind', seenAt: at, version: 1 },
    survey: { at, answers: { 1: 'Erika' } },
    given: { at, grade: 4, comment: 'Frau Muster', delivered: true },
    intent: { token: 't', at, campaign: 12, numAppeals: 0, lastAppeal: null, searchAfter: at },
    place: { timeZone: 'Europe/Tallinn' },
    why: 'Erika was out of office',
  };

  test.each(journeyStates)('it keeps of one in %s what leads to nobody, and ends what was under way', (state) => {
    const before = journeyIn(state, { ...personal, rule: 'phone team', requestId: '81' });
    const ends = ['received', 'waiting', 'asked', 'answered', 'failed', 'parked'].includes(state);
    expect(erased(before, at)).toStrictEqual({
      ...journeyIn(ends ? 'cancelled' : state),
      closing: 'erased',
      rule: 'phone team',
      requestId: '81',
      why: 'erased at the request of the person or the vendor',
      updatedAt: at,
      erasedAt: at,
    });
  });

  const lateOnes: [state: JourneyState, why: string | undefined, expected: Partial<Journey>][] = [
    [
      'received',
      'old',
      { state: 'skipped', reason: 'erased', why: 'its person was erased after the record was closed' },
    ],
    ['skipped', 'no contact', { state: 'skipped', why: 'no contact' }],
    ['skipped', undefined, { state: 'skipped', why: 'its person was erased after the record was closed' }],
    ['written', 'old', { state: 'written', why: 'its person was erased after the record was closed' }],
  ];
  test.each(lateOnes)('one in %s with the reason %s, told of after the erasure, says why', (state, why, expected) => {
    const journey = journeyIn(state, why === undefined ? {} : { why });
    const gone = { closing: 'erased', updatedAt: at, erasedAt: at };
    expect(erased(journey, at, 'skipped')).toStrictEqual({ ...journey, ...gone, ...expected });
  });
});

const at = new Date('2026-05-04T10:00:00Z');
const intent: Intent = { token: 't', at, campaign: 12, numAppeals: 0, lastAppeal: null, searchAfter: at };
const answer = { grade: 4, comment: null, seenAt: at, version: 1 };
const nothing: Partial<Journey> = {};
const counting: [state: JourneyState, what: string, more: Partial<Journey>, counts: boolean][] = [
  ['received', '', nothing, false],
  ['skipped', '', nothing, false],
  ['waiting', '', nothing, false],
  ['waiting', ', whose request was refused', { requestId: '7' }, false],
  ['creating', '', nothing, true],
  ['asked', '', nothing, true],
  ['answered', '', nothing, true],
  ['written', '', nothing, true],
  ['expired', '', nothing, true],
  ['tested', '', nothing, true],
  ['withheld', '', nothing, true],
  ['parked', '', nothing, true],
  ['waiting', ' with an intent', { intent }, false],
  ['failed', ', which never reached the service', nothing, false],
  ['failed', ' after it had asked', { requestId: '7' }, true],
  ['cancelled', ' before it asked, or taken back', { requestId: '7' }, false],
  ['cancelled', ' while nobody knew', { intent }, true],
  ['cancelled', ' with an answer', { answer }, true],
  ['cancelled', ' and erased', { erasedAt: at }, true],
  ['skipped', ' and erased', { erasedAt: at }, false],
];
test.each(counting)('a journey that is %s%s counts as having asked, or not', (state, _, more, counts) => {
  const { intent: _1, requestId: _2, answer: _3, ...bare } = journeyIn(state);
  const journey = { ...bare, ...more };
  expect(mayHaveAsked(journey)).toBe(counts);
  expect(endedUnasked(journey)).toBe(settledStates.includes(state) && !counts);
});

test('who got the request is the test contact in test mode, else the customer', () => {
  const contact = { kind: 'email', value: 'erika@example.com' } as const;
  const ours = { kind: 'email', value: 'us@example.com' } as const;
  expect(askedContactOf({ contact })).toBe(contact);
  expect(askedContactOf({ contact, test: { contact: ours } })).toBe(ours);
});

test('what comes before a state are those that it may follow', () => {
  const may = (to: JourneyState) => pairs.filter(([, one, allowed]) => one === to && allowed).map(([from]) => from);
  for (const to of journeyStates) expect(statesBefore(to)).toEqual(may(to));
});

test('only what was cancelled may come back', () => {
  const { intent: _, requestId: _1, answer: _2, ...bare } = journeyIn('skipped', { wasOut: true });
  expect(mayComeBack(bare)).toBe(false);
});

describe('a step that is taken if the journey is still in its state', () => {
  const { why: _, ...journey } = journeyIn('waiting', { intent });
  const after = { ...journey, state: 'skipped', updatedAt: at };
  const rows: [what: string, from: JourneyState | JourneyState[], more: Partial<Step>, expected: unknown][] = [
    ['is taken, without a reason or a line of the trace', 'waiting', {}, { journey: after, trace: [] }],
    ['is taken from one of several states', ['asked', 'waiting'], {}, { journey: after, trace: [] }],
    ['is not taken from another state', ['received', 'asked'], {}, undefined],
    ['is not taken where something else has to be so', 'waiting', { when: ({ rule }) => rule === 'other' }, undefined],
    ['is taken where that is so', 'waiting', { when: ({ id }) => id === journey.id }, { journey: after, trace: [] }],
    [
      'keeps its reason, which the trace tells',
      'waiting',
      { why: 'no contact' },
      { journey: { ...after, why: 'no contact' }, trace: ['skipped: no contact'] },
    ],
    [
      'keeps the code of its reason, which the trace leaves out',
      'waiting',
      { why: 'no contact', reason: 'no-contact' },
      { journey: { ...after, why: 'no contact', reason: 'no-contact' }, trace: ['skipped: no contact'] },
    ],
    [
      'has other lines in the trace where it says so',
      'waiting',
      { why: 'no contact', trace: ['looked for, in vain'] },
      { journey: { ...after, why: 'no contact' }, trace: ['looked for, in vain'] },
    ],
    ['changes what it says', 'waiting', { change: { attempts: 2 } }, { journey: { ...after, attempts: 2 }, trace: [] }],
    [
      'changes by what is there',
      'waiting',
      { change: ({ id }) => ({ rule: `rule of ${id}` }) },
      { journey: { ...after, rule: `rule of ${journey.id}` }, trace: [] },
    ],
  ];
  test.each(rows)('%s', (_what, from, more, expected) => {
    expect(ifStill(from, { to: 'skipped', at, ...more })(journey)).toStrictEqual(expected);
  });

  test('leaves out what is over, and the journey it was shown as it was', () => {
    const { intent: _, ...others } = after;
    const decision = ifStill('waiting', { to: 'skipped', at, without: ['intent'] })(journey);
    expect(decision).toStrictEqual({ journey: others, trace: [] });
    expect(journey.intent).toBe(intent);
  });

  test('gives way to the first of several that leaves the journey alone no more', () => {
    const to = (state: JourneyState, why: string) => ifStill(state, { to: 'failed', at, why });
    const decide = firstOf(to('creating', 'one'), to('waiting', 'two'), to('waiting', 'three'));
    expect(decide(journey)).toMatchObject({ journey: { state: 'failed', why: 'two' } });
    expect(decide(journeyIn('asked'))).toBeUndefined();
  });
});
