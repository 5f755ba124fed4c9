import { adviceOf, messageOf } from '../../../core/errors.ts';
import { type Expression, isTrue } from '../../../core/mapping/expression.ts';
import type { Log } from '../../../core/ports.ts';
import type { Holds } from '../../operations/holds.ts';
import { windowDoubts } from '../policy/asking-time.ts';
import { campaignOf, type DecisionContext, ruleFault } from '../policy/decide.ts';
import type { LoadedRule } from '../rules.ts';
import { inEachCampaign } from '../rules.ts';

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

/** A rule that no closing reaches, or whose condition is true for no closing that reaches the rule. */
export interface DeadRule {
  /** The rule's place among the source's rules. */
  index: number;
  problem: string;
  remedy: string;
}

type Conditional = Pick<LoadedRule, 'name' | 'when'>;

/**
 * Rules that can never be chosen, as far as closeloop can know without a record: because of conditions with the same result for every record (`true`,
 * `1 = 2`), or conditions that an earlier rule has in the same words. Pure.
 */
export function deadRules(rules: readonly Conditional[], never: readonly { when: Expression }[] = []): DeadRule[] {
  const always = never.find(({ when }) => truthOf(when) === true);
  return rules.flatMap((rule, index): DeadRule[] => {
    const dead = (problem: string, remedy: string) => [
      { index, problem: `rule "${rule.name}" asks about nothing: ${problem}`, remedy },
    ];
    if (always)
      return dead(`\`${always.when.source}\` in never is true of every closing`, 'mend the condition, or take it out');
    if (rule.when && truthOf(rule.when) === false)
      return dead('its condition is false for every closing', 'mend the condition, or take the rule out');
    if (never.some(({ when }) => when.source === rule.when?.source))
      return dead('never has the same condition', 'take one of the two out');
    for (const earlier of rules.slice(0, index)) {
      if (truthOf(earlier.when) === true)
        return dead(`rule "${earlier.name}" above takes every closing`, 'give that rule a condition, or put it last');
      if (earlier.when && earlier.when.source === rule.when?.source)
        return dead(`rule "${earlier.name}" above has the same condition`, 'take one of the two out');
    }
    return [];
  });
}

/** The result of a condition that is the same for every record; undefined where the result depends on the record, or is not known. */
function truthOf(when: Expression | undefined): boolean | undefined {
  if (when === undefined) return true;
  return when.constant === undefined || !when.constant.ok ? undefined : isTrue(when.constant);
}
