import { z } from 'zod';
import type { RecordState } from '../../core/connector/contract.ts';
import { customerOf, present } from '../../core/connector/customer.ts';
import { listOf, orElse, text } from '../../core/entries.ts';
import { internationalPhone } from '../../core/phone-numbers.ts';
import type { VendureSettings } from './settings.ts';

const instant = z.iso.datetime().transform((said) => new Date(said));
const none: Record<string, unknown> = {};
const fields = orElse(z.record(z.string(), z.unknown()), none);
const Customer = z.object({ id: text, firstName: text, lastName: text, email: text, phone: text, fields });
const Address = z.object({ name: text, city: text, province: text, country: text, phone: text });
const Line = z.object({ quantity: z.number(), item: z.object({ name: text, sku: text }) });
const Transition = z.object({ id: z.string(), createdAt: instant, data: z.object({ from: text, to: text }) });

export const Order = z.object({
  ...{ id: z.string(), code: text, state: z.string(), type: text, currency: text, totalWithTax: z.number(), fields },
  ...{ createdAt: instant, orderPlacedAt: instant.nullish(), lines: listOf(Line) },
  ...{ customer: Customer.nullish(), shipping: Address.nullish() },
  history: z.object({ items: listOf(orElse(Transition, undefined)) }),
});
export type Order = z.output<typeof Order>;
/** Reads the newest transition. If two transitions are in the same second, the higher id counts. An order has few transitions. */
const newest = 'filter: { type: { eq: "ORDER_STATE_TRANSITION" } }, sort: { createdAt: DESC, id: DESC }, take: 50';
export const orderFields = (ofOrder: string, ofCustomer: string): string => `
  id code state type currency: currencyCode totalWithTax createdAt orderPlacedAt ${ofOrder}
  lines { quantity item: productVariant { name sku } } history(options: { ${newest} }) { items { id createdAt data } }
  customer { id firstName lastName email: emailAddress phone: phoneNumber ${ofCustomer} }
  shipping: shippingAddress { name: fullName city province country: countryCode phone: phoneNumber }`;

export const placedAt = ({ orderPlacedAt, createdAt }: Order): Date => orderPlacedAt ?? createdAt;
export const isClosing = ({ from, to }: { from: string; to: string }, closedStates: readonly string[]): boolean =>
  closedStates.includes(to) && !closedStates.includes(from);

export function stateOf(order: Order, closedStates: readonly string[]): RecordState {
  if (order.type === 'Seller') return { is: 'out', why: "a seller's part of another order" };
  if (order.state === 'Cancelled') return { is: 'out', why: 'the order was cancelled' };
  if (!closedStates.includes(order.state)) return { is: 'open' };
  const by = order.history.items.find((one) => one && isClosing(one.data, closedStates));
  // An order without a history was imported. Some databases store a history in whole seconds.
  const closedAt = by && by.createdAt > placedAt(order) ? by.createdAt : placedAt(order);
  return { is: 'closed', closing: by?.id ?? 'once', closedAt };
}

/**
 * An order for rules and mappings: `order.code`, `order.fields.giftWrap`, `items.sku`, `customer.email`. Values that are empty in Vendure are
 * '', `order.total` includes taxes and shipping, and `fields` are custom fields.
 */
export interface VendureShape {
  order: { id: string; code: string; state: string; currency: string; total: number; placedAt: string; fields: Fields };
  items: { name: string; sku: string; quantity: number }[];
  customer: { id: string; firstName: string; lastName: string; email: string; phone: string; fields: Fields };
  shipping: { name: string; city: string; province: string; country: string; phone: string };
}
type Fields = Record<string, unknown>;

export function shapeOf(order: Order): VendureShape {
  const { id, code, state, currency, totalWithTax, lines } = order;
  const [customer, shipping] = [Customer.parse(order.customer ?? {}), Address.parse(order.shipping ?? {})];
  const phoneOf = (phone: string) => internationalPhone(phone, shipping.country);
  const more = { placedAt: placedAt(order).toISOString(), fields: present(order.fields) };
  return {
    // Vendure counts in hundredths in every currency.
    order: { id, code, state, currency, total: totalWithTax / 100, ...more },
    items: lines.map(({ quantity, item }) => ({ ...item, quantity })),
    customer: { ...customer, phone: phoneOf(customer.phone), fields: present(customer.fields) },
    shipping: { ...shipping, phone: phoneOf(shipping.phone) },
  };
}

export function presented(order: Order, { closedStates, languageField = '', timeZoneField = '' }: VendureSettings) {
  const shape = shapeOf(order);
  const { id: personId, fields } = shape.customer;
  const [locale, timeZone] = [languageField, timeZoneField].map((field) => z.string().safeParse(fields[field]).data);
  const { country, province: region } = shape.shipping;
  return { state: stateOf(order, closedStates), shape, ...customerOf({ personId, locale, timeZone, country, region }) };
}
