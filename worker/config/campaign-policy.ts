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
