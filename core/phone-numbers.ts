import { createRequire } from 'node:module';
import type { CountryCode, PhoneNumber } from 'libphonenumber-js/max';

const require = createRequire(import.meta.url);

/** The numbering plans of the world: 20 MB that a process which meets no phone number does without, loaded with the first. */
const plans = (): typeof import('libphonenumber-js/max') => require('libphonenumber-js/max');

export function isSupportedCountry(code: string): code is CountryCode {
  return plans().isSupportedCountry(code);
}

/** Undefined for text that is no number. */
export function parsePhoneNumberFromString(
  text: string,
  options: { extract?: false; defaultCountry?: CountryCode } = {},
): PhoneNumber | undefined {
  // An e-mail address, or a name: most contacts.
  if (text.includes('@') || !/\p{Nd}/u.test(text)) return undefined;
  return plans().parsePhoneNumberFromString(text, options);
}
