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
