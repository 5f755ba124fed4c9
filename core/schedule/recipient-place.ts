import { countryCode, regionCode } from './countries.ts';
import { clocksOf } from './country-clocks.ts';
import { isZone } from './wall-clock.ts';

/** The hints of vendors and phone numbers at a recipient's place. Stored with the journey. */
export interface PlaceHints {
  /** The customer's own zone at the vendor; a text that is no IANA name counts as not known. */
  timeZone?: string | undefined;
  /** The country in the customer's address: ISO 3166 code or English name. */
  country?: string | undefined;
  /** State or province of that address, as code or name. */
  region?: string | undefined;
  /** The country (ISO 3166) that the contact's phone number belongs to. */
  phoneCountry?: string | undefined;
}

/** The recipient's clock and calendar, as far as they are known. */
export interface RecipientPlace {
  /** The recipient's zone; where it isn't known, the account's zone. */
  zone: string;
  /** Every zone that may be the recipient's: messages that must not arrive at night keep to all these zones. */
  zones: readonly [string, ...string[]];
  /** The country of the address, else of the phone number. */
  country: string | undefined;
  /** The region in the address, as it was written; undefined where the country isn't known. */
  region: string | undefined;
  /** Whether `zone` is the recipient's, and how it is known: a sentence for the trace. */
  isKnown: boolean;
  why: string;
}

/**
 * The recipient's zone: the zone in the record; else the zone of the address's country and region; else the zone of the phone number's
 * country; else the account's zone. A country with several zones decides no zone, but gives the zones that may be the recipient's.
 */
export function recipientPlace(hints: PlaceHints, accountZone: string): RecipientPlace {
  const codeOf = (written: string | undefined) => (written === undefined ? undefined : countryCode(written));
  const country = codeOf(hints.country);
  const region = country === undefined ? undefined : hints.region;
  const state = country === undefined ? undefined : regionCode(country, region);
  const phoneCountry = codeOf(hints.phoneCountry);
  const known = (zone: string, zones: readonly [string, ...string[]], from: string): RecipientPlace => {
    return { zone, zones, country: country ?? phoneCountry, region, isKnown: true, why: `zone ${zone}, from ${from}` };
  };

  const { timeZone } = hints;
  if (timeZone !== undefined && isZone(timeZone)) return known(timeZone, [timeZone], 'the record');
  const where = `the address's country (${country}${state === undefined ? '' : `, ${state}`})`;
  const ofAddress = country === undefined ? undefined : clocksOf(country, state);
  if (ofAddress?.zone !== undefined) return known(ofAddress.zone, ofAddress.zones, where);
  const ofPhone = phoneCountry === undefined ? undefined : clocksOf(phoneCountry);
  if (ofPhone?.zone !== undefined) return known(ofPhone.zone, ofPhone.zones, `the phone's country (${phoneCountry})`);

  const several = ofAddress ?? ofPhone;
  const whose = ofAddress ? where : `the phone's country (${phoneCountry})`;
  return {
    zone: accountZone,
    zones: several?.zones ?? [accountZone],
    country: country ?? phoneCountry,
    region,
    isKnown: false,
    why: several
      ? `the recipient's zone is not known, as ${whose} has ${several.zones.length}: the account's, ${accountZone}`
      : `the recipient's zone is not known: the account's, ${accountZone}`,
  };
}
