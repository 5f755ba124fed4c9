import type { CampaignRule } from './rules.ts';

/** What asking by a rule depends on: jobs that need one of these wait while a person has to mend it. */
export function needsOf(rule: Pick<CampaignRule, 'name' | 'campaign'>): string[] {
  return [needOf.rule(rule), needOf.campaign(rule.campaign)];
}

export const needOf = {
  rule: ({ name, campaign }: Pick<CampaignRule, 'name' | 'campaign'>) => `rule "${name}" in campaign ${campaign}`,
  campaign: (id: number) => `campaign ${id}`,
};

/** Of asking at all: the service client's name of the create call's form. */
export const createNeed = 'operation create';
