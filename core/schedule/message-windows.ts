import type { Campaign } from '../feedback/schemas.ts';
import { countryOf } from './countries.ts';
import type { HolidayRules, PlaceHolidays } from './holidays.ts';
import { type Hours, mistake, windowOf } from './hours.ts';
import type { RecipientPlace } from './recipient-place.ts';
import type { SendWindow } from './send-window.ts';
import { dateText, isZone } from './wall-clock.ts';

/** A campaign's own hours and delay, as the service gives them (specification, section 2). They always hold. */
export interface CampaignHours {
  /** For the trace. */
  id?: number | undefined;
  /** `HH:MM:SS` in the account's zone, half-open; equal is always open. */
  sendFrom: string;
  sendUntil: string;
  sendDelayMinutes: number | null;
}

/** Of a campaign as the service gives it. */
export function hoursOf(campaign: Pick<Campaign, 'id' | 'send_from' | 'send_until' | 'send_delay'>): CampaignHours {
  const { id, send_from, send_until, send_delay } = campaign;
  return { id, sendFrom: send_from, sendUntil: send_until, sendDelayMinutes: send_delay };
}

/** A rule's narrower hours. */
export interface RuleWindow extends Hours {
  zone: 'account' | 'recipient';
}

/** All that says when a message may go out; each part narrows the others. */
export interface MessageHours {
  campaign: CampaignHours;
  /** IANA name. */
  accountZone: string;
  window?: RuleWindow | undefined;
  /** Left out: nothing is known, and the account's zone is taken. */
  recipient?: RecipientPlace | undefined;
  /** For a text message only: hours that nothing exceeds, in every zone that may be the recipient's. */
  sms?: Hours | undefined;
  /** Given where no message may go out on a public holiday of the recipient's country. */
  holidays?: HolidayRules | undefined;
}

/** The windows that are all open when a message goes out; `why`: for the trace. @throws CloseloopError config */
export function messageWindows(hours: MessageHours): { windows: [SendWindow, ...SendWindow[]]; why: string[] } {
  const { campaign, window, accountZone, sms, holidays } = hours;
  if (!isZone(accountZone)) throw mistake(`feedback.timeZone: "${accountZone}" is not a time zone like Europe/Tallinn`);
  const { zone, zones, why } = hours.recipient ?? nowhere(accountZone);
  const campaignName = `campaign${campaign.id === undefined ? '' : ` ${campaign.id}`} sends`;
  const ofCampaign = windowOf(campaignName, { from: campaign.sendFrom, until: campaign.sendUntil }, accountZone);
  const windows: [SendWindow, ...SendWindow[]] = [ofCampaign];
  if (window !== undefined)
    windows.push(windowOf('the rule sends', window, window.zone === 'recipient' ? zone : accountZone));
  if (sms !== undefined) windows.push(...zones.map((one) => windowOf('text messages go out', sms, one)));
  const calendar = holidays && holidaysOf(hours.recipient, holidays);
  if (calendar?.found) windows.push(...zones.map((one) => workdays(one, calendar.found)));

  const isOfRecipient = window?.zone === 'recipient' || sms !== undefined || holidays !== undefined;
  return { windows, why: [...(isOfRecipient ? [why] : []), ...(calendar?.why ?? [])] };
}

function nowhere(zone: string): Pick<RecipientPlace, 'zone' | 'zones' | 'why'> {
  return { zone, zones: [zone], why: `the recipient's zone is not known: the account's, ${zone}` };
}

type Calendar = { found: PlaceHolidays; why: string[] } | { found?: undefined; why: string[] };

/** The holidays of where the recipient is: by the address, else the phone number, else their own zone, else as the rules say. */
function holidaysOf(place: RecipientPlace | undefined, { calendar, country, region }: HolidayRules): Calendar {
  const ofZone = place?.isKnown === true ? countryOf(place.zone) : undefined;
  const theirs = place?.country ?? ofZone;
  const found = theirs === undefined ? calendar.of(country, region) : calendar.of(theirs, place?.region);
  return found
    ? { found, why: [] }
    : { why: [`public holidays of ${theirs ?? country} are not known: asks on any day`] };
}

/** Open on every day that is no public holiday, on the calendar of `zone`. */
function workdays(zone: string, { place, on }: PlaceHolidays): SendWindow {
  const holidayOn = (date: number) => {
    const holiday = on(dateText(date));
    return holiday === undefined ? undefined : `public holiday in ${place}: ${holiday}`;
  };
  const name = `nobody is asked on public holidays in ${place}, ${zone}`;
  return { name, from: 0, until: 0, days: undefined, zone, holidayOn };
}
