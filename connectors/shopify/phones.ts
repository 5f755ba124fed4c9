import { internationalPhone } from '../../core/contact.ts';
import type { Order } from './order.ts';

/**
 * The phone numbers of an order, best first, each once: the order's own, the customer's, then those of the addresses. In
 * international form where the country of an address allows it; otherwise as written.
 */
export function phonesOf({ phone, customer, shippingAddress, billingAddress }: Order): string[] {
  const home = shippingAddress?.countryCodeV2 ?? billingAddress?.countryCodeV2;
  const written: [text: string | undefined, country: string | undefined][] = [
    [phone, home],
    [customer?.defaultPhoneNumber?.phoneNumber, home],
    [shippingAddress?.phone, shippingAddress?.countryCodeV2],
    [billingAddress?.phone, billingAddress?.countryCodeV2],
  ];
  return [
    ...new Set(written.flatMap(([text, country]) => (text === undefined ? [] : [internationalPhone(text, country)]))),
  ];
}
