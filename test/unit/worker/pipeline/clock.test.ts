import { describe, expect, test } from 'vitest';
import { fastClock, liveClock } from '../../../../worker/pipeline/clock.ts';

describe('the live clock', () => {
  test('it is the machine’s', () => {
    const before = Date.now();
    expect(liveClock.now().getTime()).toBeGreaterThanOrEqual(before);
    expect(liveClock.real(1_500)).toBe(1_500);
    expect(liveClock.until(new Date(Date.now() + 60_000))).toBeGreaterThan(50_000);
  });
  test('it waits for nothing that is past', () => {
    expect([liveClock.real(-1), liveClock.until(new Date(0))]).toEqual([0, 0]);
  });
});

describe('a fast clock', () => {
  const start = new Date('2026-05-04T08:00:00Z');
  test('it starts where it is told to and runs as fast as it is told to', () => {
    const realBefore = Date.now();
    const clock = fastClock(start, 3_600);
    clock.begin();
    const first = clock.now().getTime();
    const ran = (first - start.getTime()) / 3_600;
    expect(ran).toBeGreaterThanOrEqual(0);
    expect(ran).toBeLessThanOrEqual(Date.now() - realBefore + 1);
    expect(clock.now().getTime()).toBeGreaterThanOrEqual(first);
  });
  test('it tells its own time of an instant of the machine', () => {
    const clock = fastClock(start, 3_600);
    const before = Date.now();
    expect(clock.at(new Date(before))).toEqual(start);
    clock.begin();
    const ahead = clock.at(new Date(before + 1_000)).getTime() - start.getTime();
    expect(ahead).toBeLessThanOrEqual(3_600_000);
    expect(ahead).toBeGreaterThan(3_600_000 - (Date.now() - before + 1) * 3_600);
  });
  test('it turns its own time into real milliseconds, rounded up, never below 0', () => {
    const clock = fastClock(start, 3_600);
    clock.begin();
    expect([clock.real(3_600_000), clock.real(1), clock.real(-5)]).toEqual([1_000, 1, 0]);
    expect(clock.until(start)).toBe(0);
    const left = clock.until(new Date(start.getTime() + 86_400_000));
    expect(left).toBeLessThanOrEqual(24_000);
    expect(left).toBeGreaterThan(20_000);
  });
});
