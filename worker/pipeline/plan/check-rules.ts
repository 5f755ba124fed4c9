import { adviceOf, messageOf } from '../../../core/errors.ts';
import type { Log } from '../../../core/ports.ts';
import type { Holds } from '../../operations/holds.ts';
import { windowDoubts } from '../policy/asking-time.ts';
import { campaignOf, type DecisionContext, ruleFault } from '../policy/decide.ts';
import { inEachCampaign } from '../rules.ts';
import { deadRules } from './dead-rules.ts';

/** Reports problems of rules that can be found without a record; journeys of such a rule wait until it is mended. */
export async function checkRules(context: DecisionContext & { log: Log }, holds: Pick<Holds, 'set'>): Promise<void> {
  for (const { problem, remedy } of deadRules(context.rules, context.never.expressions)) {
    context.log.warn({ source: context.name, why: problem, remedy }, 'a rule is never chosen');
  }
  for (const { rule } of context.rules.flatMap(inEachCampaign)) {
    try {
      const campaign = await campaignOf(rule, context);
      const problem = ruleFault(rule, campaign, context);
      if (problem) throw problem;
      for (const doubt of windowDoubts(rule, campaign, context)) {
        context.log.warn({ source: context.name, rule: rule.name, ...doubt }, 'a window may not do what was meant');
      }
    } catch (error) {
      const advice = adviceOf(error);
      if (advice.kind === 'config' && advice.only !== undefined && advice.doubtful !== true) {
        await holds.set('plan', advice.only, messageOf(error));
        continue;
      }
      // The rule could not be checked: planning meets the same error, and retries.
      const about = { source: context.name, rule: rule.name, why: messageOf(error) };
      context.log.warn(about, 'the rule could not be checked');
    }
  }
}
