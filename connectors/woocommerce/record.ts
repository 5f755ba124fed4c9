import { namesOf } from '../../core/connector/check.ts';
import { internationalPhone } from '../../core/contact.ts';
import { Order, refundedOf } from './order.ts';

/** What is written in an address, as people typed it; '' where they left it out. */
export interface WooCommerceAddress {
  firstName: string;
  lastName: string;
  company: string;
  city: string;
  state: string;
  postcode: string;
  /** ISO 3166, `DE`. */
  country: string;
  /** In international form where it can be read by the country of this address, else as typed. */
  phone: string;
}

/**
 * What rules and fields see of an order: `order.total`, `order.meta.gift_wrap`, `items.sku`, `customer.email`,
 * `customer.phone`, `shipping.city`. Instants are ISO 8601, UTC; null while not reached.
 */
export interface WooCommerceShape {
  order: {
    id: string;
    /** As the customer knows it; numbering plugins make it differ from the id. */
    number: string;
    status: string;
    currency: string;
    /** With taxes and shipping, before refunds. */
    total: number;
    refunded: number;
    /** `checkout`, `store-api`, `admin`, a plugin's … */
    createdVia: string;
    paymentMethod: string;
    paymentMethodTitle: string;
    shippingMethods: string[];
    coupons: string[];
    /** False: nothing but downloads and services. */
    needsProcessing: boolean;
    createdAt: string | null;
    paidAt: string | null;
    completedAt: string | null;
    /** The order's meta data by key, hidden ones too; the first of each. Any JSON value. */
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
  /** Who ordered, by the billing address. The order's own e-mail address, which need not be the account's. */
  customer: WooCommerceAddress & {
    /** Of their account; '' for a guest. */
    id: string;
    email: string;
    /** As a plugin noted it on the order (`languageMeta`), BCP 47; '' where none did. */
    language: string;
  };
  shipping: WooCommerceAddress;
}

export function present(order: Order, languageMeta: readonly string[]): WooCommerceShape {
  // The first of each key: WooCommerce reads it so, and later entries win in an object.
  const meta = Object.fromEntries(order.meta_data.toReversed().map(({ key, value }) => [key, value]));
  return {
    order: {
      id: order.id,
      number: order.number,
      status: order.status,
      currency: order.currency,
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
    items: order.line_items.map(({ name, product_id, variation_id, sku, quantity, total }) => ({
      name,
      productId: product_id,
      variationId: given(variation_id),
      sku,
      quantity,
      total: amount(total),
    })),
    customer: {
      ...address(order.billing),
      id: given(order.customer_id),
      email: (order.billing.email ?? '').trim(),
      language: languageOf(meta, languageMeta),
    },
    shipping: address(order.shipping),
  };
}

function address(fields: Readonly<Record<string, string>>): WooCommerceAddress {
  const field = (name: string): string => fields[name] ?? '';
  return {
    firstName: field('first_name'),
    lastName: field('last_name'),
    company: field('company'),
    city: field('city'),
    state: field('state'),
    postcode: field('postcode'),
    country: field('country'),
    phone: internationalPhone(field('phone'), field('country')),
  };
}

/** `de`, `pt_BR` and `pt-br` alike. */
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
/** 0 is WooCommerce's way of saying none. */
const given = (id: string): string => (id === '0' ? '' : id);

/** For `check`. */
export const shapeNames = namesOf(present(Order.parse({ id: 0, line_items: [{}] }), []));
