import { z } from 'zod';
import { type Contact, contactFor } from '../../core/contact.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Campaign } from '../../core/feedback/schemas.ts';
import type { CustomValue } from '../../core/mapping/field-value.ts';
import { instant } from '../support/instant.ts';
import { contactsNamed } from '../support/named-contacts.ts';
import type { RuntimeOptions } from './runtime.ts';
import { openAccount, print, refuseCustomer, type ServiceAccount } from './service.ts';
import { requestFilter, type ServiceFilter } from './service-filter.ts';
import { refuseOutsideHours } from './text-hours.ts';

type Options = RuntimeOptions & { json: boolean };

/** Feedback requests, read page by page. */
export async function listRequests(options: Options & ServiceFilter & { limit: number }): Promise<number> {
  const account = await openAccount(options);
  const { service, timeZone } = account;
  const { query, fits } = requestFilter(options, account);
  let left = options.limit;
  for await (const { results, unreadable } of service.requestPages(query)) {
    const found = results.filter(fits).slice(0, left);
    for (const request of found) print(request, { ...options, timeZone });
    for (const error of unreadable) process.stderr.write(`${error.message}\n`);
    left -= found.length;
    if (left <= 0) break;
  }
  if (left === options.limit && !options.json) process.stderr.write('No feedback requests.\n');
  return 0;
}

export async function getRequest(options: Options & { id: string }): Promise<number> {
  const { service, timeZone } = await openAccount(options);
  print(await service.request(options.id), { ...options, timeZone });
  return 0;
}

const Fields = z.array(z.tuple([z.string(), z.union([z.string(), z.number(), z.boolean()])]));
const Section = z.custom<object>((value) => typeof value === 'object' && value !== null && !Array.isArray(value));

/** Creates a request by hand, without rules, throttle or a journey; a text message within the hours of `policy.sms`, unless `anyway`. */
export async function createRequest(
  options: Options & {
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
  const account = await openAccount(options);
  const { service, timeZone } = account;
  const { now = new Date(), fields } = options;
  const scheduled =
    options.scheduled === undefined ? undefined : instant(options.scheduled, '--scheduled', { timeZone, now });
  const customFields = fields === undefined ? {} : fieldsIn(fields);
  const campaign = await service.campaign(options.campaign);
  const contact = contactIn(campaign, account, options);
  refuseCustomer(contact, account.test);
  if (options.anyway !== true) refuseOutsideHours({ campaign, contact, scheduled, now }, account);
  print(await service.create({ campaign: campaign.id, contact, scheduled, customFields }), { ...options, timeZone });
  return 0;
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
    throw new CloseloopError('--fields must be JSON like {"Store": "Tallinn", "Lines": 3}.', { kind: 'config' });
  }
}

/** Grades a request of an external campaign. Prints what was sent: a second call to read the request might fail. */
export async function gradeRequest(options: Options & { id: string; grade: number }): Promise<number> {
  const { id, grade } = options;
  const { service, timeZone } = await openAccount(options);
  await service.grade(id, grade);
  print({ id, grade }, { ...options, timeZone });
  return 0;
}

export async function commentRequest(options: Options & { id: string; comment: string }): Promise<number> {
  const { id, comment } = options;
  const { service, timeZone } = await openAccount(options);
  await service.comment(id, comment);
  print({ id, comment }, { ...options, timeZone });
  return 0;
}

/** Cancels a request that is still scheduled. */
export async function cancelRequest(options: Options & { id: string }): Promise<number> {
  const { id } = options;
  const { service, timeZone } = await openAccount(options);
  await service.cancel(id);
  print({ id, cancelled: true }, { ...options, timeZone });
  return 0;
}
