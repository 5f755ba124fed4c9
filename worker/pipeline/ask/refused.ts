import { FeedbackError, isAboutCampaign, misnamed } from '../../../core/feedback/failure.ts';
import type { Campaign } from '../../../core/feedback/schemas.ts';
import { shownField } from '../../../core/mismatches.ts';
import { asCampaignFault, campaignFault, campaignOf } from '../policy/decide.ts';
import type { CampaignRule } from '../rules.ts';
import type { AskContext } from './ask-steps.ts';

/**
 * The error of a create that the service refused. A missing or unknown parameter is not the record's fault: a person has to mend
 * the campaign, or the form of the call. An unknown path or method is the form's fault, for every campaign.
 */
export async function faultOf(error: unknown, rule: CampaignRule, context: AskContext): Promise<unknown> {
  const { campaign } = rule;
  if (!(error instanceof FeedbackError) || isAboutCampaign(error)) return asCampaignFault(error, campaign);
  const names = misnamed(error);
  if (names.length === 0) return error;
  // A custom field without a value is this record's own fault.
  const own = new Set((await campaignOf(rule, context)).custom_fields.map(({ name }) => name));
  const others = names.filter((name) => !own.has(name)).map((name) => shownField(name));
  if (others.length === 0) return error;
  const why = `campaign ${campaign}: the service requires or does not know ${others.join(', ')}, see feedback.operations.create: "closeloop requests create" tries it by hand. ${error.message}`;
  return campaignFault(why, campaign, error);
}

/** Whether the service refuses values of custom fields. */
export function isAboutValues(error: unknown, { custom_fields }: Campaign): boolean {
  if (!(error instanceof FeedbackError) || error.status !== 400) return false;
  return custom_fields.some(({ name }) => error.fields !== undefined && Object.hasOwn(error.fields, name));
}
