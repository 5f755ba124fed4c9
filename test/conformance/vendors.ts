import type { VendorRow } from './vendor-row.ts';
import { zendesk } from './zendesk.ts';

/** Every vendor with a description of its own making. */
export const vendors: readonly VendorRow[] = [zendesk];
