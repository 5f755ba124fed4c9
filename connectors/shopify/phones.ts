import type { CountryCode } from 'libphonenumber-js/max';
import { contactFor, parseContact } from '../../core/contact.ts';
import type { Order } from './order.ts';

/**
 * The numbers on an order, best first, each once: the one given for this order, the customer's, then those of the addresses.
 * International where it can be told: a national number is one of the country of its address; otherwise as written.
 */
export function phonesOf({ phone, customer, shippingAddress, billingAddress }: Order): string[] {
  const home = shippingAddress?.countryCodeV2 ?? billingAddress?.countryCodeV2;
  const written: [text: string | undefined, country: string | undefined][] = [
    [phone, home],
    [customer?.defaultPhoneNumber?.phoneNumber, home],
    [shippingAddress?.phone, shippingAddress?.countryCodeV2],
    [billingAddress?.phone, billingAddress?.countryCodeV2],
  ];
  return [...new Set(written.flatMap(([text, country]) => (text === undefined ? [] : [international(text, country)])))];
}

/**
 * Digits with the calling code but no plus ("49171…") also read as a national number, and a valid one: a landline that nobody
 * has. So they are tried with a plus first, and taken for that where it makes a mobile number.
 */
function international(text: string, country: string | undefined): string {
  const digits = text.replace(/[\s().-]/g, '');
  if (/^[1-9]\d{9,14}$/.test(digits)) {
    const mobile = contactFor([`+${digits}`], 'sms');
    const national = contactFor([text], 'sms', options(country));
    const found = [national, mobile].find(({ ok }) => ok);
    if (found?.ok) return found.contact.value;
  }
  if (text.trim() === '' || !text.isWellFormed() || /^\s*\.{1,2}\s*$/.test(text)) return text;
  return parseContact(text, options(country)).value;
}

const options = (country: string | undefined) =>
  country === undefined || !isCountry(country) ? {} : { defaultCountry: country };

/** ISO 3166, as Shopify writes it. */
const isCountry = (code: string): code is CountryCode => /^[A-Z]{2}$/.test(code) && code !== 'ZZ';
