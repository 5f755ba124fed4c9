import { expect, test } from 'vitest';
import { Order, stateOf } from '../../../../connectors/vendure/record.ts';
import { settings } from '../../../../connectors/vendure/settings.ts';
import type { RecordState } from '../../../../core/connector/contract.ts';

const moved = (id: string, from: string, to: string, createdAt = '2026-11-26T10:00:00.000Z') => ({
  ...{ id, createdAt },
  data: { from, to },
});
const order = (state: string, items: object[], more = {}) =>
  Order.parse({
    ...{ id: '1', state, totalWithTax: 1000, createdAt: '2026-11-20T08:00:00.000Z', lines: [], history: { items } },
    ...{ orderPlacedAt: '2026-11-20T09:00:00.500Z', ...more },
  });
const closed = (closing: string, at: string): RecordState => ({ is: 'closed', closing, closedAt: new Date(at) });

const delivered = moved('29', 'Shipped', 'Delivered', '2026-11-24T00:22:27.000Z');
const shipped = moved('27', 'PaymentSettled', 'Shipped', '2026-11-24T00:22:26.000Z');

test.each([
  ['the one that delivered it', ['Delivered'], [delivered, shipped], closed('29', '2026-11-24T00:22:27Z')],
  [
    'the first of two closed states',
    ['Shipped', 'Delivered'],
    [delivered, shipped],
    closed('27', '2026-11-24T00:22:26Z'),
  ],
  [
    'the newest, after the order was open again',
    ['Delivered'],
    [moved('40', 'Returned', 'Delivered'), moved('39', 'Delivered', 'Returned'), delivered],
    closed('40', '2026-11-26T10:00:00Z'),
  ],
  [
    'never before the order was placed',
    ['Delivered'],
    [moved('7', 'A', 'Delivered', '2026-11-20T09:00:00.000Z')],
    closed('7', '2026-11-20T09:00:00.500Z'),
  ],
  ['one, of an order without a history', ['Delivered'], [], closed('once', '2026-11-20T09:00:00.500Z')],
])('the closing of an order is %s', (_, closedStates, items, expected) => {
  expect(stateOf(order('Delivered', items), closedStates)).toEqual(expected);
});

test.each([
  ['Shipped', {}, { is: 'open' }],
  ['Cancelled', {}, { is: 'out', why: 'the order was cancelled' }],
  ['Delivered', { type: 'Seller' }, { is: 'out', why: "a seller's part of another order" }],
])('an order that is %s %j asks nobody', (state, more, expected) => {
  expect(stateOf(order(state, [delivered, shipped], more), ['Delivered'])).toEqual(expected);
});

const login = { username: 'closeloop@example.com', password: 'p' };
const given = { address: 'https://shop.example.com/admin-api/', webhookSecrets: ['secret'] };

test('settings take a login or a key, and secrets where the plugin delivers', () => {
  expect(settings.parse({ ...given, ...login })).toMatchObject({ address: 'https://shop.example.com/admin-api' });
  const { address } = given;
  expect(settings.safeParse({ address, apiKey: 'k', plugin: 'notes' }).success).toBe(true);
  expect(settings.safeParse({ address, apiKey: 'k', plugin: 'none' }).success).toBe(true);
});

test.each([
  ['no credentials', given, 'username'],
  ['both kinds of credentials', { ...given, ...login, apiKey: 'k' }, 'username'],
  ['half a login', { ...given, username: 'u' }, 'username'],
  ['no secret', { address: given.address, ...login }, 'webhookSecrets'],
  ['a secret without deliveries', { ...given, ...login, plugin: 'none' }, 'webhookSecrets'],
  ['an address that is not encrypted', { ...given, ...login, address: 'http://shop.example.com' }, 'address'],
  ['a field that is no name', { ...given, ...login, writeBack: { grade: 'a } x {' } }, 'writeBack'],
])('settings with %s are refused', (_, value, at) => {
  const { error } = settings.safeParse(value);
  expect(error?.issues.map(({ path }) => path[0])).toEqual([at]);
});
