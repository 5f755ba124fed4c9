import { z } from 'zod';
import type { Stored } from '../kit/control.ts';
import type { VendorOptions } from '../kit/vendor-standin.ts';

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

/** What the control surface takes: the stand-in's own words, not the vendor's. */
export const id = z.union([z.string().regex(/^[1-9]\d{0,18}$/), z.number().int().positive()]).transform(String);

const address = z.strictObject({
  firstName: z.string().exactOptional(),
  lastName: z.string().exactOptional(),
  city: z.string().exactOptional(),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/)
    .exactOptional(),
  province: z.string().exactOptional(),
  phone: z.string().exactOptional(),
  timeZone: z.string().exactOptional(),
});

export const customerDefinition = z.strictObject({
  id: id.exactOptional(),
  firstName: z.string().default('Jördis'),
  lastName: z.string().default('Petersen'),
  email: z.string().exactOptional(),
  phone: z.string().exactOptional(),
  locale: z.string().default('de-DE'),
  tags: z.array(z.string()).default([]),
  emailConsent: z
    .enum(['NOT_SUBSCRIBED', 'PENDING', 'SUBSCRIBED', 'UNSUBSCRIBED', 'INVALID'])
    .default('NOT_SUBSCRIBED'),
  smsConsent: z.enum(['NOT_SUBSCRIBED', 'PENDING', 'SUBSCRIBED', 'UNSUBSCRIBED', 'REDACTED']).default('NOT_SUBSCRIBED'),
});

export const lineDefinition = z.strictObject({
  id: id.exactOptional(),
  title: z.string().default('Filterkaffee "Alster"'),
  variantTitle: z.string().exactOptional(),
  sku: z.string().exactOptional(),
  vendor: z.string().exactOptional(),
  quantity: z.number().int().min(1).default(1),
  price: z.string().default('14.90'),
  giftCard: z.boolean().default(false),
  requiresShipping: z.boolean().default(true),
});

export const locationDefinition = z.strictObject({ id: id.exactOptional(), name: z.string() });

export const orderDefinition = z.strictObject({
  id: id.exactOptional(),
  customerId: id.exactOptional(),
  email: z.string().exactOptional(),
  phone: z.string().exactOptional(),
  customerLocale: z.string().exactOptional(),
  test: z.boolean().default(false),
  sourceName: z.string().default('web'),
  note: z.string().nullable().default(null),
  tags: z.array(z.string()).default([]),
  discountCodes: z.array(z.string()).default([]),
  attributes: z.array(z.strictObject({ key: z.string(), value: z.string() })).default([]),
  total: z.string().default('47.20'),
  /** Where a sale in a shop was made. */
  locationId: id.exactOptional(),
  shipping: address.exactOptional(),
  billing: address.exactOptional(),
  payment: z.enum(['pending', 'authorized', 'paid']).default('paid'),
  lines: z
    .array(lineDefinition)
    .min(1)
    .default(() => [lineDefinition.parse({})]),
  /** Epoch milliseconds. */
  createdAt: z.number().exactOptional(),
});

export const orderName = z.strictObject({ id });
/** `lines`: their positions; left out: all that isn't handed over yet. */
export const fulfilling = z.strictObject({
  id,
  lines: z.array(z.number().int().min(0)).min(1).exactOptional(),
  locationId: id.exactOptional(),
  /** What its carrier has reported when it leaves; null: nothing yet. */
  shipmentStatus: z.enum(shipmentStatuses).nullable().default(null),
});
/** `parcel`: its position; left out: the last one. */
export const parcelName = z.strictObject({ id, parcel: z.number().int().min(0).exactOptional() });
export const parcelNews = z.strictObject({ ...parcelName.shape, status: z.enum(shipmentStatuses) });
export const refunding = z.strictObject({
  id,
  /** Positions of the lines given back; left out: all. */
  lines: z.array(z.number().int().min(0)).exactOptional(),
});
export const orderChange = z.strictObject({
  id,
  note: z.string().nullable().exactOptional(),
  tags: z.array(z.string()).exactOptional(),
  payment: z.enum(['pending', 'authorized', 'partially_paid', 'paid', 'voided']).exactOptional(),
  email: z.string().exactOptional(),
  /** Whose order it is from now on; the order's own address stays. */
  customerId: id.exactOptional(),
});

export const metafieldDefinition = z.strictObject({
  namespace: z.string().default('$app'),
  key: z.string(),
  type: z.string().default('number_integer'),
  name: z.string().default('Feedback'),
  validations: z.array(z.strictObject({ name: z.string(), value: z.string() })).default([]),
});

/** Without the API's own rules, as things may have got there by other ways. */
export const subscriptionDefinition = z.strictObject({
  topic: z.string().regex(/^[A-Z_]+$/),
  uri: z.string(),
  format: z.enum(['JSON', 'XML']).default('JSON'),
  filter: z.string().nullable().default(null),
  includeFields: z.array(z.string()).default([]),
  /** Declared in the app, not made through the API: not listed, and kept whatever happens to its deliveries. */
  ofApp: z.boolean().default(false),
});
/** Without `topic`, all of them. */
export const subscriptionRemoval = z.strictObject({ topic: z.string().exactOptional() });

/** Where compliance webhooks go: a setting of the app. */
export const complianceTarget = z.strictObject({ uri: z.string() });
export const privacyRequest = z.strictObject({ customerId: id });

/** A body delivered to every subscription of a topic, or to `uri`, as it is. */
export const delivery = z.strictObject({ topic: z.string(), body: z.unknown(), uri: z.string().exactOptional() });

export const settingsChange = z.strictObject({
  /** Points of the bucket, and how many come back a second. */
  maximumAvailable: z.number().positive().exactOptional(),
  restoreRate: z.number().positive().exactOptional(),
  /** What the token may; a right to write includes the one to read. */
  scopes: z.array(z.string()).exactOptional(),
  /** False: personal data comes empty, as for a public app without approval. */
  protectedData: z.boolean().exactOptional(),
  /** `frozen` 402, `locked` 423, `closed` 404. */
  shop: z.enum(['open', 'frozen', 'locked', 'closed']).exactOptional(),
  /** The version that answers, whatever was asked for. */
  answersIn: z.string().exactOptional(),
  webhookVersion: z.string().exactOptional(),
  /** Set by another app: metafield values by `namespace.key`, whatever is written. */
  sticky: z.record(z.string(), z.string()).exactOptional(),
  /** How long a change takes until `orders` finds it. */
  searchLagMs: z.number().min(0).exactOptional(),
  /** Orders that Shopify's servers fail to show or to tag, by id: an error with a path, in an answer that is good otherwise. */
  broken: z.array(z.string()).exactOptional(),
});

/** Ids are texts of digits: some have more of them than a number holds. Times are epoch milliseconds. */
type Kept<Schema extends z.ZodType> = Stored<Schema, string>;
export type Address = z.output<typeof address>;
export type Customer = Kept<typeof customerDefinition>;
/** `currentQuantity`: without what was refunded or removed. */
export type Line = Kept<typeof lineDefinition> & { currentQuantity: number };

export interface Parcel {
  id: string;
  name: string;
  status: 'success' | 'cancelled';
  shipmentStatus: (typeof shipmentStatuses)[number] | null;
  lineIds: string[];
  locationId?: string;
  createdAt: number;
  updatedAt: number;
  deliveredAt: number | null;
}

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

export interface Order extends Omit<Kept<typeof orderDefinition>, 'payment' | 'lines'> {
  number: number;
  createdAt: number;
  updatedAt: number;
  cancelledAt: number | null;
  payment: 'pending' | 'authorized' | 'partially_paid' | 'paid' | 'partially_refunded' | 'refunded' | 'voided';
  lines: Line[];
  parcels: Parcel[];
  transactions: Transaction[];
  /** `namespace.key` → metafield. */
  metafields: Map<string, Metafield>;
}

export interface Definition extends Kept<typeof metafieldDefinition> {
  /** Who may see and write it beside the app; null: a merchant's own. */
  access: 'MERCHANT_READ' | 'MERCHANT_READ_WRITE' | 'PRIVATE' | null;
}

export type Subscription = Kept<typeof subscriptionDefinition> & { createdAt: number };

export function fulfillmentStatusOf({ lines, parcels }: Order): 'FULFILLED' | 'PARTIALLY_FULFILLED' | 'UNFULFILLED' {
  const sent = new Set(parcels.filter(({ status }) => status === 'success').flatMap(({ lineIds }) => lineIds));
  const wanted = lines.filter(({ currentQuantity, id }) => currentQuantity > 0 || sent.has(id));
  if (sent.size === 0) return 'UNFULFILLED';
  return wanted.every(({ id }) => sent.has(id)) ? 'FULFILLED' : 'PARTIALLY_FULFILLED';
}

export interface ShopifyStandinOptions extends VendorOptions {
  /** Default `acme.myshopify.com`. */
  shop?: string;
  /** The permanent token of a custom app. Default `shpat_shopify-token`. */
  accessToken?: string;
  /** Default `shopify-client` and `shopify-client-secret`; the secret also signs webhooks. */
  clientId?: string;
  clientSecret?: string;
}

export type Settings = Required<Omit<z.output<typeof settingsChange>, 'answersIn'>> & { answersIn?: string };

/** A shop on the standard plan, and an app with all that closeloop asks for. */
export function openSettings(): Settings {
  return {
    maximumAvailable: 2_000,
    restoreRate: 100,
    scopes: ['read_orders', 'write_orders', 'read_customers', 'read_fulfillments', 'read_locations'],
    protectedData: true,
    shop: 'open',
    webhookVersion: '2026-10',
    sticky: {},
    searchLagMs: 0,
    broken: [],
  };
}
