import type { Campaign } from '../../core/feedback/schemas.ts';
import type { Expression } from '../../core/mapping/expression.ts';
import { compileExpression } from '../../core/mapping/expression-compile.ts';
import { compileMapping, type Mapping } from '../../core/mapping/mapping.ts';
import { campaignsIn } from '../config/campaign-choice.ts';
import type { Policy } from '../config/policy.ts';
import type { Rule } from '../config/rule.ts';
import type { CapScope } from '../journey/cap-slots.ts';

/** A rule with its expressions compiled. */
export interface LoadedRule extends Omit<Rule, 'when' | 'contact' | 'fields'> {
  when: Expression | undefined;
  contact: Expression[];
  mapping: Mapping;
  /** The expressions of contact and mapping, which are evaluated where `when` is true. */
  then: readonly Expression[];
}

/** A rule with one of its campaigns: a rule may have a campaign for each language. */
export interface CampaignRule extends LoadedRule {
  campaign: number;
}

/** The rule with this campaign; the same object where the rule has no other campaign. */
export function inCampaign(rule: LoadedRule, campaign: number): CampaignRule {
  return asksIn(rule, campaign) ? rule : { ...rule, campaign };
}

/** Whether this is the rule's only campaign, in every language. */
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

/**
 * The policies that hold for requests in this campaign beside the rule's own settings and the general policy: the campaign's policy, then the
 * policies of its groups. `name`: for traces.
 */
export function policiesOf(campaign: number, policy: Pick<Policy, 'campaigns' | 'groups'>) {
  const own = policy.campaigns?.[campaign];
  const groups = Object.entries(policy.groups ?? {}).filter(([, { campaigns }]) => campaigns.includes(campaign));
  return [
    ...(own ? [{ ...own, name: `campaign ${campaign}`, campaigns: [campaign] }] : []),
    ...groups.map(([name, group]) => ({ ...group, name: `group "${name}"` })),
  ];
}

/** The people and records about whom no rule asks. */
export interface Never {
  /** Conditions over the record, in JSONata. */
  expressions: readonly { when: Expression; why: string }[];
  /** Ready-made conditions over the record, each with the reason for not asking. */
  ofRecord: readonly OfRecord[];
  /** Conditions over every contact that the chosen rule finds in the record. */
  ofPerson: readonly OfPerson[];
}

interface OfRecord {
  /** The condition as the configuration writes it: `tags: vip, press`. */
  what: string;
  reads: readonly Expression[];
  reasonFor: (values: readonly unknown[], closedAt: Date) => string | undefined;
}

interface OfPerson {
  what: string;
  reasonFor: (contacts: readonly string[]) => string | undefined;
}

/** The parts that asking by a rule depends on: jobs that need a faulty part wait until a person has mended it. */
export function needsOf(rule: Pick<CampaignRule, 'name' | 'campaign'>): string[] {
  return [needOf.rule(rule), needOf.campaign(rule.campaign)];
}

export const needOf = {
  rule: ({ name, campaign }: Pick<CampaignRule, 'name' | 'campaign'>) => `rule "${name}" in campaign ${campaign}`,
  campaign: (id: number) => `campaign ${id}`,
};

/** The part that all asking depends on: the name that the service's client gives to the form of the create call. */
export const createNeed = 'operation create';

/** The parts that asking by a rule depends on, the create call included. */
export function askNeedsOf(rule: Pick<CampaignRule, 'name' | 'campaign'>): string[] {
  return [...needsOf(rule), createNeed];
}

/**
 * The caps under which a request of this rule takes a slot: a test takes no slot from customers, and in an external campaign the service asks nobody.
 * @param source the name that the source's data is stored under, so that a rename begins no new count
 */
export function capsOn(source: string, rule: CampaignRule, { type }: Campaign, policy: Policy): CapScope[] {
  const { name, cap, campaign, test } = rule;
  if (test || type === 'external') return [];
  return [
    ...(cap ? [{ ...cap, name: `rule "${name}" of ${source}` }] : []),
    ...policiesOf(campaign, policy).flatMap(({ name: of, cap: theirs }) => (theirs ? [{ ...theirs, name: of }] : [])),
    ...(policy.cap ? [{ ...policy.cap, name: 'policy' }] : []),
  ];
}
