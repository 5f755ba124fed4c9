import type { Journey } from '../journey/journey.ts';
import type { Policy, Queues } from './context.ts';

/** Queues what the answer rules make of a journey's answer, as soon as it has settled for the first of them. */
export async function queueActs(
  { id, answer }: Pick<Journey, 'id' | 'answer'>,
  { answerRules, queueAct }: Pick<Policy, 'answerRules'> & Pick<Queues, 'queueAct'>,
): Promise<void> {
  if (answer === undefined || answerRules.length === 0) return;
  const settleMs = Math.min(...answerRules.map(({ settle }) => settle));
  await queueAct(id, answer.version, new Date(answer.seenAt.getTime() + settleMs));
}
