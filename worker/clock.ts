/**
 * Time as the loop sees it. The live clock is the machine's; the demo's runs faster, so that a day's windows pass in
 * seconds. Waits are given in the clock's own time and turned into real milliseconds in one place.
 */
export interface Clock {
  now(): Date;
  /** Real milliseconds for `ms` of this clock's time; at least 0. */
  real(ms: number): number;
  /** Real milliseconds until `at`; 0 when it has passed. */
  until(at: Date): number;
}

export const liveClock: Clock = {
  now: () => new Date(),
  real: (ms) => Math.max(0, ms),
  until: (at) => Math.max(0, at.getTime() - Date.now()),
};

/** Starts at `start` now, and runs `speed` times as fast as the machine's clock. */
export function fastClock(start: Date, speed: number): Clock {
  const begin = Date.now();
  const now = () => new Date(start.getTime() + (Date.now() - begin) * speed);
  const real = (ms: number) => Math.max(0, Math.ceil(ms / speed));
  return { now, real, until: (at) => real(at.getTime() - now().getTime()) };
}
