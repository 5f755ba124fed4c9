import { intercom } from './intercom.ts';
import { shopify } from './shopify.ts';
import type { Undescribed, VendorRow } from './vendor-row.ts';
import { woocommerce } from './woocommerce.ts';
import { zendesk } from './zendesk.ts';

/** Every vendor with a description that we may use. */
export const vendors: readonly VendorRow[] = [zendesk, shopify, woocommerce, intercom];

/** Named in the report, so that nobody takes silence for a pass. */
export const undescribed: readonly Undescribed[] = [
  {
    name: 'Freshdesk',
    why: "no specification that is published: the stand-in's strictness only",
  },
  {
    name: 'HubSpot',
    why: "no specification: the stand-in's strictness only. HubSpot reserves its OpenAPI files for itself (facts, source S1)",
  },
  {
    name: 'Request-Tracker',
    why: 'no stand-in: test/real calls a Request Tracker that runs',
  },
  {
    name: 'Vendure',
    why: 'no stand-in: test/real calls a Vendure that runs, and its own schema refuses what it does not know',
  },
  {
    name: 'Webhook',
    why: 'no vendor: what it posts is a Standard Webhook, checked by test/support/core/vectors/standard-webhooks.json',
  },
];
