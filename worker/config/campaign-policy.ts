import { z } from 'zod';
import { Cap } from './cap.ts';
import { Throttle } from './throttle.ts';

const frequency = {
  throttle: Throttle.optional().describe(
    'No request to a person who was asked this recently in one of these campaigns',
  ),
  cap: Cap.optional().describe('At most so many requests in these campaigns'),
};

const campaignId = z.string().regex(/^[1-9]\d*$/, 'must be the number of a campaign');

export const Campaigns = z.record(campaignId, z.strictObject(frequency));
export const Groups = z.record(
  z.string().min(1),
  z.strictObject({
    campaigns: z.array(z.int().positive()).min(1).describe('The numbers of the campaigns'),
    ...frequency,
  }),
);

/**
 * What holds for requests in this campaign beside the rule's own settings and those over everything: the campaign's, then those of
 * its groups. `name`: for traces.
 */
export function policiesOf(
  campaign: number,
  policy: { campaigns?: z.output<typeof Campaigns> | undefined; groups?: z.output<typeof Groups> | undefined },
) {
  const own = policy.campaigns?.[campaign];
  const groups = Object.entries(policy.groups ?? {}).filter(([, { campaigns }]) => campaigns.includes(campaign));
  return [
    ...(own ? [{ ...own, name: `campaign ${campaign}`, campaigns: [campaign] }] : []),
    ...groups.map(([name, group]) => ({ ...group, name: `group "${name}"` })),
  ];
}
