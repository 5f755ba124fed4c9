import { z } from 'zod';
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

export interface LineItem {
  id: number;
  name: string;
  product_id: number;
  variation_id: number;
  quantity: number;
  sku: string;
  total: string;
}

/** Instants are epoch ms; the API shows whole seconds. */
export interface Order {
  id: number;
  parentId: number;
  number: string;
  status: string;
  currency: string;
  total: string;
  customerId: number;
  billing: Record<string, string>;
  shipping: Record<string, string>;
  items: LineItem[];
  meta: Meta[];
  refunds: { id: number; reason: string; total: string }[];
  /** False for downloads and services only. */
  needsProcessing: boolean;
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

export interface Webhook {
  id: number;
  name: string;
  status: 'active' | 'paused' | 'disabled';
  topic: string;
  deliveryUrl: string;
  secret: string;
  /** Failures since the last success; enabling again doesn't forget them. */
  failures: number;
  createdAt: number;
  modifiedAt: number;
}

export interface ApiKey {
  key: string;
  secret: string;
  rights: 'read' | 'write' | 'read_write';
  /** May its WordPress user see and edit orders and webhooks? */
  mayEditOrders: boolean;
}

/** What the control surface takes: the stand-in's own words, not the vendor's. */
const id = z.number().int().positive();
const status = z.string().regex(/^[a-z0-9-]{1,20}$/);
const address = z.record(z.string(), z.string());

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
    .array(
      z.strictObject({
        name: z.string().default('Filterkaffee'),
        productId: id.default(93),
        quantity: z.number().default(1),
        sku: z.string().default(''),
        total: z.string().default('44.60'),
      }),
    )
    .default([{ name: 'Filterkaffee', productId: 93, quantity: 1, sku: 'NK-ALS-500', total: '44.60' }]),
  meta: z.record(z.string(), z.unknown()).default({}),
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
  /** The webhooks' owner may not see orders any more: signed errors are delivered. Default false. */
  ownerLostRights: z.boolean().exactOptional(),
  /** False: the background jobs stand still, what happens meanwhile is never delivered. Default true. */
  deliveries: z.boolean().exactOptional(),
  /**
   * False, as WordPress: nothing is delivered to private addresses, nor to ports other than 80, 443 and 8080. Default
   * true, as tests and the demo receive on this machine.
   */
  localReceivers: z.boolean().exactOptional(),
});

/** Nothing here waits: a delivery is never tried again. */
export interface WooCommerceStandinOptions extends Omit<VendorOptions, 'sleep'> {
  /** A key with all rights. Default `ck_standin` and `cs_standin`. */
  consumerKey?: string;
  consumerSecret?: string;
}

/** Of the shop's surroundings; see definitions.ts. */
export interface Settings {
  permalinks: boolean;
  rest: boolean;
  redirectTo: string | null;
  dropsAuthorization: boolean;
  ownerLostRights: boolean;
  deliveries: boolean;
  localReceivers: boolean;
}

export function openSettings(): Settings {
  return {
    permalinks: true,
    rest: true,
    redirectTo: null,
    dropsAuthorization: false,
    ownerLostRights: false,
    deliveries: true,
    localReceivers: true,
  };
}
