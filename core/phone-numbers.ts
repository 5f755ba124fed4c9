import { createRequire } from 'node:module';
import { extname } from 'node:path';
import type { CountryCode, PhoneNumber } from 'libphonenumber-js/max';

const require = createRequire(import.meta.url);

/** Loaded with the first phone number. */
const plans = (): typeof import('./phone-plans.ts') => require(`./phone-plans${extname(import.meta.url)}`);

export function isSupportedCountry(code: string): code is CountryCode {
  return plans().isSupportedCountry(code);
}

/** The country (ISO 3166) of a number in international form; undefined where the number belongs to no known country. */
export function countryOfPhone(number: string): string | undefined {
  return parsePhoneNumberFromString(number)?.country;
}

/** Parses a phone number; undefined for a text that is no phone number. */
export function parsePhoneNumberFromString(
  text: string,
  options: { extract?: false; defaultCountry?: CountryCode } = {},
): PhoneNumber | undefined {
  // The metadata need not be loaded for e-mail addresses and names, which most contacts are.
  if (text.includes('@') || !/\p{Nd}/u.test(text)) return undefined;
  return plans().parsePhoneNumberFromString(text, options);
}
