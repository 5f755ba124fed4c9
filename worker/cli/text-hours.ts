import type { Contact } from '../../core/contact.ts';
import { refusal } from '../../core/errors.ts';
import type { Campaign } from '../../core/feedback/schemas.ts';
import { countryOfPhone } from '../../core/phone-numbers.ts';
import { recipientPlace } from '../../core/schedule/recipient-place.ts';
import { hoursOf, nextSendTime } from '../../core/schedule/send-time.ts';
import type { Config } from '../config/config.ts';
import { mayText } from '../pipeline/policy/asking-time.ts';
import { inZone } from '../support/shown-time.ts';

/** A request by hand: `scheduled` as it is given; left out, the service waits the campaign's own delay from `now` on. */
export interface ByHand {
  campaign: Pick<Campaign, 'id' | 'type' | 'send_from' | 'send_until' | 'send_delay'>;
  contact: Contact;
  scheduled: Date | undefined;
  now: Date;
}

/**
 * A text message that a person sends by hand also keeps to the hours of `policy.sms`, on every clock of the number's country. The service keeps to
 * the campaign's own hours.
 * @throws CloseloopError config with the first time that is within the hours
 */
export function refuseOutsideHours(
  { campaign, contact, scheduled, now }: ByHand,
  { timeZone, sms }: { timeZone: string; sms: Config['policy']['sms'] },
): void {
  if (contact.kind !== 'phone' || !mayText(campaign)) return;
  const recipient = recipientPlace({ phoneCountry: countryOfPhone(contact.value) }, timeZone);
  const from = scheduled ?? now;
  const delayMs = scheduled === undefined ? undefined : 0;
  const hours = { campaign: hoursOf(campaign), accountZone: timeZone, recipient, now: from, closedAt: from, delayMs };
  const leaves = nextSendTime(hours).at;
  const may = nextSendTime({ ...hours, sms }).at;
  if (may.getTime() === leaves.getTime()) return;
  const place = recipient.country === undefined ? `in ${timeZone}` : `everywhere in ${recipient.country}`;
  const message =
    `The text message would leave at ${leaves.toISOString()}, outside ${sms.from}–${sms.until} ${place} (policy.sms): ` +
    `add --scheduled ${may.toISOString()}, the first time within these hours, or --anyway.`;
  throw refusal(inZone(message, timeZone));
}
