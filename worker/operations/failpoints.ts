import { CloseloopError } from '../../core/errors.ts';

/**
 * Places where a test may have the process killed: before and after each step of a journey whose effect outlives the process.
 * In the order in which a journey passes them.
 */
export const failpoints = [
  // intake
  'event-received',
  'event-stored',
  // plan
  'plan-begun',
  'record-read',
  'decision-saved',
  'ask-queued',
  // ask
  'ask-begun',
  'record-read-again',
  'contact-locked',
  'last-asked-noted',
  'intent-saved',
  'create-answered',
  'campaign-noted',
  'asked-saved',
  // a create whose outcome is unknown
  'unknown-noted',
  'searched',
  'back-to-waiting',
  // collect
  'collect-begun',
  'answer-saved',
  'write-back-queued',
  'collected-noted',
  // write back
  'write-back-begun',
  'vendor-written',
  'written-saved',
  // other ends of a journey
  'withdrawing-saved',
  'request-cancelled',
  'cancelled-saved',
  'expired-saved',
  // polls
  'poll-events-queued',
  'poll-cursor-saved',
] as const;
export type Failpoint = (typeof failpoints)[number];

/**
 * `name` or `name:n`, the n-th time it is passed.
 * @throws CloseloopError config for a name that isn't in the list: a test that kills nowhere would prove nothing
 */
export function failpointAt(wanted: string, die: () => void): (name: Failpoint) => void {
  const [name = '', nth = '1'] = wanted.split(':');
  if (!failpoints.some((one) => one === name) || !/^[1-9]\d*$/.test(nth)) {
    const message = `CLOSELOOP_FAILPOINT=${wanted}: must be one of ${failpoints.join(', ')}, and perhaps :n`;
    throw new CloseloopError(message, { kind: 'config' });
  }
  let left = Number(nth);
  return (passed) => {
    if (passed !== name) return;
    left -= 1;
    if (left === 0) die();
  };
}

const wanted = process.env.CLOSELOOP_FAILPOINT ?? '';

/** Whether a test has asked for this process to be killed. */
export const isDoomed = wanted !== '';

/** Kills this process with SIGKILL where `CLOSELOOP_FAILPOINT` names this place. Only tests set the variable. */
export const failpoint: (name: Failpoint) => void = !isDoomed
  ? () => undefined
  : failpointAt(wanted, () => process.kill(process.pid, 'SIGKILL'));
