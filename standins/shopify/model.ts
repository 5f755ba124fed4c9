/** Ids are texts of digits: some have more of them than a number holds. Times are epoch milliseconds. */
export interface Address {
  firstName?: string;
  lastName?: string;
  city?: string;
  /** ISO 3166. */
  country?: string;
  /** A state's or province's code, `CA`. */
  province?: string;
  phone?: string;
  timeZone?: string;
}

export interface Customer {
  id: string;
  firstName: string;
  lastName: string;
  email?: string;
  phone?: string;
  locale: string;
  tags: string[];
  emailConsent: 'NOT_SUBSCRIBED' | 'PENDING' | 'SUBSCRIBED' | 'UNSUBSCRIBED' | 'INVALID';
  smsConsent: 'NOT_SUBSCRIBED' | 'PENDING' | 'SUBSCRIBED' | 'UNSUBSCRIBED' | 'REDACTED';
}

export interface Line {
  id: string;
  title: string;
  variantTitle?: string;
  sku?: string;
  vendor?: string;
  quantity: number;
  /** Without what was refunded or removed. */
  currentQuantity: number;
  price: string;
  giftCard: boolean;
  requiresShipping: boolean;
}

/** As the carrier tells it, in the words of webhooks; null: nothing yet. */
export const shipmentStatuses = [
  'label_printed',
  'label_purchased',
  'confirmed',
  'carrier_picked_up',
  'in_transit',
  'out_for_delivery',
  'delayed',
  'attempted_delivery',
  'ready_for_pickup',
  'picked_up',
  'delivered',
  'failure',
] as const;
type ShipmentStatus = (typeof shipmentStatuses)[number];

export interface Parcel {
  id: string;
  name: string;
  status: 'success' | 'cancelled';
  shipmentStatus: ShipmentStatus | null;
  lineIds: string[];
  locationId?: string;
  createdAt: number;
  updatedAt: number;
  deliveredAt: number | null;
}

type Payment = 'pending' | 'authorized' | 'partially_paid' | 'paid' | 'partially_refunded' | 'refunded' | 'voided';

interface Transaction {
  id: string;
  kind: 'AUTHORIZATION' | 'SALE' | 'CAPTURE' | 'REFUND' | 'VOID';
  status: 'SUCCESS' | 'FAILURE' | 'PENDING';
  at: number;
}

export interface Metafield {
  id: string;
  /** As stored: `$app` is `app--<number of the app>`. */
  namespace: string;
  key: string;
  type: string;
  value: string;
  createdAt: number;
  updatedAt: number;
}

export interface Order {
  id: string;
  number: number;
  createdAt: number;
  updatedAt: number;
  test: boolean;
  cancelledAt: number | null;
  sourceName: string;
  email?: string;
  phone?: string;
  customerLocale?: string;
  note: string | null;
  tags: string[];
  discountCodes: string[];
  attributes: { key: string; value: string }[];
  total: string;
  customerId?: string;
  /** Where a sale in a shop was made. */
  locationId?: string;
  shipping?: Address;
  billing?: Address;
  payment: Payment;
  lines: Line[];
  parcels: Parcel[];
  transactions: Transaction[];
  /** `namespace.key` → metafield. */
  metafields: Map<string, Metafield>;
}

export interface Definition {
  id: string;
  name: string;
  namespace: string;
  key: string;
  type: string;
  description?: string;
  validations: { name: string; value: string }[];
  /** Who may see and write it beside the app; null: a merchant's own. */
  access: 'MERCHANT_READ' | 'MERCHANT_READ_WRITE' | 'PRIVATE' | null;
}

export interface Subscription {
  id: string;
  /** `ORDERS_FULFILLED` */
  topic: string;
  uri: string;
  format: 'JSON' | 'XML';
  filter: string | null;
  includeFields: string[];
  name?: string;
  createdAt: number;
  /** Declared in the app, not made through the API: not listed, and kept whatever happens to its deliveries. */
  ofApp: boolean;
}

export function fulfillmentStatusOf({ lines, parcels }: Order): 'FULFILLED' | 'PARTIALLY_FULFILLED' | 'UNFULFILLED' {
  const sent = new Set(parcels.filter(({ status }) => status === 'success').flatMap(({ lineIds }) => lineIds));
  const wanted = lines.filter(({ currentQuantity, id }) => currentQuantity > 0 || sent.has(id));
  if (sent.size === 0) return 'UNFULFILLED';
  return wanted.every(({ id }) => sent.has(id)) ? 'FULFILLED' : 'PARTIALLY_FULFILLED';
}
