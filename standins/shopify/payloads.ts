import { type Address, fulfillmentStatusOf, type Order, type Parcel } from './definitions.ts';
import type { Store } from './store.ts';

/** A whole number of any length, to be written without quotes. */
class Digits {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toJSON(): string {
    return `\u0000${this.text}\u0000`;
  }
}

const digits = (text: string | undefined): Digits | null => (text === undefined ? null : new Digits(text));

/** JSON as Rails writes it: ids with all their digits, slashes and the signs of HTML escaped. */
export function railsJson(body: unknown): string {
  return JSON.stringify(body)
    .replace(/"\\u0000(\d+)\\u0000"/g, '$1')
    .replaceAll('/', '\\/')
    .replaceAll('&', '\\u0026')
    .replaceAll('<', '\\u003c')
    .replaceAll('>', '\\u003e');
}

/** The shop's own zone in summer and winter alike: what matters is that times carry an offset. */
const time = (at: number | null): string | null =>
  at === null ? null : `${new Date(at + 3_600_000).toISOString().slice(0, 19)}+01:00`;

const address = (given: Address | undefined) =>
  given === undefined
    ? null
    : {
        first_name: given.firstName ?? null,
        last_name: given.lastName ?? null,
        city: given.city ?? null,
        country_code: given.country ?? null,
        province_code: given.province ?? null,
        phone: given.phone ?? null,
      };

/** An order as webhooks carry it. Since 2025-01 without tags and consents of the customer. */
function orderPayload(order: Order, { customers }: Pick<Store, 'customers'>): Record<string, unknown> {
  const customer = customers.get(order.customerId ?? '');
  const status = { FULFILLED: 'fulfilled', PARTIALLY_FULFILLED: 'partial', UNFULFILLED: null }[
    fulfillmentStatusOf(order)
  ];
  return {
    id: digits(order.id),
    admin_graphql_api_id: `gid://shopify/Order/${order.id}`,
    name: `#${order.number}`,
    order_number: order.number,
    created_at: time(order.createdAt),
    updated_at: time(order.updatedAt),
    closed_at: status === 'fulfilled' ? time(order.updatedAt) : null,
    cancelled_at: time(order.cancelledAt),
    email: order.email ?? '',
    contact_email: order.email ?? null,
    phone: order.phone ?? null,
    customer_locale: order.customerLocale ?? null,
    financial_status: order.payment,
    fulfillment_status: status,
    test: order.test,
    source_name: order.sourceName,
    location_id: digits(order.locationId),
    total_price: order.total,
    currency: 'EUR',
    tags: order.tags.join(', '),
    note: order.note,
    note_attributes: order.attributes.map(({ key, value }) => ({ name: key, value })),
    customer:
      customer === undefined
        ? null
        : {
            id: digits(customer.id),
            email: customer.email ?? null,
            phone: customer.phone ?? null,
            first_name: customer.firstName,
            last_name: customer.lastName,
          },
    billing_address: address(order.billing),
    shipping_address: address(order.shipping),
    line_items: order.lines.map((line) => ({
      id: digits(line.id),
      title: line.title,
      quantity: line.quantity,
      price: line.price,
      sku: line.sku ?? null,
      vendor: line.vendor ?? null,
      gift_card: line.giftCard,
      requires_shipping: line.requiresShipping,
    })),
    fulfillments: order.parcels.map((parcel) => parcelPayload(parcel, order)),
    refunds: [],
  };
}

/** A fulfillment: no customer in it. */
function parcelPayload(parcel: Parcel, order: Order): Record<string, unknown> {
  return {
    id: digits(parcel.id),
    order_id: digits(order.id),
    admin_graphql_api_id: `gid://shopify/Fulfillment/${parcel.id}`,
    name: parcel.name,
    status: parcel.status,
    shipment_status: parcel.shipmentStatus,
    created_at: time(parcel.createdAt),
    updated_at: time(parcel.updatedAt),
    location_id: digits(parcel.locationId),
    email: order.email ?? '',
    destination: address(order.shipping),
  };
}

/** What each topic carries. */
export function payloadOf(
  topic: string,
  order: Order,
  parcel: Parcel | undefined,
  store: Store,
): Record<string, unknown> {
  if (topic === 'refunds/create') {
    return {
      id: digits(store.nextId()),
      order_id: digits(order.id),
      created_at: time(order.updatedAt),
      note: null,
      restock: true,
    };
  }
  if (parcel === undefined) return orderPayload(order, store);
  if (topic !== 'fulfillment_events/create') return parcelPayload(parcel, order);
  return {
    id: digits(store.nextId()),
    order_id: digits(order.id),
    fulfillment_id: digits(parcel.id),
    status: parcel.shipmentStatus,
    message: 'Zugestellt',
    happened_at: time(parcel.updatedAt),
  };
}

/** Of the privacy laws. */
export function redactPayload(
  customerId: string,
  store: Store,
  shop: { id: string; domain: string },
  request: boolean,
) {
  const customer = store.customers.get(customerId);
  const orders = [...store.orders.values()]
    .filter((order) => order.customerId === customerId)
    .map(({ id }) => digits(id));
  return {
    shop_id: digits(shop.id),
    shop_domain: shop.domain,
    customer: { id: digits(customerId), email: customer?.email ?? null, phone: customer?.phone ?? null },
    ...(request
      ? { orders_requested: orders, data_request: { id: digits(store.nextId()) } }
      : { orders_to_redact: orders }),
  };
}

export const shopPayload = (shop: { id: string; domain: string }) => ({
  shop_id: digits(shop.id),
  shop_domain: shop.domain,
});
