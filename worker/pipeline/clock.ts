/**
 * The loop's clock. The live clock is the machine's; the demo's clock runs faster, so that a day's windows pass in seconds. Dates and
 * durations are in the clock's time; `real` and `until` convert them to real milliseconds.
 */
export interface Clock {
  now(): Date;
  /** Real milliseconds for `ms` of this clock's time; at least 0. */
  real(ms: number): number;
  /** Real milliseconds until `at`; 0 when it has passed. */
  until(at: Date): number;
  /** This clock's time when the machine's clock showed `machine`: deliveries bear the machine's, as signatures do. */
  at(machine: Date): Date;
}

export const liveClock: Clock = {
  now: () => new Date(),
  real: (ms) => Math.max(0, ms),
  until: (at) => Math.max(0, at.getTime() - Date.now()),
  at: (machine) => machine,
};

/** A clock that shows `start` until `begin` is called, and then runs `speed` times as fast as the machine's clock. */
export function fastClock(start: Date, speed: number): Clock & { begin(): void } {
  let begun: number | undefined;
  const at = (machine: Date) =>
    new Date(start.getTime() + (begun === undefined ? 0 : machine.getTime() - begun) * speed);
  const now = () => at(new Date());
  const real = (ms: number) => Math.max(0, Math.ceil(ms / speed));
  return {
    now,
    real,
    at,
    until: (until) => real(until.getTime() - now().getTime()),
    begin: () => {
      begun = Date.now();
    },
  };
}
