import { z } from 'zod';
import type { Stored } from '../kit/control.ts';
import { type VendorOptions, senderChange as vendorSenderChange } from '../kit/vendor-standin.ts';

/** What WooCommerce itself knows; plugins register more. */
export const coreStatuses = [
  'pending',
  'processing',
  'on-hold',
  'completed',
  'cancelled',
  'refunded',
  'failed',
  'checkout-draft',
] as const;

export interface Meta {
  id: number;
  key: string;
  /** Any JSON value, whatever was sent. */
  value: unknown;
}

export interface Note {
  id: number;
  note: string;
  /** Was mailed to the customer. */
  customerNote: boolean;
  at: number;
}

/** What the control surface takes: the stand-in's own words, not the vendor's. */
const id = z.number().int().positive();
const status = z.string().regex(/^[a-z0-9-]{1,20}$/);
const address = z.record(z.string(), z.string());

const item = z.strictObject({
  name: z.string().default('Filterkaffee'),
  productId: id.default(93),
  quantity: z.number().default(1),
  sku: z.string().default(''),
  total: z.string().default('44.60'),
});

export const orderDefinition = z.strictObject({
  id: id.optional(),
  parentId: z.number().int().nonnegative().default(0),
  number: z.string().optional(),
  status: status.default('processing'),
  currency: z.string().default('EUR'),
  total: z.string().default('44.60'),
  /** 0 is a guest. */
  customerId: z.number().int().nonnegative().default(0),
  billing: address.default({}),
  shipping: address.default({}),
  items: z
    .array(item)
    .default([{ name: 'Filterkaffee', productId: 93, quantity: 1, sku: 'NK-ALS-500', total: '44.60' }]),
  meta: z.record(z.string(), z.unknown()).default({}),
  /** False for downloads and services only. */
  needsProcessing: z.boolean().default(true),
  /** How long ago it was made. */
  ageMs: z.number().nonnegative().default(0),
});

export const orderName = z.strictObject({ id });
export const statusChange = z.strictObject({ id, status });
/** What is named of an address is replaced, the rest stays. */
export const orderChange = z.strictObject({
  id,
  customerId: z.number().int().nonnegative().exactOptional(),
  billing: address.default({}),
  shipping: address.default({}),
});
/** In one go, so that their webhooks leave together. */
export const massChange = z.strictObject({ ids: z.array(id), status: status.default('completed') });
/** Without an amount: all that is left, and the order becomes `refunded`. */
export const refundAction = z.strictObject({ id, amount: z.string().optional() });
export const metaChange = z.strictObject({ id, key: z.string(), value: z.unknown() });
export const statusDefinition = z.strictObject({ status });

export const keyDefinition = z.strictObject({
  key: z.string(),
  secret: z.string(),
  rights: z.enum(['read', 'write', 'read_write']).default('read_write'),
  /** May its WordPress user see and edit orders and webhooks? */
  mayEditOrders: z.boolean().default(true),
});

/** As an administrator makes one. */
export const webhookDefinition = z.strictObject({
  name: z.string().default('Orders'),
  topic: z.string().default('order.updated'),
  url: z.string(),
  secret: z.string().min(1),
});
export const webhookChange = z.strictObject({
  id,
  status: z.enum(['active', 'paused', 'disabled']).exactOptional(),
  url: z.string().exactOptional(),
  topic: z.string().exactOptional(),
  secret: z.string().min(1).exactOptional(),
});

export const senderChange = vendorSenderChange.omit({ pauseScale: true });

export const settingsChange = z.strictObject({
  /** False: only `?rest_route=` leads to the API. Default true. */
  permalinks: z.boolean().exactOptional(),
  /** False: WordPress is there, WooCommerce's API isn't. Default true. */
  rest: z.boolean().exactOptional(),
  /** Every request is redirected there; null: none. */
  redirectTo: z.string().nullable().exactOptional(),
  /** The host takes the Authorization header away. Default false. */
  dropsAuthorization: z.boolean().exactOptional(),
  /** False: the background jobs stand still, what happens meanwhile is never delivered. Default true. */
  deliveries: z.boolean().exactOptional(),
});

/** Instants are epoch ms; the API shows whole seconds. */
export interface Order extends Omit<Stored<typeof orderDefinition>, 'items' | 'meta' | 'ageMs'> {
  number: string;
  items: (Omit<z.output<typeof item>, 'productId'> & { id: number; product_id: number; variation_id: number })[];
  meta: Meta[];
  refunds: { id: number; reason: string; total: string }[];
  createdAt: number;
  modifiedAt: number;
  paidAt: number | null;
  completedAt: number | null;
  /** In the trash: what it was before. */
  trashedFrom: string | undefined;
  notes: Note[];
  /** How often a customer was mailed about it because of an API call. */
  mails: number;
  /** How often an API call made WooCommerce recalculate its totals. */
  recalculations: number;
}

export interface Webhook extends Omit<Stored<typeof webhookDefinition>, 'url'> {
  status: 'active' | 'paused' | 'disabled';
  deliveryUrl: string;
  /** Failures since the last success; enabling again doesn't forget them. */
  failures: number;
  createdAt: number;
  modifiedAt: number;
}

export type ApiKey = z.output<typeof keyDefinition>;

/** Nothing here waits: a delivery is never tried again. */
export interface WooCommerceStandinOptions extends Omit<VendorOptions, 'sleep'> {
  /** A key with all rights. Default `ck_standin` and `cs_standin`. */
  consumerKey?: string;
  consumerSecret?: string;
}

export type Settings = Required<z.output<typeof settingsChange>>;

export function openSettings(): Settings {
  return {
    permalinks: true,
    rest: true,
    redirectTo: null,
    dropsAuthorization: false,
    deliveries: true,
  };
}
