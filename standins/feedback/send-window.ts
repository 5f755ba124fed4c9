import type { Zone } from './zone.ts';

/** Wall-clock milliseconds since midnight. Half-open; `until` before `from` goes over midnight; equal is always open. */
export interface SendWindow {
  from: number;
  until: number;
}

export function isOpen(window: SendWindow, zone: Zone, at: number): boolean {
  const { from, until } = window;
  if (from === until) return true;
  const time = zone.timeOfDay(at);
  return from < until ? from <= time && time < until : from <= time || time < until;
}

/** When a request scheduled for `at` goes out: `at` while the window is open, else the next instant it is. */
export function firstOpenAt(window: SendWindow, zone: Zone, at: number): number {
  if (isOpen(window, zone, at)) return at;
  const today = zone.day(at);
  // A window inside the hour that a clock change leaves out doesn't open that day: hence more than tomorrow.
  for (let day = today; day <= today + 3; day += 1) {
    for (const instant of zone.instants(day, window.from)) {
      if (instant >= at && isOpen(window, zone, instant)) return instant;
    }
  }
  throw new RangeError('the send window never opens');
}
