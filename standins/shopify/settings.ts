import type { VendorOptions } from '../kit/vendor-standin.ts';

export interface ShopifyStandinOptions extends VendorOptions {
  /** Default `acme.myshopify.com`. */
  shop?: string;
  /** The permanent token of a custom app. Default `shpat_shopify-token`. */
  accessToken?: string;
  /** Default `shopify-client` and `shopify-client-secret`; the secret also signs webhooks. */
  clientId?: string;
  clientSecret?: string;
}

/** What the control surface can set; see definitions.ts. */
export interface Settings {
  maximumAvailable: number;
  restoreRate: number;
  scopes: string[];
  protectedData: boolean;
  shop: 'open' | 'frozen' | 'locked' | 'closed';
  answersIn?: string;
  webhookVersion: string;
  sticky: Record<string, string>;
  searchLagMs: number;
  broken: string[];
}

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
