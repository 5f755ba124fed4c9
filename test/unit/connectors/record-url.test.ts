import { expect, test } from 'vitest';
import { hubspot } from '../../../connectors/hubspot/hubspot.ts';
import { intercom } from '../../../connectors/intercom/intercom.ts';
import { requestTracker } from '../../../connectors/request-tracker/request-tracker.ts';
import { shopify } from '../../../connectors/shopify/shopify.ts';
import { woocommerce } from '../../../connectors/woocommerce/woocommerce.ts';
import { zendesk } from '../../../connectors/zendesk/zendesk.ts';
import type { Connector } from '../../../core/connector/contract.ts';
import { recordNamed } from '../../../core/connector/record-name.ts';
import { testPorts } from '../../support/connectors/zendesk/ports.ts';

const hook = { webhookSecrets: ['a-secret-of-the-vendor'] };
const desk = { subdomain: 'acme', clientId: 'c', clientSecret: 's', ...hook };
const shop = { shop: 'acme.myshopify.com', accessToken: 'shpat_1', ...hook };
const site = {
  site: 'https://shop.example',
  consumerKey: `ck_${'1'.repeat(40)}`,
  consumerSecret: `cs_${'1'.repeat(40)}`,
  ...hook,
};
const inbox = { workspace: 'k7p2m4xq', region: 'eu', accessToken: 't', adminId: 7, ...hook };
const rt = { address: 'https://rt.example.com/rt/', token: '1-27-ab', ...hook };
const crm = { accessToken: 'pat-1', ...hook };

const rows: [of: Connector, settings: object, id: string, url: string | undefined][] = [
  [zendesk, desk, '41960', 'https://acme.zendesk.com/agent/tickets/41960'],
  [zendesk, desk, '../admin', 'https://acme.zendesk.com/agent/tickets/..%2Fadmin'],
  [hubspot, { ...crm, portalId: 123 }, 'deal-7', 'https://app.hubspot.com/contacts/123/record/0-3/7'],
  [hubspot, { ...crm, portalId: 123 }, 'ticket-8', 'https://app.hubspot.com/contacts/123/record/0-5/8'],
  [hubspot, crm, 'deal-7', undefined],
  [shopify, shop, '5791244910855', 'https://acme.myshopify.com/admin/orders/5791244910855'],
  [woocommerce, site, '17', 'https://shop.example/wp-admin/post.php?post=17&action=edit'],
  [requestTracker, rt, '4', 'https://rt.example.com/rt/Ticket/Display.html?id=4'],
  [intercom, inbox, '215', 'https://app.eu.intercom.com/a/apps/k7p2m4xq/conversations/215'],
];

test.each(rows)('%#: people see the record at its vendor', (connector, settings, id, url) => {
  expect(connector.open(settings, testPorts().ports).recordUrl?.(id)).toBe(url);
});

const written: [of: Connector, settings: object, text: string, record: string | undefined][] = [
  [zendesk, desk, '#41960', '41960'],
  [zendesk, desk, ' #41960 ', '41960'],
  [zendesk, desk, '41960', '41960'],
  [zendesk, desk, '##41960', undefined],
  [zendesk, desk, 'kati@example.com', undefined],
  [woocommerce, site, '#17', '17'],
  [woocommerce, site, '#0', undefined],
  [hubspot, crm, 'tickets/7', 'ticket-7'],
  // A shop may name its orders anything, and prints the name: no id follows from it.
  [shopify, shop, '#1001', '#1001'],
];

test.each(written)('%#: people write a record as its vendor prints it', (connector, settings, text, record) => {
  expect(recordNamed(connector.open(settings, testPorts().ports), text)).toBe(record);
});
