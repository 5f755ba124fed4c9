import type { Contact } from '../../../core/contact.ts';
import type { CreateOptions, CustomValue, FeedbackRequest } from '../../../core/feedback/client.ts';
import type { Campaign } from '../../../core/feedback/schemas.ts';
import type { Service } from '../context.ts';
import type { LoadedRule } from '../rules.ts';
import { recipientOf, testMark } from './recipient.ts';

/** A request about a closing of this customer. */
interface RequestToSend {
  rule: LoadedRule;
  campaign: Campaign;
  customer: Contact;
  scheduled: Date;
  customFields: Record<string, CustomValue>;
}

/**
 * Creates a feedback request: the one place of the pipeline that does. In test mode the customer's contact goes no further than
 * here, whatever led here.
 */
export async function sendRequest(
  { rule, campaign, customer, scheduled, customFields }: RequestToSend,
  options: CreateOptions,
  { feedback }: Pick<Service, 'feedback'>,
): Promise<FeedbackRequest> {
  const { contact } = recipientOf(customer, rule, campaign.type);
  const marked = { ...customFields, ...(rule.test && testMark(rule.test, campaign)) };
  return await feedback.create({ campaign: campaign.id, contact, scheduled, customFields: marked }, options);
}
