/** How often each process sweeps by default. Real time. */
export const sweepEveryMs = 60_000;

/**
 * The shortest time between two probes of what is stopped or held, over all processes. Sweeps send the probes: the turn ends before the
 * next sweep of the process that took it. Real time.
 */
export const probeTurnMs = (everyMs = sweepEveryMs): number => Math.floor((everyMs * 5) / 6);
