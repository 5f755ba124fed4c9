import type { VendorOptions } from '../kit/vendor-standin.ts';

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
