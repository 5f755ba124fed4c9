import { adviceOf, messageOf } from '../../../core/errors.ts';
import type { Holds } from '../../operations/holds.ts';
import type { Operations } from '../context.ts';
import { campaignOf, type DecisionContext, ruleFault } from './decide.ts';

/** Problems of rules that can be seen without a record: told now, and what such a rule is chosen for waits for a mend. */
export async function checkRules(
  context: DecisionContext & Pick<Operations, 'log'>,
  holds: Pick<Holds, 'set'>,
): Promise<void> {
  for (const rule of context.rules) {
    try {
      const problem = ruleFault(rule, await campaignOf(rule, context), context);
      if (problem) throw problem;
    } catch (error) {
      const advice = adviceOf(error);
      if (advice.kind === 'config' && advice.only !== undefined && advice.doubtful !== true) {
        await holds.set('plan', advice.only, messageOf(error));
        continue;
      }
      // No verdict on the rule: planning meets the same error, and retries.
      const about = { source: context.name, rule: rule.name, why: messageOf(error) };
      context.log.warn(about, 'the rule could not be checked');
    }
  }
}
