import { type CampaignType, type Contact, contactFor } from '../../../core/contact.ts';
import { CloseloopError } from '../../../core/errors.ts';
import type { Campaign, ContactRecord } from '../../../core/feedback/schemas.ts';
import type { TestContact } from '../../config/test-mode.ts';
import type { Skip } from '../../journey/reasons.ts';
import { type CampaignRule, needOf } from '../rules.ts';

/** Who gets a request: the customer, or in test mode the test contact. */
export interface Recipient {
  contact: Contact;
  isTest: boolean;
}

/** @throws CloseloopError config where the test contact has no address of the kind that the campaign needs; the customer is not asked instead */
export function recipientOf(
  customer: Contact,
  { name, campaign, test }: Pick<CampaignRule, 'name' | 'campaign' | 'test'>,
  type: CampaignType,
): Recipient {
  if (test === undefined) return { contact: customer, isTest: false };
  const contact = testContactFor(test, type, customer.kind);
  if (contact !== undefined) return { contact, isTest: true };
  const only = needOf.rule({ name, campaign });
  throw new CloseloopError(`rule "${name}": ${missingContact(type)}`, { kind: 'config', only });
}

/** @param liked the kind of contact to prefer where the campaign reaches people by several kinds */
function testContactFor(test: TestContact, type: CampaignType, liked: Contact['kind']): Contact | undefined {
  const { phone, email, identifier } = test;
  const candidates = type === 'external' || type === 'widget' ? [identifier, email, phone] : [email, phone];
  if (liked === 'phone') candidates.reverse();
  const found = contactFor(candidates, type);
  return found.ok ? found.contact : undefined;
}

function missingContact(type: CampaignType): string {
  const kinds = { sms: 'phone', email: 'email', mixed: 'email or phone', external: 'identifier', widget: 'identifier' };
  return `test mode holds, and the test contact has no ${kinds[type]}, which a campaign of type ${type} needs`;
}

/** Why the service's own lists forbid asking a contact, if they do. */
export function onList(known: ContactRecord | undefined, { campaign }: CampaignRule): Skip | undefined {
  if (known?.blacklist) return { reason: 'listed', why: 'the contact is on the blacklist of the Feedback service' };
  if (known?.graylist?.campaigns.some(({ id }) => id === campaign)) {
    return { reason: 'listed', why: `the contact is on the graylist of campaign ${campaign}` };
  }
  return undefined;
}

/** The name of the custom field that marks a test request, where the configuration names no other field. */
export const usualField = 'Test';

/** The custom field that marks a test request in this campaign; empty where the campaign has no such field. */
export function testMark(test: TestContact, { custom_fields }: Campaign): Record<string, string | boolean> {
  const { field = usualField } = test;
  const found = custom_fields.find(({ name }) => name === field);
  if (found?.field_type === 'Text') return { [field]: 'TEST' };
  return found?.field_type === 'Yes/No' ? { [field]: true } : {};
}

/** The problems that prevent testing a rule in its campaign. */
export function testProblems({ test }: Pick<CampaignRule, 'test'>, campaign: Campaign): string[] {
  if (test === undefined) return [];
  const isMissing = testContactFor(test, campaign.type, 'email') === undefined;
  const isUnmarked = test.field !== undefined && Object.keys(testMark(test, campaign)).length === 0;
  return [
    ...(isMissing ? [missingContact(campaign.type)] : []),
    ...(isUnmarked ? [`the campaign has no custom field "${test.field}" of type Text or Yes/No (test.field)`] : []),
  ];
}
