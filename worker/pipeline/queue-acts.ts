import type { Journey } from '../journey/journey.ts';
import type { Policy } from './policy/source-policy.ts';
import type { Queues } from './queues.ts';

export interface ActingContext extends Pick<Policy, 'answerRules'>, Pick<Queues, 'queueAct'> {}

/*
 * The write-back and the actions of an answer never run at the same time: where a vendor replaces all tags of a record at once, each would undo the
 * tags of the other. An action begins only while no write is due, and a write waits for actions that have begun. Both check the journey, whose
 * changes have an order. A write that succeeds is stored together with the actions that begin then (write-and-act.ts).
 */

/** Whether a process may be writing the answer on the record now: the write is due, and not done yet. */
export function isBeingWritten(
  { state, answer }: Pick<Journey, 'state' | 'answer'>,
  settleMs: number,
  now: Date,
): boolean {
  return state === 'answered' && answer !== undefined && answer.seenAt.getTime() + settleMs <= now.getTime();
}

/** Whether an action is under way at the vendor, or its process died during the action less than `searchAfterMs` ago. */
export function isActedOn({ acting }: Pick<Journey, 'acting'>, searchAfterMs: number, now: Date): boolean {
  return (
    acting?.acts.some(({ state, at }) => state === 'begun' && at.getTime() + searchAfterMs > now.getTime()) ?? false
  );
}

/** Queues acting on a journey's answer, for the time when the answer has settled for the first of the answer rules. */
export async function queueActs(
  { id, answer, acting }: Pick<Journey, 'id' | 'answer' | 'acting'>,
  { answerRules, queueAct }: ActingContext,
): Promise<void> {
  if (answer === undefined) return;
  // A killed process may have begun them. Where no rule says so any more, acting parks them and tells a person.
  const isOpen = acting?.acts.some(({ state }) => state === 'wanted' || state === 'begun') ?? false;
  if (answerRules.length === 0 && !isOpen) return;
  const settleMs = isOpen ? 0 : Math.min(...answerRules.map(({ settle }) => settle));
  await queueAct(id, answer.version, new Date(answer.seenAt.getTime() + settleMs));
}
