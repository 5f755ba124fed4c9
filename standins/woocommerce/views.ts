import type { Note, Order, Webhook } from './definitions.ts';

/** The site's own time is an hour ahead of UTC. */
const siteOffsetMs = 3_600_000;

const addressFields = ['first_name', 'last_name', 'company', 'address_1', 'address_2', 'city', 'state', 'postcode'];

/** As wp_json_encode writes it: slashes and everything beyond ASCII escaped. */
export function phpJson(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('/', '\\/')
    .replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** No offset and no Z, in either zone. */
function wpDate(at: number): string {
  return new Date(at).toISOString().slice(0, 19);
}

function dates(name: string, at: number | null): Record<string, string | null> {
  return {
    [`date_${name}`]: at === null ? null : wpDate(at + siteOffsetMs),
    [`date_${name}_gmt`]: at === null ? null : wpDate(at),
  };
}

export function viewOrder(order: Order, site: string): Record<string, unknown> {
  const address = (given: Record<string, string>, more: string[]) =>
    Object.fromEntries([...addressFields, 'country', ...more].map((name) => [name, given[name] ?? '']));
  return {
    id: order.id,
    parent_id: order.parentId,
    number: order.number,
    order_key: `wc_order_${order.id}`,
    created_via: 'store-api',
    version: '11.1.0',
    status: order.status,
    currency: order.currency,
    currency_symbol: '€',
    total: order.total,
    customer_id: order.customerId,
    customer_note: '',
    ...dates('created', order.createdAt),
    ...dates('modified', order.modifiedAt),
    ...dates('completed', order.completedAt),
    ...dates('paid', order.paidAt),
    billing: address(order.billing, ['email', 'phone']),
    shipping: address(order.shipping, ['phone']),
    payment_method: 'stripe',
    payment_method_title: 'Kreditkarte / Debitkarte',
    line_items: order.items,
    tax_lines: [],
    shipping_lines: [],
    fee_lines: [],
    coupon_lines: [],
    refunds: order.refunds,
    meta_data: order.meta,
    payment_url: `${site}/kasse/order-pay/${order.id}/?pay_for_order=true`,
    is_editable: false,
    needs_payment: false,
    needs_processing: order.needsProcessing,
    _links: { self: [{ href: `${site}/wp-json/wc/v3/orders/${order.id}` }] },
  };
}

export function viewNote(note: Note): Record<string, unknown> {
  return {
    id: note.id,
    author: 'WooCommerce',
    ...dates('created', note.at),
    note: note.note,
    customer_note: note.customerNote,
    _links: {},
  };
}

/** Never with its secret. */
export function viewWebhook(webhook: Webhook): Record<string, unknown> {
  const [resource = '', event = ''] = webhook.topic.split(/\.(.*)/);
  return {
    id: webhook.id,
    name: webhook.name,
    status: webhook.status,
    topic: webhook.topic,
    resource,
    event,
    hooks: [],
    delivery_url: webhook.deliveryUrl,
    ...dates('created', webhook.createdAt),
    ...dates('modified', webhook.modifiedAt),
    _links: {},
  };
}

/** `_fields=id,status`: top-level names; the parent of a dotted one is given whole. */
export function onlyFields(view: Record<string, unknown>, fields: string | null): Record<string, unknown> {
  if (fields === null || fields === '') return view;
  const wanted = new Set(fields.split(',').map((name) => name.trim().split('.')[0]));
  return Object.fromEntries(Object.entries(view).filter(([name]) => wanted.has(name)));
}
