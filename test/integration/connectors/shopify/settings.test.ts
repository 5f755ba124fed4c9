import { expect, test } from 'vitest';
import { addressOf, settings } from '../../../../connectors/shopify/settings.ts';
import { shopify } from '../../../../connectors/shopify/shopify.ts';
import { given } from '../../../support/connectors/shopify/fixture.ts';

const whole = { shop: 'acme.myshopify.com', accessToken: 'shpat_1', webhookSecrets: ['s'] };

test('it asks about delivered orders, all parcels, within a week, unless told otherwise', () => {
  expect(settings.parse(whole)).toMatchObject({
    trigger: 'delivered',
    parcels: 'all',
    deliveredWithin: 7 * 86_400_000,
    include: { pointOfSale: true, drafts: true, partlyRefunded: true, withoutContact: false },
    webhooks: true,
    watchEvery: 86_400_000,
    writeBack: { namespace: '$app', tags: false, note: false, noAnswer: false },
  });
});

test.each<[what: string, change: object]>([
  ['another host', { shop: 'acme.example.com' }],
  ['a host behind a slash', { shop: 'evil.example/acme.myshopify.com' }],
  ['a host behind an at', { shop: 'x@acme.myshopify.com' }],
  ['capital letters', { shop: 'Acme.myshopify.com' }],
  ['the address shown to customers', { shop: 'https://acme.myshopify.com' }],
  ['no credentials', { accessToken: undefined }],
  ['half a pair', { accessToken: undefined, clientId: 'c' }],
  ['both kinds', { clientId: 'c', clientSecret: 's' }],
  ['http to another machine', { baseUrl: 'http://shop.example' }],
  ['a path', { baseUrl: 'https://shop.example/x' }],
  ['an unknown trigger', { trigger: 'shipped' }],
  ['no duration', { deliveredWithin: 7 }],
  ['a key of one letter', { writeBack: { grade: 'g' } }],
  ['a key with a quote', { writeBack: { grade: 'a") { id } x' } }],
  ['a namespace with a quote', { writeBack: { namespace: 'a"b' } }],
  ['a metafield without a namespace', { metafields: ['branch'] }],
  ['a metafield with a quote', { metafields: ['a".branch'] }],
  ['five secrets', { webhookSecrets: ['1', '2', '3', '4', '5'] }],
])('it refuses %s', (_what, change) => {
  const { accessToken: _, ...rest } = whole;
  const given = 'accessToken' in change ? { ...rest, ...change, accessToken: undefined } : { ...whole, ...change };
  const clean = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  expect(settings.safeParse(clean).success).toBe(false);
});

test('it takes the client id and secret for a token', () => {
  const { accessToken: _, ...rest } = whole;
  expect(settings.safeParse({ ...rest, clientId: 'c', clientSecret: 's' }).success).toBe(true);
});

test('it calls the shop that was checked, or the stand-in', () => {
  expect(addressOf(settings.parse(whole))).toBe('https://acme.myshopify.com');
  expect(addressOf(settings.parse({ ...whole, baseUrl: 'http://127.0.0.1:9000' }))).toBe('http://127.0.0.1:9000');
});

test('it has one account per shop', () => {
  expect(shopify.account(given)).toBe('nordlicht-demo.myshopify.com');
});
