import { namesOf } from '../../core/connector/check.ts';
import { internationalPhone } from '../../core/phone-numbers.ts';
import { Order, refundedOf } from './order.ts';

/** An address as people typed it; '' for missing parts. */
export interface WooCommerceAddress {
  firstName: string;
  lastName: string;
  company: string;
  city: string;
  state: string;
  postcode: string;
  /** ISO 3166, `DE`. */
  country: string;
  /** The phone number in international form if it is valid in this address's country, else as typed. */
  phone: string;
}

/**
 * An order as rules and fields see it: `order.total`, `order.meta.gift_wrap`, `items.sku`, `customer.email`, `customer.phone`,
 * `shipping.city`. Instants are ISO 8601, UTC; null for a step that has not happened.
 */
export interface WooCommerceShape {
  order: {
    id: string;
    /** The number that the customer knows; numbering plugins make it differ from the id. */
    number: string;
    status: string;
    currency: string;
    /** The total with taxes and shipping, before refunds. */
    total: number;
    refunded: number;
    /** `checkout`, `store-api`, `admin`, a plugin's … */
    createdVia: string;
    paymentMethod: string;
    paymentMethodTitle: string;
    shippingMethods: string[];
    coupons: string[];
    /** False: the order has only downloads and services. */
    needsProcessing: boolean;
    createdAt: string | null;
    paidAt: string | null;
    completedAt: string | null;
    /** The order's meta data by key, hidden entries too; the first entry of each key. Any JSON value. */
    meta: Record<string, unknown>;
  };
  items: {
    name: string;
    productId: string;
    /** '' for a product without variations. */
    variationId: string;
    sku: string;
    quantity: number;
    total: number;
  }[];
  /** The customer, by the billing address, with the order's own e-mail address, which may differ from the account's. */
  customer: WooCommerceAddress & {
    /** The account's id; '' for a guest. */
    id: string;
    email: string;
    /** The language that a plugin stored on the order (`languageMeta`), BCP 47; '' if there is none. */
    language: string;
  };
  shipping: WooCommerceAddress;
}

export function present(order: Order, languageMeta: readonly string[]): WooCommerceShape {
  const { id, number, status, currency, billing, shipping } = order;
  // The first entry of each key counts, as in WooCommerce. The list is reversed because later entries replace earlier ones in an object.
  const meta = Object.fromEntries(order.meta_data.toReversed().map(({ key, value }) => [key, value]));
  return {
    order: {
      ...{ id, number, status, currency },
      total: amount(order.total),
      refunded: refundedOf(order),
      createdVia: order.created_via,
      paymentMethod: order.payment_method,
      paymentMethodTitle: order.payment_method_title,
      shippingMethods: order.shipping_lines.map(({ method_title }) => method_title),
      coupons: order.coupon_lines.map(({ code }) => code),
      needsProcessing: order.needs_processing,
      createdAt: iso(order.date_created_gmt),
      paidAt: iso(order.date_paid_gmt),
      completedAt: iso(order.date_completed_gmt),
      meta,
    },
    items: order.line_items.map(itemOf),
    customer: {
      ...address(billing),
      id: given(order.customer_id),
      email: (billing.email ?? '').trim(),
      language: languageOf(meta, languageMeta),
    },
    shipping: address(shipping),
  };
}

function itemOf({ name, product_id, variation_id, sku, quantity, total }: Order['line_items'][number]) {
  return { name, productId: product_id, variationId: given(variation_id), sku, quantity, total: amount(total) };
}

function address(fields: Readonly<Record<string, string>>): WooCommerceAddress {
  const { first_name: firstName = '', last_name: lastName = '', company = '', city = '' } = fields;
  const { state = '', postcode = '', country = '', phone = '' } = fields;
  return { firstName, lastName, company, city, state, postcode, country, phone: internationalPhone(phone, country) };
}

/** The customer's language: `de`, `pt_BR` and `pt-br` are all accepted. */
function languageOf(meta: Readonly<Record<string, unknown>>, names: readonly string[]): string {
  const found = names.map((name) => meta[name]).find((value) => typeof value === 'string' && value !== '');
  if (typeof found !== 'string') return '';
  try {
    return Intl.getCanonicalLocales(found.replaceAll('_', '-'))[0] ?? '';
  } catch {
    return '';
  }
}

const amount = (text: string): number => Number(text) || 0;
const iso = (at: Date | null): string | null => at?.toISOString() ?? null;
/** The id, or '' for 0, which means none at WooCommerce. */
const given = (id: string): string => (id === '0' ? '' : id);

/** The names that `check` compares expressions with. */
export const shapeNames = namesOf(present(Order.parse({ id: 0, line_items: [{}] }), []));
