import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxAgeProblems, tooOld } from '../../../../../worker/pipeline/policy/asking-time.ts';

const hour = 3_600_000;
const day = 24 * hour;
const now = new Date('2026-11-22T10:00:00Z');
const ago = (ms: number) => new Date(now.getTime() - ms);
const sms = { type: 'sms', send_delay: 120 } as const;

describe('tooOld', () => {
  test.each<[string, Parameters<typeof tooOld>[0], Parameters<typeof tooOld>[1], RegExp | undefined]>([
    ['three days and the delay of the campaign are not too old', { closedAt: ago(3 * day + 2 * hour) }, {}, undefined],
    ['more is', { closedAt: ago(3 * day + 2 * hour + 1) }, {}, /^too old to ask: closed 3d2h ago \(maxAge 3d2h\)$/],
    ['a delay of the rule counts instead', { closedAt: ago(9 * day) }, { delay: 7 * day }, undefined],
    ['… to its end', { closedAt: ago(10 * day + 1) }, { delay: 7 * day }, /closed 10d ago \(maxAge 10d\)/],
    ['a configured age holds as it stands', { closedAt: ago(day + 1) }, { maxAge: day }, /closed 1d ago \(maxAge 1d\)/],
    [
      'less than an hour is told in full',
      { closedAt: ago(hour / 2) },
      { maxAge: hour / 3 },
      /closed 30m ago \(maxAge 20m\)/,
    ],
    ['false: of any age', { closedAt: ago(4_000 * day) }, { maxAge: false }, undefined],
    ['one of the future is not', { closedAt: ago(-day) }, {}, undefined],
    ['what was planned for now is asked', { closedAt: ago(8 * day), dueAt: now }, {}, undefined],
    ['… also an evening later', { closedAt: ago(8 * day), dueAt: ago(6 * hour) }, {}, undefined],
    ['… and three days later', { closedAt: ago(8 * day), dueAt: ago(3 * day) }, {}, undefined],
    [
      '… but no more',
      { closedAt: ago(8 * day), dueAt: ago(30 * day) },
      {},
      /: 30d later than planned \(maxAge 3d2h\)$/,
    ],
    [
      'a configured age leaves what the delay does not take',
      { closedAt: ago(1), dueAt: ago(22 * hour) },
      { maxAge: day },
      undefined,
    ],
    ['… and no more', { closedAt: ago(1), dueAt: ago(22 * hour + 1) }, { maxAge: day }, /22h later than planned/],
  ])('%s', (_, closing, rule, expected) => {
    const skip = tooOld(closing, { delay: undefined, maxAge: undefined, ...rule }, sms, now);
    expect(skip).toEqual(expected && { reason: 'too-old', why: expect.stringMatching(expected) });
  });

  test('nothing is too old for an external campaign, in which nobody is asked', () => {
    expect(
      tooOld({ closedAt: ago(900 * day) }, { delay: 0, maxAge: day }, { ...sms, type: 'external' }, now),
    ).toBeUndefined();
  });

  test('whatever is asked at its time is never too late, and what is too old stays so', () => {
    const ms = fc.integer({ min: 0, max: 400 * day });
    fc.assert(
      fc.property(ms, ms, ms, fc.option(ms, { nil: undefined }), (age, late, delay, maxAge) => {
        const rule = { delay, maxAge };
        if (maxAgeProblems(rule, sms).length > 0) return;
        const closing = { closedAt: ago(age), dueAt: ago(late) };
        expect(tooOld({ ...closing, dueAt: now }, rule, sms, now)).toBeUndefined();
        const later = new Date(now.getTime() + day);
        if (tooOld(closing, rule, sms, now)) expect(tooOld(closing, rule, sms, later)).toBeDefined();
      }),
    );
  });
});

test('a maxAge that its own delay uses up is a problem of the rule', () => {
  const problems = (maxAge: number | false | undefined, delay?: number) => maxAgeProblems({ maxAge, delay }, sms);
  expect(problems(2 * hour)).toEqual([
    'maxAge (2h) must be longer than the delay (2h): each closing would be too old to ask about',
  ]);
  expect(maxAgeProblems({ maxAge: hour, delay: hour }, { ...sms, type: 'external' })).toEqual([]);
  expect([problems(3 * hour), problems(undefined), problems(false), problems(hour, 0)]).toEqual([[], [], [], []]);
});
