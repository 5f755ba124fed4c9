import type { NoStatus } from '../../core/connector/calls.ts';
import { lookUp } from '../../core/look-up.ts';
import type { JourneyCall } from '../journey/calls.ts';

const withoutStatus: Readonly<Record<NoStatus, string>> = {
  'never-sent': 'no connection',
  late: 'no whole answer in time',
  stopped: 'stopped',
  cut: 'the connection broke off',
  unbearable: 'an unreadable answer',
};

/** How a call ended, for people: the status, or why there is none. */
export function endInWords({ end }: Pick<JourneyCall, 'end'>): string {
  return typeof end === 'number' ? String(end) : (lookUp(withoutStatus, end) ?? end);
}
