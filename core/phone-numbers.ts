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

/**
 * Converts a number that a person typed into international form; returns it unchanged where it can't be parsed. `country`
 * (ISO 3166, "DE") is the country of the customer's address: with a wrong country the result is a valid number of another person.
 */
export function internationalPhone(written: string, country: string | undefined): string {
  const text = written.trim();
  const known = country !== undefined && isSupportedCountry(country) ? country : undefined;
  const number = phoneNumber(text, known);
  // International form would drop the extension, and no text message should go to the number without its extension.
  return number === undefined || number.ext !== undefined ? text : number.number;
}

/**
 * Digits with a calling code but no plus ("49171…") also parse as a valid national landline number. Where the digits are a
 * mobile number only with a plus, the plus is added.
 */
export function phoneNumber(text: string, defaultCountry: CountryCode | undefined): PhoneNumber | undefined {
  // The specification treats `00372…` and `+372…` as equal, whatever a country's dialling prefix is.
  const written = isInternational(text) ? text.replace(/^(?:00|＋)/, '+') : text;
  const number = validNumber(written, defaultCountry);
  const type = number?.getType();
  const mayLackPlus = defaultCountry !== undefined && /^[1-9]\d{7,14}$/.test(text.replace(/[\s()./-]/g, ''));
  if (!mayLackPlus || type === 'MOBILE' || type === 'FIXED_LINE_OR_MOBILE') return number;
  const other = validNumber(`+${text}`, undefined);
  return other?.getType() === 'MOBILE' ? other : number;
}

function validNumber(text: string, defaultCountry: CountryCode | undefined): PhoneNumber | undefined {
  const number = parsePhoneNumberFromString(text, {
    extract: false,
    ...(defaultCountry === undefined ? {} : { defaultCountry }),
  });
  return number?.isValid() === true ? number : undefined;
}

/**
 * International form (`+372…`) of a number that has a country, or parses with the default country; also of a number that is in
 * no numbering plan. Undefined for everything else, and for a number with an extension, which is a different contact.
 */
export function international(text: string, defaultCountry?: CountryCode): string | undefined {
  const number = phoneNumber(text, defaultCountry);
  if (number !== undefined) return number.ext === undefined ? number.number : undefined;
  const digits = /^(?:\+|＋|00)([1-9]\d{6,14})$/.exec(text.replace(/[\s()./-]/g, ''))?.[1];
  return digits === undefined ? undefined : `+${digits}`;
}

export function isInternational(text: string): boolean {
  return /^(?:\+|＋|00)[\s().-]*[\d０-９]/.test(text);
}
