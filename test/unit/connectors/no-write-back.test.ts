import { expect, test } from 'vitest';
import { hubspot } from '../../../connectors/hubspot/hubspot.ts';
import { intercom } from '../../../connectors/intercom/intercom.ts';
import { requestTracker } from '../../../connectors/request-tracker/request-tracker.ts';
import { shopify } from '../../../connectors/shopify/shopify.ts';
import { woocommerce } from '../../../connectors/woocommerce/woocommerce.ts';
import { zendesk } from '../../../connectors/zendesk/zendesk.ts';
import type { Source } from '../../../core/connector/contract.ts';
import { answer, openPorts } from '../../support/contract/bench.ts';

const { ports, asked } = openPorts();
const baseUrl = 'http://127.0.0.1:9';
const webhookSecrets = ['secret-of-a-webhook-0123456789'];

const sources: [name: string, open: () => Source][] = [
  [
    'zendesk',
    () => zendesk.open({ subdomain: 'acme', clientId: 'id', clientSecret: 'secret', webhookSecrets, baseUrl }, ports),
  ],
  ['hubspot', () => hubspot.open({ portalId: 1, accessToken: 'token', webhookSecrets, baseUrl }, ports)],
  [
    'intercom',
    () => intercom.open({ workspace: 'k7p2m4xq', accessToken: 'token', adminId: '1', webhookSecrets, baseUrl }, ports),
  ],
  ['request-tracker', () => requestTracker.open({ address: baseUrl, token: '1-27-ab', webhookSecrets }, ports)],
  ['shopify', () => shopify.open({ shop: 'acme.myshopify.com', accessToken: 'token', webhookSecrets, baseUrl }, ports)],
  [
    'woocommerce',
    () =>
      woocommerce.open({ site: baseUrl, consumerKey: 'ck_key', consumerSecret: 'cs_secret', webhookSecrets }, ports),
  ],
];

test.each(sources)(
  '%s without places for an answer makes no call, and says that nothing was written',
  async (_name, open) => {
    expect(await open().writeBack([answer('7')])).toEqual([
      { ok: true, findings: [], unwritten: 'the source has no writeBack' },
    ]);
    expect(asked.fetches).toBe(0);
  },
);
