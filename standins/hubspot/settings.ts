import type { VendorOptions } from '../kit/vendor-standin.ts';

export interface HubspotStandinOptions extends VendorOptions {
  /** For the signatures' timestamps. Left out: the system's. */
  wallClock?: () => Date;
  /** Calls in any ten seconds (default 190, Professional) and a day (default 625,000). */
  rateLimit?: { per10s?: number; daily?: number };
  /** The app's static token, with all scopes unless the settings say otherwise. Default `hubspot-token`. */
  accessToken?: string;
  /** Signs webhooks. Default `hubspot-client-secret`. */
  clientSecret?: string;
  /** Of the legacy public app's developer, for its webhook settings. Default `hubspot-developer-key`. */
  developerApiKey?: string;
  /** For `oauth`. Default `hubspot-client-id` and `hubspot-refresh-token`. */
  clientId?: string;
  refreshToken?: string;
  /** Further tokens and their scopes; null: all. */
  tokens?: Readonly<Record<string, readonly string[] | null>>;
  portalId?: number;
  appId?: number;
}

/** What the control surface can set; see definitions.ts. */
export interface Settings {
  per10s: number;
  daily: number;
  scopes: string[] | null;
  requiredOnWrite: string | null;
  searchLagMs: number;
  associationPage: number;
}

export function openSettings({ rateLimit }: HubspotStandinOptions): Settings {
  return {
    per10s: rateLimit?.per10s ?? 190,
    daily: rateLimit?.daily ?? 625_000,
    scopes: null,
    requiredOnWrite: null,
    searchLagMs: 0,
    associationPage: 500,
  };
}
