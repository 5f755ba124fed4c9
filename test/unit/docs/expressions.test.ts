import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { shapeOf, shapes } from '../../../build/docs/record-reference.ts';
import type { FreshdeskShape } from '../../../connectors/freshdesk/record.ts';
import type { HubSpotShape } from '../../../connectors/hubspot/record.ts';
import type { IntercomShape } from '../../../connectors/intercom/record.ts';
import type { RequestTrackerShape } from '../../../connectors/request-tracker/record.ts';
import type { ShopifyShape } from '../../../connectors/shopify/record.ts';
import type { VendureShape } from '../../../connectors/vendure/record.ts';
import type { WooCommerceShape } from '../../../connectors/woocommerce/record.ts';
import type { ZendeskShape } from '../../../connectors/zendesk/record.ts';
import { evaluateAll, truth } from '../../../core/mapping/expression.ts';
import { compileExpression } from '../../../core/mapping/expression-compile.ts';

const thing = (id: string, name: string) => ({ id, name });
const zendesk: ZendeskShape = {
  ticket: {
    id: '41960',
    subject: 'Washing machine leaks',
    status: 'solved',
    customStatus: thing('5005', 'Solved'),
    priority: undefined,
    type: 'problem',
    channel: 'email',
    brand: thing('3001', 'Acme'),
    form: thing('4001', 'Default'),
    tags: ['vip', 'returns'],
    fields: { store: 'Tartu', 360001: 'Tartu', product: 'product_washing_machine' },
    labels: { product: 'Washing machine' },
    createdAt: '2026-11-21T08:00:00.000Z',
    replies: 2,
    solvedAt: '2026-11-21T13:00:00.000Z',
    group: thing('2001', 'Phone'),
    organization: undefined,
  },
  requester: {
    id: '71',
    name: 'Carl',
    email: 'carl@example.com',
    phone: '+372 5551 2345',
    locale: 'et',
    timeZone: 'Europe/Tallinn',
    fields: { feedback_email: 'carl@example.com' },
  },
  assignee: { id: '9001', name: 'Anna Saar', email: 'anna@example.com' },
};
const hubspot: HubSpotShape = {
  ticket: {
    id: '41960',
    pipeline: { id: '0', label: 'Support' },
    stage: { id: '4', label: 'Closed' },
    createdAt: '2026-11-20T08:00:00.000Z',
    closedAt: '2026-11-21T13:00:00.000Z',
    properties: { store: 'Tartu' },
    subject: 'Leak',
    priority: 'HIGH',
    category: null,
  },
  contact: {
    id: '501',
    email: 'carl@example.com',
    phone: null,
    mobilePhone: '+372 5551 2345',
    firstName: 'Carl',
    lastName: null,
    language: 'et',
    timeZone: null,
    country: null,
    region: null,
    properties: {},
  },
  owner: { id: '9', name: 'Anna Saar', email: 'anna@example.com' },
};
const intercom: IntercomShape = {
  conversation: {
    id: '41960',
    subject: 'Leak',
    channel: 'conversation',
    deliveredAs: 'customer_initiated',
    priority: 'not_priority',
    tags: [],
    createdAt: '2026-11-21T08:00:00.000Z',
    attributes: { 'Product line': 'Washing' },
    aiParticipated: false,
    aiResolution: '',
    rating: null,
  },
  ticket: { isTicket: false, type: '', category: '', state: '', attributes: {} },
  agent: { id: '9', name: 'Anna', email: 'anna@example.com' },
  team: thing('3', 'Support'),
  contact: {
    id: '5',
    externalId: '',
    role: 'user',
    name: 'Carl',
    email: 'carl@example.com',
    phone: '',
    country: 'Estonia',
    region: '',
    city: 'Tartu',
    language: 'et',
    attributes: {},
    unsubscribedFromEmails: false,
    unsubscribedFromSms: false,
    smsConsent: true,
  },
};
const item = { variant: undefined, vendor: undefined, giftCard: false, shipped: true };
const shopify: ShopifyShape = {
  order: {
    id: '41960',
    name: '#1042',
    source: 'web',
    tags: [],
    note: undefined,
    attributes: {},
    metafields: { 'custom.branch': 'Tartu' },
    discountCodes: [],
    total: '120.50',
    currency: 'EUR',
    financialStatus: 'PAID',
    fulfillmentStatus: 'FULFILLED',
    createdAt: '2026-11-20T08:00:00.000Z',
    branch: undefined,
    shippedFrom: thing('7', 'Tallinn'),
    country: 'EE',
    city: 'Tartu',
    items: [
      { ...item, title: 'Sofa', sku: 'SOFA-3', quantity: 1 },
      { ...item, title: 'Cushion', sku: 'CUSHION', quantity: 2 },
    ],
  },
  fulfillments: [],
  contact: { email: 'carl@example.com', phones: ['+37255512345'] },
  customer: undefined,
};
const freshdesk: FreshdeskShape = {
  ticket: {
    id: '4711',
    subject: 'Where is my parcel?',
    status: 4,
    priority: 2,
    type: 'Question',
    source: 1,
    tags: ['vip'],
    createdAt: '2026-11-19T08:00:12.000Z',
    fields: { cf_order_no: 'A-1009' },
  },
  requester: { id: '48014600101', name: 'Mara Ott', email: 'mara@example.com', phone: '+49305550101', mobile: '' },
  agent: { id: '48014600900', name: 'Ann Agent' },
  group: { id: '48000200011', name: 'Support' },
};
const address = { firstName: 'Carl', lastName: '', company: '', city: 'Tartu', state: '', postcode: '', country: 'EE' };
const woocommerce: WooCommerceShape = {
  order: {
    id: '41960',
    number: '1042',
    status: 'completed',
    currency: 'EUR',
    total: 44.6,
    refunded: 0,
    createdVia: 'checkout',
    paymentMethod: 'stripe',
    paymentMethodTitle: 'Card',
    shippingMethods: ['DHL'],
    coupons: ['autumn'],
    needsProcessing: true,
    createdAt: '2026-11-16T18:03:11.000Z',
    paidAt: '2026-11-16T18:03:14.000Z',
    completedAt: '2026-11-18T14:42:10.000Z',
    meta: { gift_wrap: 'yes' },
  },
  items: [],
  customer: { ...address, phone: '+37255512345', id: '5', email: 'Carl@example.com', language: 'et' },
  shipping: { ...address, phone: '' },
};
const vendure: VendureShape = {
  order: {
    id: '41960',
    code: 'DMT6QKWUQBZJFVDN',
    state: 'Delivered',
    currency: 'EUR',
    total: 44.6,
    placedAt: '2026-11-16T18:03:11.000Z',
    fields: { giftWrap: true },
  },
  items: [{ name: 'Sofa', sku: 'SOFA-3', quantity: 1 }],
  customer: {
    id: '5',
    firstName: 'Carl',
    lastName: '',
    email: 'carl@example.com',
    phone: '+37255512345',
    fields: { language: 'et' },
  },
  shipping: { name: 'Carl', city: 'Tartu', province: '', country: 'EE', phone: '' },
};
const requestTracker: RequestTrackerShape = {
  ticket: {
    id: '41960',
    subject: 'Printer',
    status: 'resolved',
    queue: { id: '3', name: 'Support' },
    createdAt: '2026-11-16T18:03:11Z',
    fields: { 'Store name': 'Tartu' },
  },
  requestor: { id: '35', name: 'Carl', email: 'carl@example.com', phone: '', language: 'et' },
  owner: { name: 'Bob', email: 'bob@example.net' },
};
const records = new Map<string, object>(
  Object.entries({
    zendesk,
    hubspot,
    intercom,
    shopify,
    woocommerce,
    vendure,
    freshdesk,
    'request-tracker': requestTracker,
  }),
);

const page = readFileSync(resolve(import.meta.dirname, '../../../docs/expressions.md'), 'utf8');
/** Section, vendor, expression, and what it finds. */
const rows = page
  .split(/^## /m)
  .flatMap((section) =>
    [...section.matchAll(/^\| ([\w-]+) \| [^|]+ \| (?:`` ((?:(?!``).)*) ``|`([^`]+)`) \| `([^`]+)` \|$/gm)].map(
      ([, vendor = '', long, short, found = '']) =>
        [section.split('\n')[0] ?? '', vendor, long ?? short ?? '', found] as const,
    ),
  );

test('the page has expressions of every vendor, and each of its rows is seen', () => {
  expect(new Set(rows.map(([, vendor]) => vendor))).toEqual(new Set(records.keys()));
  expect(rows).toHaveLength(page.match(/^\| (?!vendor|---)/gm)?.length ?? 0);
});

test.each(rows)('%s, %s: %s', async (section, vendor, source, expected) => {
  const expression = compileExpression(source);
  const found = (await evaluateAll([expression], records.get(vendor))).of(expression);
  expect(JSON.stringify(found.ok ? found.value : found.why)).toBe(expected);
  if (section === 'Conditions') expect(found.ok && truth(found.value)).toBe(true);
});

describe('the reference of records', () => {
  test.each(shapes)('$title: it names everything that a record holds', (one) => {
    const named = new Set(shapeOf(one).entries.map(({ path }) => path));
    const free = shapeOf(one).entries.flatMap(({ path, type }) => (/by name|anything/.test(type) ? [path] : []));
    const paths = pathsOf(records.get(one.connector), '');
    expect(paths.length).toBeGreaterThan(15);
    expect(paths.filter((path) => !named.has(path) && !free.some((group) => path.startsWith(`${group}.`)))).toEqual([]);
  });
});

function pathsOf(value: unknown, at: string): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => pathsOf(one, at));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = at === '' ? name : `${at}.${name}`;
    return [path, ...pathsOf(inner, path)];
  });
}
