import { isSupportedCountry, type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/max';

/**
 * A number as people type it into a checkout, in international form where it can be understood; else as it is. `country`
 * is that of the address it stands in (ISO 3166, "DE"): a wrong one gives valid but foreign numbers.
 */
export function internationalPhone(typed: string, country: string): string {
  const text = typed.trim();
  const known = isSupportedCountry(country) ? country : undefined;
  const read = (digits: string): PhoneNumber | undefined => {
    const number = parsePhoneNumberFromString(digits, { extract: false, ...(known && { defaultCountry: known }) });
    return number?.isValid() === true ? number : undefined;
  };
  // "49171…" is the calling code without its plus: as a national number it would pass for a landline.
  const withPlus = /^[1-9]\d{7,14}$/.test(text.replace(/[\s().-]/g, '')) ? read(`+${text}`) : undefined;
  if (withPlus?.getType() === 'MOBILE') return withPlus.number;
  return (read(text.replace(/^00/, '+')) ?? read(text))?.number ?? text;
}
