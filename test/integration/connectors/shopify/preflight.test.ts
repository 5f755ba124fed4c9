import { describe, expect, test } from 'vitest';
import { findingsIn } from '../../../../connectors/shopify/check.ts';
import type { Inventory } from '../../../../connectors/shopify/inventory.ts';
import type { PreflightContext } from '../../../../core/connector/contract.ts';
import { openShop, settingsOf, topics } from '../../../support/connectors/shopify/fixture.ts';
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
const definition = (key: string, name: string, validations: { name: string; value: string }[] = []) =>
  [key, { key, type: { name }, validations }] as const;

/** A shop in which all is well. */
const inventory = (more: Partial<Inventory> = {}): Inventory => ({
  scopes: ['write_orders', 'read_customers', 'read_fulfillments', 'read_locations'],
  webhookVersion: '2026-10',
  shop: 'nordlicht-demo.myshopify.com',
  subscriptions: topics.map((topic) => subscription(topic)),
  definitions: new Map([definition('grade', 'number_integer'), definition('words', 'multi_line_text_field')]),
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
const found = (more: Partial<Inventory>, settings: object = {}, going: Partial<PreflightContext> = {}): string[] =>
  findingsIn(inventory(more), settingsOf({ writeBack, ...settings }), about(going)).map(
    ({ level, at, problem }) => `${level} ${at}: ${problem}`,
  );
const instead = (topic: string, more: object) =>
  inventory().subscriptions.map((one) => (one.topic === topic ? subscription(topic, more) : one));
const defined = (...validations: { name: string; value: string }[]) =>
  new Map([definition('grade', 'number_integer', validations), definition('words', 'multi_line_text_field')]);

describe('check', () => {
  test('it finds nothing where all is well', () => expect(found({})).toEqual([]));

  test.each<
    [what: string, more: Partial<Inventory>, settings: object, going: Partial<PreflightContext>, expected: RegExp]
  >([
    [
      'a missing right',
      { scopes: ['write_orders', 'read_customers', 'read_locations'] },
      {},
      {},
      /^error scopes: the app lacks read_fulfillments/,
    ],
    [
      'a right to read only',
      { scopes: ['read_orders', 'read_customers', 'read_fulfillments', 'read_locations'] },
      {},
      {},
      /^error scopes: the app lacks write_orders/,
    ],
    ['another shop', { shop: 'other.myshopify.com' }, {}, {}, /^error shop: .*another shop/],
    ['another version', { webhookVersion: '2026-07' }, {}, {}, /^warning webhook version/],
    ['late answers', {}, { deliveredWithin: '50d' }, {}, /^warning scopes: .*64 days/],
    ['no address', {}, {}, { hookUrl: 'http://closeloop.example/hooks/shop' }, /^error http.publicUrl: is not https/],
    [
      'a removed webhook',
      { subscriptions: inventory().subscriptions.slice(1) },
      {},
      {},
      /^error webhook ORDERS_FULFILLED: it does not exist/,
    ],
    ['the webhook of a trigger', {}, { parcels: 'first' }, {}, /^error webhook FULFILLMENTS_CREATE/],
    ['the webhook of payment', {}, { trigger: 'paid' }, {}, /^error webhook ORDERS_PAID/],
    [
      'another address',
      { subscriptions: instead('ORDERS_FULFILLED', { uri: 'https://old.example' }) },
      {},
      {},
      /to another address only/,
    ],
    [
      'XML',
      { subscriptions: instead('ORDERS_FULFILLED', { format: 'XML' }) },
      {},
      {},
      /^error webhook ORDERS_FULFILLED: it delivers XML/,
    ],
    [
      'fields without the id',
      { subscriptions: instead('ORDERS_FULFILLED', { includeFields: ['name'] }) },
      {},
      {},
      /leaves out id/,
    ],
    [
      'fields without the order',
      { subscriptions: instead('FULFILLMENTS_UPDATE', { includeFields: ['id'] }) },
      {},
      {},
      /leaves out order_id/,
    ],
    [
      'a filter',
      { subscriptions: instead('FULFILLMENTS_UPDATE', { filter: 'shipment_status:delivered' }) },
      {},
      {},
      /^warning webhook FULFILLMENTS_UPDATE: a filter/,
    ],
    [
      'one twice',
      { subscriptions: [...inventory().subscriptions, subscription('ORDERS_CANCELLED')] },
      {},
      {},
      /^warning webhook ORDERS_CANCELLED: .*more than once/,
    ],
    [
      'one too many',
      { subscriptions: [...inventory().subscriptions, subscription('ORDERS_UPDATED')] },
      {},
      {},
      /^warning webhook ORDERS_UPDATED/,
    ],
    [
      'no definition',
      {},
      { writeBack: { grade: 'stars' } },
      {},
      /^error writeBack.grade: .*\$app.stars has no definition/,
    ],
    [
      'another type',
      {},
      { writeBack: { grade: 'words' } },
      {},
      /^error writeBack.grade: .*has the type multi_line_text_field/,
    ],
    ['a grade too high', { definitions: defined({ name: 'max', value: '4' }) }, {}, {}, /does not take the grades 5/],
    ['a grade too low', { definitions: defined({ name: 'min', value: '2' }) }, {}, {}, /does not take the grades 1/],
    [
      'a short text',
      { definitions: new Map([definition('words', 'multi_line_text_field', [{ name: 'max', value: '50' }])]) },
      { writeBack: { comment: 'words' } },
      {},
      /only short texts/,
    ],
    [
      'a pattern',
      { definitions: new Map([definition('words', 'multi_line_text_field', [{ name: 'regex', value: 'x' }])]) },
      { writeBack: { comment: 'words' } },
      {},
      /one pattern/,
    ],
    [
      'choices',
      { definitions: new Map([definition('done', 'single_line_text_field', [{ name: 'choices', value: '["yes"]' }])]) },
      { writeBack: { status: 'done' } },
      {},
      /does not offer "answered"/,
    ],
    [
      'a survey question without a definition',
      {},
      { writeBack: { answers: { q1: 'speed' } } },
      {},
      /^error writeBack.answers.q1/,
    ],
    [
      'a slip of the pen',
      {},
      {},
      { reads: [{ at: 'rules[0].when', path: ['ordre'] }] },
      /^warning rules\[0\].when: a Shopify record has no ordre/,
    ],
    [
      'another one',
      {},
      {},
      { reads: [{ at: 'rules[0].when', path: ['order', 'total_price'] }] },
      /order has no total_price/,
    ],
    [
      'a metafield that is not read',
      {},
      {},
      { reads: [{ at: 'rules[0].when', path: ['order', 'metafields', 'custom.branch'] }] },
      /custom.branch is not read/,
    ],
  ])('it finds %s', (_what, more, settings, going, expected) => {
    const findings = found(more, settings, going);
    expect(findings.filter((one) => expected.test(one))).toHaveLength(1);
  });

  test('it warns where it does not know the address, or that parcels are not read', () => {
    const { hookUrl: _, ...rest } = about();
    const settings = settingsOf({ writeBack, trigger: 'paid' });
    const reads = [{ at: 'when', path: ['fulfillments', 'status'] }];
    const findings = findingsIn(inventory(), settings, { ...rest, reads });
    expect(findings.map(({ level, at }) => `${level} ${at}`)).toEqual(['warning http.publicUrl', 'warning when']);
  });

  test('it leaves webhooks alone that the API does not show', () => {
    expect(found({ subscriptions: [] }, { webhooks: false })).toEqual([]);
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
      'define the order metafield $app.feedback_grade "Feedback grade" (number_integer)',
      'define the order metafield $app.state "Feedback status" (single_line_text_field)',
      ...inventory().subscriptions.map(({ topic }) => `create the webhook ${topic} to ${hookUrl}`),
    ]);
    expect(shop.standin.callCounts()).toEqual({ 'POST graphql Inventory': 1 });
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
    expect(steps.map(({ what }) => what)).toEqual([
      `make the webhook ORDERS_PAID to ${hookUrl} anew: it delivers XML, not JSON`,
    ]);
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
