import { compileExpression, type Expression } from '../../core/mapping/expression.ts';
import { compileMapping, type Mapping } from '../../core/mapping/mapping.ts';
import { campaignsIn } from '../config/campaign-choice.ts';
import type { Rule } from '../config/rule.ts';

/** A rule with its expressions compiled. */
export interface LoadedRule extends Omit<Rule, 'when' | 'contact' | 'fields'> {
  when: Expression | undefined;
  contact: Expression[];
  mapping: Mapping;
  /** What is evaluated where `when` is true: the expressions of contact and mapping. */
  then: readonly Expression[];
}

/** A rule as it asks in one of its campaigns: it may have one for each language. */
export interface CampaignRule extends LoadedRule {
  campaign: number;
}

/** The rule as it asks in this campaign: itself where it has no other. */
export function inCampaign(rule: LoadedRule, campaign: number): CampaignRule {
  return asksIn(rule, campaign) ? rule : { ...rule, campaign };
}

/** Whether this is the rule's one campaign, in every language. */
function asksIn(rule: LoadedRule, campaign: number): rule is CampaignRule {
  return rule.campaign === campaign;
}

/** The rule in each of its campaigns, with the setting that names the campaign. */
export function inEachCampaign(rule: LoadedRule): { rule: CampaignRule; setting: string }[] {
  return campaignsIn(rule.campaign).map(({ campaign, setting }) => ({ rule: inCampaign(rule, campaign), setting }));
}

export function loadRule(rule: Rule): LoadedRule {
  const contact = (typeof rule.contact === 'string' ? [rule.contact] : rule.contact).map(compileExpression);
  const mapping = compileMapping(rule.fields);
  const when = rule.when === undefined ? undefined : compileExpression(rule.when);
  return { ...rule, when, contact, mapping, then: [...contact, ...mapping.values()] };
}
