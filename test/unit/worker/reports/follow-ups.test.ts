import { describe, expect, test } from 'vitest';
import type { FollowUp } from '../../../../worker/journey/journey.ts';
import { type FollowedAnswer, followUpFigures } from '../../../../worker/reports/follow-ups.ts';

const at = (hour: number) => new Date(Date.UTC(2026, 4, 4, hour));
const open: FollowUp = { state: 'open', rule: 'unhappy', to: 'agent', openedAt: at(8), dueAt: at(12) };
const done = (hour: number): FollowUp => ({ ...open, state: 'done', doneBy: 'Maria', doneAt: at(hour) });
const answer = (followUp: FollowUp, more: Partial<FollowedAnswer> = {}): FollowedAnswer => ({
  followUp,
  grade: 2,
  maxGrade: 5,
  ...more,
});
const figuresOf = (...all: FollowedAnswer[]) => followUpFigures(all, at(13));

test('nothing was opened', () => {
  expect(figuresOf()).toEqual({
    ...{ opened: 0, done: 0, withinDue: 0, overdue: 0, untaken: 0 },
    ...{ firstActionMs: null, gradedAgain: 0, recovered: 0 },
  });
});

test('what is done late is done, and what is not done is overdue once its time is up', () => {
  const later: FollowUp = { ...open, dueAt: at(14) };
  expect(figuresOf(answer(done(12)), answer(done(13)), answer(open), answer(later))).toMatchObject({
    ...{ opened: 4, done: 2, withinDue: 1, overdue: 1, untaken: 2 },
  });
});

describe('the time to the first action', () => {
  const hour = 3_600_000;
  const taken = (hours: number): FollowUp => ({ ...open, state: 'taken', takenBy: 'Maria', takenAt: at(8 + hours) });
  test.each<[string, FollowUp[], number | null]>([
    ['is unknown while nobody has acted', [open, open], null],
    ['is until somebody took it', [taken(1)], hour],
    ['is until somebody ended it untaken', [done(11)], 3 * hour],
    ['is the first, however often it was opened again', [{ ...done(12), firstActionAt: at(9) }], hour],
    ['is of an odd number the one in the middle', [taken(1), taken(2), taken(5), open], 2 * hour],
    ['is of an even number the mean of two', [taken(1), taken(2)], 1.5 * hour],
  ])('%s', (_name, followUps, ms) => {
    expect(figuresOf(...followUps.map((one) => answer(one))).firstActionMs).toBe(ms);
  });
});

describe('a customer has recovered', () => {
  const next = (grade: number, maxGrade?: number, hasFollowUp = false) => ({ grade, maxGrade, hasFollowUp });
  test.each<[string, Partial<FollowedAnswer>, 0 | 1]>([
    ['by a better grade', { next: next(4, 5) }, 1],
    ['not by the same', { next: next(2, 5) }, 0],
    ['not by a better one that opened a follow-up, too', { next: next(3, 5, true) }, 0],
    ['not by a higher one on a longer scale that is no better', { next: next(4, 10) }, 0],
    ['by a lower one on a shorter scale that is better', { next: next(2, 3), grade: 3, maxGrade: 10 }, 1],
    ['by any grade after words alone', { next: next(1, 5), grade: null }, 1],
  ])('%s', (_name, more, recovered) => {
    expect(figuresOf(answer(open, more))).toMatchObject({ gradedAgain: 1, recovered });
  });

  test('not without another grade', () => {
    expect(figuresOf(answer(open))).toMatchObject({ gradedAgain: 0, recovered: 0 });
  });
});
