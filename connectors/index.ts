import type { Connector } from '../core/connector/contract.ts';
import { hubspot } from './hubspot/hubspot.ts';
import { shopify } from './shopify/shopify.ts';
import { webhook } from './webhook/webhook.ts';
import { woocommerce } from './woocommerce/woocommerce.ts';
import { zendesk } from './zendesk/zendesk.ts';

/** Every connector that ships with closeloop. */
export const connectors: readonly Connector[] = [hubspot, shopify, webhook, woocommerce, zendesk];
