import { describe, expect, test } from 'vitest';
import { shopify } from '../../../../connectors/shopify/shopify.ts';
import type { PreflightContext } from '../../../../core/connector/contract.ts';
import { given, openShop, testPorts, topics } from '../../../support/connectors/shopify/fixture.ts';
import { plants, shopifySample } from '../../../support/connectors/shopify/sample.ts';

const hookUrl = 'https://closeloop.example/hooks/shop';
const subscription = (topic: string, more: object = {}) => ({
  id: `gid://shopify/WebhookSubscription/${topic}`,
  topic,
  uri: hookUrl,
  format: 'JSON',
  filter: null,
  includeFields: [],
  ...more,
});
const definition = (key: string, name: string, validations: { name: string; value: string }[] = []) => ({
  ...{ key, type: { name }, validations },
});

interface Inventory {
  scopes: string[];
  webhookVersion: string;
  shop: string;
  subscriptions: { topic: string }[];
  definitions: object[];
}

/** A shop in which all is well. */
const inventory = (more: Partial<Inventory> = {}): Inventory => ({
  scopes: ['write_orders', 'read_customers', 'read_fulfillments', 'read_locations'],
  webhookVersion: '2026-10',
  shop: 'nordlicht-demo.myshopify.com',
  subscriptions: topics.map((topic) => subscription(topic)),
  definitions: [definition('grade', 'number_integer'), definition('words', 'multi_line_text_field')],
  ...more,
});
const about = (more: Partial<PreflightContext> = {}): PreflightContext => ({
  hookUrl,
  grades: [1, 5],
  reads: [
    { at: 'when', path: ['order', 'branch', 'name'] },
    { at: 'when', path: ['order', 'attributes', 'anything'] },
    { at: 'contact', path: ['contact', 'phones'] },
  ],
  answersWithinMs: 14 * 86_400_000,
  ...more,
});
const writeBack = { grade: 'grade', comment: 'words' };
async function found(more: Partial<Inventory>, settings: object = {}, going: Partial<PreflightContext> = {}) {
  const context = about(going);
  if (context.hookUrl === '') delete context.hookUrl;
  const { scopes, webhookVersion, shop, subscriptions, definitions } = inventory(more);
  const data = {
    currentAppInstallation: {
      accessScopes: scopes.map((handle) => ({ handle })),
      app: { webhookApiVersion: webhookVersion },
    },
    shop: { myshopifyDomain: shop },
    webhookSubscriptions: { nodes: subscriptions },
    metafieldDefinitions: { nodes: definitions },
  };
  const { ports } = testPorts({ fetch: async () => Response.json({ data }) });
  const source = shopify.open({ ...given, writeBack, ...settings }, ports);
  const findings = (await source.check?.(context)) ?? expect.fail('no check');
  return findings.map(({ level, at, problem }) => `${level} ${at}: ${problem}`);
}
const instead = (topic: string, more: object) =>
  inventory().subscriptions.map((one) => (one.topic === topic ? subscription(topic, more) : one));
const defined = (...validations: { name: string; value: string }[]) => [
  definition('grade', 'number_integer', validations),
  definition('words', 'multi_line_text_field'),
];

describe('check', () => {
  test('it finds nothing where all is well', async () => expect(await found({})).toEqual([]));

  const changed = (topic: string, more: object) => ({ shop: { subscriptions: instead(topic, more) } });
  const valued = (name: string, value: string) => ({ shop: { definitions: defined({ name, value }) } });
  const only = (key: string, type: string, name: string, value: string) => ({
    definitions: [definition(key, type, [{ name, value }])],
  });
  const writes = (what: object) => ({ settings: { writeBack: what } });
  const reads = (...path: string[]) => ({ going: { reads: [{ at: 'rules[0].when', path }] } });
  interface Wrong {
    shop?: Partial<Inventory>;
    settings?: object;
    going?: Partial<PreflightContext>;
  }
  test.each<[what: string, expected: RegExp, wrong: Wrong]>([
    [
      'a right to read only',
      /^error scopes: the app lacks write_orders/,
      { shop: { scopes: ['read_orders', 'read_customers', 'read_fulfillments', 'read_locations'] } },
    ],
    ['another shop', /^error shop: .*another shop/, { shop: { shop: 'other.myshopify.com' } }],
    ['late answers', /^warning scopes: .*64 days/, { settings: { deliveredWithin: '50d' } }],
    [
      'no address',
      /^error http.publicUrl: is not https/,
      { going: { hookUrl: 'http://closeloop.example/hooks/shop' } },
    ],
    ['the webhook of a trigger', /^error webhook: the webhook FULFILLMENTS_CREATE/, { settings: { parcels: 'first' } }],
    ['the webhook of payment', /^error webhook: the webhook ORDERS_PAID/, { settings: { trigger: 'paid' } }],
    ['another address', /to another address only/, changed('ORDERS_FULFILLED', { uri: 'https://old.example' })],
    ['fields without the order', /leaves out order_id/, changed('FULFILLMENTS_UPDATE', { includeFields: ['id'] })],
    [
      'no definition',
      /^error writeBack.grade: orders \(namespace \$app\) have no metafield "stars"/,
      writes({ grade: 'stars' }),
    ],
    ['another type', /^error writeBack.grade: .*is of type multi_line_text_field/, writes({ grade: 'words' })],
    ['a grade too low', /does not take 1/, valued('min', '2')],
    [
      'a short text',
      /only short texts/,
      { shop: only('words', 'multi_line_text_field', 'max', '50'), ...writes({ comment: 'words' }) },
    ],
    [
      'a pattern',
      /one pattern/,
      { shop: only('words', 'multi_line_text_field', 'regex', 'x'), ...writes({ comment: 'words' }) },
    ],
    [
      'choices',
      /does not take answered, no answer/,
      { shop: only('done', 'single_line_text_field', 'choices', '["yes"]'), ...writes({ status: 'done' }) },
    ],
    ['a survey question without a definition', /^error writeBack.answers.q1/, writes({ answers: { q1: 'speed' } })],
    ['a slip of the pen', /^warning rules\[0\].when: a Shopify record has no ordre/, reads('ordre')],
    ['another one', /order has no total_price/, reads('order', 'total_price')],
    ['a metafield that is not read', /custom.branch is not read/, reads('order', 'metafields', 'custom.branch')],
  ])('it finds %s', async (_what, expected, { shop = {}, settings, going }) => {
    const findings = await found(shop, settings, going);
    expect(findings.filter((one) => expected.test(one))).toHaveLength(1);
  });

  test('it warns where it does not know the address, or that parcels are not read', async () => {
    const reads = [{ at: 'when', path: ['fulfillments', 'status'] }];
    const findings = await found({}, { trigger: 'paid' }, { hookUrl: '', reads });
    expect(findings.map((one) => one.split(':')[0])).toEqual(['warning http.publicUrl', 'warning when']);
  });

  test('it leaves webhooks alone that the API does not show', async () => {
    expect(await found({ subscriptions: [] }, { webhooks: false })).toEqual([]);
  });

  test('it has at least ten ways to be wrong planted at the stand-in, by the contract', () => {
    expect(shopifySample.planted).toEqual(Object.keys(plants));
    expect(Object.keys(plants).length).toBeGreaterThanOrEqual(10);
  });
});

describe('setup', () => {
  test('it says what it would do, does it, and has nothing left to do', async () => {
    const shop = await openShop({ writeBack: { grade: 'feedback_grade', status: 'state', tags: true } });
    const going = about();
    const steps = (await shop.source.setup?.(going)) ?? [];
    expect(steps.map(({ what }) => what)).toEqual([
      'create the metafield "feedback_grade" of orders (namespace $app) (number_integer)',
      'create the metafield "state" of orders (namespace $app) (single_line_text_field)',
      ...inventory().subscriptions.map(({ topic }) => `create the webhook ${topic} to ${hookUrl}`),
    ]);
    expect(shop.standin.callCounts()).toEqual({ 'POST graphql Definitions': 1, 'POST graphql Subscriptions': 1 });
    const notes: string[] = [];
    for (const step of steps) notes.push((await step.apply()).note ?? '');
    expect(notes.filter((note) => note.includes('compliance'))).toHaveLength(1);
    // Once more, as after a failure in the middle: nothing doubles.
    for (const step of steps) await step.apply();
    expect(shop.standin.subscriptions()).toHaveLength(6);
    expect(shop.standin.definitions()).toHaveLength(2);
    expect(shop.standin.definitions()[0]).toMatchObject({ access: 'MERCHANT_READ', type: 'number_integer' });
    expect(await shop.source.setup?.(going)).toEqual([]);
    expect(await shop.source.check?.(going)).toEqual([]);
    await shop.close();
  });

  test('it makes a webhook anew that could not be read', async () => {
    const shop = await openShop({ trigger: 'paid' });
    for (const topic of ['ORDERS_CANCELLED', 'REFUNDS_CREATE', 'APP_UNINSTALLED', 'APP_SCOPES_UPDATE']) {
      shop.standin.addSubscription({ topic, uri: hookUrl });
    }
    shop.standin.addSubscription({ topic: 'ORDERS_PAID', uri: hookUrl, format: 'XML' });
    const steps = (await shop.source.setup?.(about())) ?? [];
    expect(steps.map(({ what }) => what)).toEqual([`correct the webhook ORDERS_PAID to ${hookUrl}`]);
    for (const step of steps) await step.apply();
    expect(shop.standin.subscriptions().find(({ topic }) => topic === 'ORDERS_PAID')).toMatchObject({ format: 'JSON' });
    await shop.close();
  });

  test("it writes into a merchant's namespace without claiming access to it", async () => {
    const shop = await openShop({ webhooks: false, writeBack: { namespace: 'custom', grade: 'stars' } });
    for (const step of (await shop.source.setup?.(about())) ?? []) await step.apply();
    expect(shop.standin.definitions()).toMatchObject([{ namespace: 'custom', key: 'stars', access: null }]);
    await shop.close();
  });

  test('it says what is wrong with an address that Shopify refuses', async () => {
    const shop = await openShop();
    const steps = (await shop.source.setup?.(about({ hookUrl: 'http://closeloop.example/hooks/shop' }))) ?? [];
    await expect(steps[0]?.apply()).rejects.toMatchObject({
      advice: { kind: 'config' },
      message: /ORDERS_FULFILLED.*https/,
    });
    await shop.close();
  });
});
