import type { Journey } from '../journey/journey.ts';
import type { Policy } from './policy/source-policy.ts';
import type { Queues } from './queues.ts';

export interface ActingContext extends Pick<Policy, 'answerRules'>, Pick<Queues, 'queueAct'> {}

/** Queues what the answer rules make of a journey's answer, as soon as it has settled for the first of them. */
export async function queueActs(
  { id, answer }: Pick<Journey, 'id' | 'answer'>,
  { answerRules, queueAct }: ActingContext,
): Promise<void> {
  if (answer === undefined || answerRules.length === 0) return;
  const settleMs = Math.min(...answerRules.map(({ settle }) => settle));
  await queueAct(id, answer.version, new Date(answer.seenAt.getTime() + settleMs));
}
