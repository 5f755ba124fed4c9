import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { instantsOf, periodBefore, periodCalled, stepFor, stepsOf } from '../../../../worker/reports/period.ts';
import { namedPeriods, stepNames } from '../../../../worker/reports/period-names.ts';

const period = (since: string, until = since) => ({ since, until });
const daysOf = ({ since, until }: { since: string; until: string }): string[] => {
  const days: string[] = [];
  for (let day = Temporal.PlainDate.from(since); day.toString() <= until; day = day.add({ days: 1 }))
    days.push(day.toString());
  return days;
};
const Periods = fc.tuple(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 120 })).map(([back, length]) => {
  const until = Temporal.PlainDate.from('2027-03-01').subtract({ days: back });
  return period(until.subtract({ days: length }).toString(), until.toString());
});

describe('the period before', () => {
  test.each([
    [period('2026-03-02', '2026-03-31'), period('2026-01-31', '2026-03-01')],
    [period('2026-11-22'), period('2026-11-21')],
    // Whole months beside whole months.
    [period('2026-03-01', '2026-03-31'), period('2026-02-01', '2026-02-28')],
    [period('2026-10-01', '2026-12-31'), period('2026-07-01', '2026-09-30')],
    [period('2026-11-01', '2026-11-29'), period('2026-10-03', '2026-10-31')],
  ])('%o is %o', (of, before) => {
    expect(periodBefore(of)).toEqual(before);
  });

  test('ends the day before, and is as long unless both are whole months', () => {
    fc.assert(
      fc.property(Periods, (of) => {
        const before = periodBefore(of);
        expect(Temporal.PlainDate.from(before.until).add({ days: 1 }).toString()).toBe(of.since);
        const isMonths = of.since.endsWith('-01') && Temporal.PlainDate.from(of.until).add({ days: 1 }).day === 1;
        if (isMonths) expect(before.since).toMatch(/-01$/);
        else expect(daysOf(before)).toHaveLength(daysOf(of).length);
      }),
    );
  });
});

test.each([
  ['7-days', '2026-03-01', period('2026-02-23', '2026-03-01')],
  ['30-days', '2026-03-01', period('2026-01-31', '2026-03-01')],
  ['this-month', '2026-03-01', period('2026-03-01')],
  ['last-month', '2026-03-31', period('2026-02-01', '2026-02-28')],
  ['last-month', '2026-01-05', period('2025-12-01', '2025-12-31')],
  ['this-quarter', '2026-11-23', period('2026-10-01', '2026-11-23')],
  ['last-quarter', '2026-11-23', period('2026-07-01', '2026-09-30')],
  ['last-quarter', '2026-02-28', period('2025-10-01', '2025-12-31')],
] as const)('the period called %s, on %s, is %o', (name, today, expected) => {
  expect(periodCalled(name, today)).toEqual(expected);
});

test('the steps of a period are all of its days, each once and in order', () => {
  fc.assert(
    fc.property(Periods, fc.constantFrom(...stepNames), (of, every) => {
      const steps = stepsOf(of, every);
      expect(steps.flatMap(daysOf)).toEqual(daysOf(of));
      if (every === 'month')
        expect(steps.every(({ since, until }) => since.slice(0, 7) === until.slice(0, 7))).toBe(true);
      const chosen = stepFor(of);
      if (chosen !== undefined) expect(stepsOf(of, chosen).length).toBeLessThanOrEqual(16);
    }),
  );
  expect(stepFor(period('2026-11-22'))).toBeUndefined();
  for (const name of namedPeriods) expect(stepFor(periodCalled(name, '2026-11-23'))).toBeDefined();
});

test('a period lasts from midnight to midnight of the account, also when the clocks change', () => {
  expect(instantsOf({ since: '2026-10-25', until: '2026-10-25' }, 'Europe/Tallinn')).toEqual({
    from: new Date('2026-10-24T21:00:00Z'),
    until: new Date('2026-10-25T22:00:00Z'),
  });
});
