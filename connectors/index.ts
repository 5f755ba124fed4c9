import type { Connector } from '../core/connector.ts';
import { hubspot } from './hubspot/hubspot.ts';
import { zendesk } from './zendesk/zendesk.ts';

/** Every connector that ships with closeloop. */
export const connectors: readonly Connector[] = [hubspot, zendesk];
