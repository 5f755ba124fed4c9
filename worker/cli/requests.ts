import { z } from 'zod';
import { type Contact, contactFor } from '../../core/contact.ts';
import { refusal } from '../../core/errors.ts';
import type { Campaign } from '../../core/feedback/schemas.ts';
import type { CustomValue } from '../../core/mapping/field-value.ts';
import { countryOfPhone } from '../../core/phone-numbers.ts';
import { recipientPlace } from '../../core/schedule/recipient-place.ts';
import { hoursOf, nextSendTime } from '../../core/schedule/send-time.ts';
import type { Config } from '../config/config.ts';
import { mayText } from '../pipeline/policy/asking-time.ts';
import { instant } from '../support/instant.ts';
import { contactsNamed } from '../support/named-contacts.ts';
import { inZone } from '../support/shown-time.ts';
import { printFields, say } from './output.ts';
import type { CommandOptions } from './runtime.ts';
import {
  openAccount,
  printFrom,
  refuseCustomer,
  requestFilter,
  type ServiceAccount,
  type ServiceFilter,
} from './service.ts';

/** Feedback requests, read page by page. */
export async function listRequests(options: CommandOptions & ServiceFilter & { limit: number }): Promise<number> {
  const account = await openAccount(options);
  const { service, timeZone } = account;
  const { query, fits } = requestFilter(options, account);
  let left = options.limit;
  for await (const { results, unreadable } of service.requestPages(query)) {
    const found = results.filter(fits).slice(0, left);
    for (const request of found) printFields({ ...options, timeZone }, request);
    for (const error of unreadable) say(error.message);
    left -= found.length;
    if (left <= 0) break;
  }
  if (left === options.limit && !options.json) say('No feedback requests.');
  return 0;
}

export async function getRequest(options: CommandOptions & { id: string }): Promise<number> {
  return await printFrom(options, ({ service }) => service.request(options.id));
}

const Fields = z.array(z.tuple([z.string(), z.union([z.string(), z.number(), z.boolean()])]));
const Section = z.custom<object>((value) => typeof value === 'object' && value !== null && !Array.isArray(value));

/** Creates a request by hand, without rules, throttle or a journey; a text message within the hours of `policy.sms`, unless `anyway`. */
export async function createRequest(
  options: CommandOptions & {
    campaign: number;
    contact: string;
    as?: Contact['kind'];
    fields?: string;
    scheduled?: string;
    anyway?: boolean;
    /** Left out: now. */
    now?: Date;
  },
): Promise<number> {
  return await printFrom(options, async (account) => {
    const { service, timeZone } = account;
    const { now = new Date(), fields } = options;
    const scheduled =
      options.scheduled === undefined ? undefined : instant(options.scheduled, '--scheduled', { timeZone, now });
    const customFields = fields === undefined ? {} : fieldsIn(fields);
    const campaign = await service.campaign(options.campaign);
    const contact = contactIn(campaign, account, options);
    refuseCustomer(contact, account.test);
    if (options.anyway !== true) refuseOutsideHours({ campaign, contact, scheduled, now }, account);
    return await service.create({ campaign: campaign.id, contact, scheduled, customFields });
  });
}

/**
 * The contact that the text names in this campaign: in external and widget campaigns an identifier, normalised as rules do; elsewhere
 * whatever the text looks like. `as` takes precedence.
 */
function contactIn(
  { type }: Campaign,
  { defaultCountry }: ServiceAccount,
  { contact: text, as: kind }: { contact: string; as?: Contact['kind'] },
): Contact {
  const [contact] = contactsNamed(text, { as: kind, defaultCountry });
  if (kind !== undefined || (type !== 'external' && type !== 'widget')) return contact;
  const choice = contactFor([text], type, { defaultCountry });
  return choice.ok ? choice.contact : contact;
}

function fieldsIn(text: string): Record<string, CustomValue> {
  try {
    // Read as entries: a field may be called `__proto__`, which zod's record leaves out.
    return Object.fromEntries(Fields.parse(Object.entries(Section.parse(JSON.parse(text)))));
  } catch {
    throw refusal('--fields must be JSON like {"Store": "Tallinn", "Lines": 3}.');
  }
}

/** Grades a request of an external campaign. Prints what was sent: a second call to read the request might fail. */
export async function gradeRequest(options: CommandOptions & { id: string; grade: number }): Promise<number> {
  const { id, grade } = options;
  return await printFrom(options, async ({ service }) => {
    await service.grade(id, grade);
    return { id, grade };
  });
}

export async function commentRequest(options: CommandOptions & { id: string; text: string }): Promise<number> {
  const { id, text: comment } = options;
  return await printFrom(options, async ({ service }) => {
    await service.comment(id, comment);
    return { id, comment };
  });
}

/** Cancels a request that is still scheduled. */
export async function cancelRequest(options: CommandOptions & { id: string }): Promise<number> {
  const { id } = options;
  return await printFrom(options, async ({ service }) => {
    await service.cancel(id);
    return { id, cancelled: true };
  });
}

/** A request by hand: `scheduled` as it is given, a past time counts as `now`; left out, the service waits the campaign's own delay from `now` on. */
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
  const hours = { campaign: hoursOf(campaign), accountZone: timeZone, recipient, now, closedAt: from, delayMs };
  const leaves = nextSendTime(hours).at;
  const may = nextSendTime({ ...hours, sms }).at;
  if (may.getTime() === leaves.getTime()) return;
  const place = recipient.country === undefined ? `in ${timeZone}` : `everywhere in ${recipient.country}`;
  const message =
    `The text message would leave at ${leaves.toISOString()}, outside ${sms.from}–${sms.until} ${place} (policy.sms): ` +
    `add --scheduled ${may.toISOString()}, the first time within these hours, or --anyway.`;
  throw refusal(inZone(message, timeZone));
}
