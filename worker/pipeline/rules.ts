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

/**
 * The policies that hold for requests in this campaign beside the rule's own settings and those over everything: the campaign's, then those of
 * its groups. `name`: for traces.
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
  /** Ready-made conditions over the record: why nobody is asked, if so. */
  ofRecord: readonly OfRecord[];
  /** Conditions over every contact that the chosen rule finds in the record. */
  ofPerson: readonly OfPerson[];
}

interface OfRecord {
  /** The condition as it stands in the configuration: `tags: vip, press`. */
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

/** The part that all asking depends on: the service client's name of the create call's form. */
export const createNeed = 'operation create';

/** The parts that asking by a rule depends on, the create call included. */
export function askNeedsOf(rule: Pick<CampaignRule, 'name' | 'campaign'>): string[] {
  return [...needsOf(rule), createNeed];
}

/**
 * The caps under which a request of this rule takes a place: a test takes no place from customers, and in an external campaign nobody is asked.
 * @param source the name that its data is stored under: a rename begins no new count
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
