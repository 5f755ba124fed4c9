import { z } from 'zod';
import type { RecordState } from '../../core/connector/contract.ts';
import { listOf, mapOf, orElse } from '../../core/entries.ts';
import { lookUp } from '../../core/look-up.ts';
import { isBlank } from '../../core/visible-text.ts';
import type { WooCommerceSettings } from './settings.ts';

/** An id of an order, product, customer or note: a number in the API, a string in closeloop. Only such ids get into paths and messages. */
export const id = z.union([z.int().nonnegative(), z.string().regex(/^\d{1,20}$/)]).transform(String);
const text = orElse(z.union([z.string(), z.number()]).transform(String), '');
const idOrNone = orElse(id, '0');
/** PHP has no empty objects, and sends `[]` in their place. */
const noTexts: Readonly<Record<string, string>> = {};
const texts = orElse(mapOf(text), noTexts);

/** An instant as `2026-11-18T14:42:10`, in UTC although the text does not say so. Only fields called `…_gmt` are in UTC. */
const gmt = z
  .string()
  .nullish()
  .transform((written) => {
    const at = new Date(`${written}Z`);
    return typeof written !== 'string' || Number.isNaN(at.getTime()) ? null : at;
  });

/** A status, in the form of a WordPress key. */
const status = z.string().regex(/^[a-z0-9_-]{1,40}$/);

/** Id, status and dates of an order. Plugins may put anything into the other fields, so only `id` and `status` are required. */
const moments = {
  id,
  status,
  parent_id: idOrNone,
  date_created_gmt: gmt,
  date_modified_gmt: gmt,
  date_completed_gmt: gmt,
};

/** An order in a webhook. */
export const OrderMoment = z.object(moments);
export type OrderMoment = z.output<typeof OrderMoment>;

/** An order in a list, where an invalid status must not fail the order. */
export const ListedOrder = z.object({ ...moments, status: orElse(status, 'unknown') });

const Meta = orElse(listOf(z.object({ key: z.string(), value: z.unknown() })), []);
type Meta = z.output<typeof Meta>;

/** The fields of an order that writing needs. */
export const WrittenOrder = z.object({ id, meta_data: Meta });
export type WrittenOrder = z.output<typeof WrittenOrder>;

/** An order with the fields that rules need. */
export const Order = ListedOrder.extend({
  number: text,
  currency: text,
  total: text,
  customer_id: idOrNone,
  created_via: text,
  payment_method: text,
  payment_method_title: text,
  date_paid_gmt: gmt,
  needs_processing: orElse(z.boolean(), true),
  billing: texts,
  shipping: texts,
  line_items: orElse(
    listOf(
      z.object({
        product_id: idOrNone,
        variation_id: idOrNone,
        name: text,
        sku: text,
        quantity: orElse(z.number(), 0),
        total: text,
      }),
    ),
    [],
  ),
  shipping_lines: orElse(listOf(z.object({ method_title: text })), []),
  coupon_lines: orElse(listOf(z.object({ code: text })), []),
  refunds: orElse(listOf(z.object({ total: text })), []),
  meta_data: Meta,
});
export type Order = z.output<typeof Order>;

/** Whether the text can be an id that a number holds exactly; no other text gets into a path. */
export function isOrderId(text: string): boolean {
  return /^[1-9]\d{0,14}$/.test(text);
}

type Rules = Pick<
  WooCommerceSettings,
  'statuses' | 'skipRefunded' | 'skipVirtual' | 'giftCards' | 'withoutContact' | 'testMeta'
>;

/** The statuses after which an order is never delivered any more. */
const lost: Readonly<Record<string, string>> = {
  cancelled: 'the order was cancelled',
  refunded: 'the order was refunded',
  failed: 'the payment of the order failed',
  trash: 'the order is in the trash',
};

/** The state of an order. The status is checked first, as the other conditions can still change while an order is open. */
export function stateOf(order: Order, rules: Rules): RecordState {
  const { status } = order;
  const out = (why: string): RecordState => ({ is: 'out', why });
  const why = lookUp(lost, status);
  if (!rules.statuses.includes(status)) return why === undefined ? { is: 'open' } : out(why);
  if (order.parent_id !== '0') return out('a refund, or a part of another order: that one asks');
  if (metaOf(order, '_anonymized') === 'yes') return out('the personal data of the order have been erased');
  if (Object.entries(rules.testMeta).some(([key, value]) => metaOf(order, key) === value)) return out('a test order');

  const refunded = refundedOf(order);
  if (rules.skipRefunded === 'partly' && refunded > 0) return out('something of the order was refunded');
  const isWhole = refunded > 0 && refunded >= Number(order.total);
  if (rules.skipRefunded === 'fully' && isWhole) return out('the whole order was refunded');

  if (rules.skipVirtual && !order.needs_processing) return out('nothing but downloads and services');
  if (hasOnlyGiftCards(order, rules.giftCards)) return out('nothing but gift cards');
  if (!rules.withoutContact && !hasContact(order))
    return out('the order has neither an e-mail address nor a phone number');
  return { is: 'closed', closing: closingOf(order, rules), closedAt: closedAt(order) };
}

/**
 * The name of the closing. WooCommerce stores only the date of the last move to `completed`; closeloop's writes do not change this date. If
 * the source also counts statuses of plugins, a second closing can't be distinguished from a move between two of these statuses (shipped, then
 * delivered): such an order closes only once.
 */
export function closingOf(order: OrderMoment, { statuses }: Pick<Rules, 'statuses'>): string {
  const completed = order.date_completed_gmt;
  const isDated = completed !== null && statuses.every((status) => status === 'completed');
  return isDated ? completed.toISOString().replace('.000Z', 'Z') : 'once';
}

export function closedAt(order: OrderMoment): Date {
  return order.date_completed_gmt ?? order.date_modified_gmt ?? order.date_created_gmt ?? new Date(0);
}

/** The value of a key's first entry, which is the entry that WooCommerce reads. */
export function metaOf({ meta_data }: { meta_data: Meta }, key: string): unknown {
  return meta_data.find((entry) => entry.key === key)?.value;
}

/** The refunded sum, positive and rounded to hundredths; refunds themselves are negative. */
export function refundedOf({ refunds }: Pick<Order, 'refunds'>): number {
  const sum = refunds.reduce((total, refund) => total + Math.abs(Number(refund.total) || 0), 0);
  return Math.round(sum * 100) / 100;
}

function hasOnlyGiftCards({ line_items }: Order, giftCards: readonly string[]): boolean {
  const cards = new Set(giftCards);
  return (
    line_items.length > 0 &&
    line_items.every(({ product_id, variation_id, sku }) => [product_id, variation_id, sku].some((it) => cards.has(it)))
  );
}

function hasContact({ billing, shipping }: Order): boolean {
  return [billing.email, billing.phone, shipping.phone].some((text) => !isBlank(text ?? ''));
}
