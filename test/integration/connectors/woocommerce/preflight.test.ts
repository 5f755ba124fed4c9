import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Finding, PreflightContext } from '../../../../core/connector/contract.ts';
import { allOn, openShop, type Shop } from '../../../support/connectors/woocommerce/shop.ts';

/** Another address than the stand-in's own, as WordPress wouldn't deliver to that. */
const site = 'https://laden.example.com';
const hookUrl = 'https://closeloop.example/hooks/shop';
const about: PreflightContext = { hookUrl, grades: [1, 2, 3, 4, 5], reads: [], answersWithinMs: 86_400_000 };

let shop: Shop;
beforeEach(async () => {
  shop = await openShop({ writeBack: allOn });
  for (const topic of ['order.updated', 'order.deleted']) {
    shop.standin.addWebhook({ name: `closeloop ${topic}`, topic, url: hookUrl, secret: 'x' });
  }
});
afterEach(() => shop.close());

/** A source that takes the shop for one on the internet. */
function live(settings: object = {}) {
  const fetch: typeof globalThis.fetch = (input, init) =>
    globalThis.fetch(String(input).replace(/^https:\/\/[\w.]+/, shop.url), init);
  return shop.open({ site, ...settings }, { fetch }).source;
}

async function check(settings: object = {}, more: Partial<PreflightContext> = {}): Promise<Finding[]> {
  return (await live(settings).check?.({ ...about, ...more })) ?? expect.fail('there is no check');
}

const updated = () => shop.standin.webhooks()[0]?.id ?? 0;
const deleted = () => shop.standin.webhooks()[1]?.id ?? 0;
const { consumerKey: key, consumerSecret: secret } = { consumerKey: 'ck_standin', consumerSecret: 'cs_standin' };

interface Planted {
  name: string;
  plant?: () => unknown;
  settings?: object;
  about?: Partial<PreflightContext>;
  wanted: [level: string, at: string, problem: RegExp, remedy?: RegExp];
}

const planted: Planted[] = [
  {
    name: 'a wrong secret of the key',
    settings: { consumerSecret: 'cs_wrong' },
    wanted: ['error', 'consumerKey', /REST key is wrong/, /Read\/Write/],
  },
  {
    name: 'a read-only key',
    plant: () => shop.standin.addKey({ key, secret, rights: 'read' }),
    wanted: ['error', 'consumerKey', /lacks a right/, /Read\/Write/],
  },
  {
    name: 'a write-only key',
    plant: () => shop.standin.addKey({ key, secret, rights: 'write' }),
    wanted: ['error', 'consumerKey', /lacks a right/],
  },
  {
    name: 'a key of a user who may not edit orders',
    plant: () => shop.standin.addKey({ key, secret, mayEditOrders: false }),
    wanted: ['error', 'consumerKey', /may not see or edit/, /Shop manager/],
  },
  {
    name: 'a host that drops the key',
    plant: () => shop.standin.changeSettings({ dropsAuthorization: true }),
    wanted: ['error', 'consumerKey', /did not arrive/, /auth: query/],
  },
  {
    name: 'WooCommerce switched off',
    plant: () => shop.standin.changeSettings({ rest: false }),
    wanted: ['error', 'site', /API does not/, /activate/],
  },
  {
    name: 'plain permalinks',
    plant: () => shop.standin.changeSettings({ permalinks: false }),
    wanted: ['error', 'site', /no REST API/, /restRoute: true/],
  },
  {
    name: 'a redirect to www',
    plant: () => shop.standin.changeSettings({ redirectTo: 'https://www.laden.example.com/' }),
    wanted: ['error', 'site', /redirects.*www\.laden/, /set `site`/],
  },
  {
    name: 'a firewall',
    plant: () => shop.standin.faults.add({ status: 403, headers: { 'content-type': 'text/html' }, body: '<html>' }),
    wanted: ['error', 'site', /firewall/, /let this machine/],
  },
  {
    name: 'nobody there',
    settings: { site: 'http://127.0.0.1:1' },
    wanted: ['error', 'site', /no connection/, /check `site`/],
  },
  {
    name: 'no webhook',
    plant: () => shop.standin.removeWebhooks(),
    wanted: ['error', 'webhook', /topic order\.updated.* is missing/, /setup/],
  },
  {
    name: 'a webhook that the shop gave up',
    plant: () => shop.standin.changeWebhook({ id: updated(), status: 'disabled' }),
    wanted: ['error', 'webhook', /disabled, which the shop does after failures/, /setup/],
  },
  {
    name: 'a paused webhook',
    plant: () => shop.standin.changeWebhook({ id: updated(), status: 'paused' }),
    wanted: ['error', 'webhook', /is paused/],
  },
  {
    name: 'webhooks that deliver elsewhere',
    plant: () =>
      shop.standin
        .webhooks()
        .map(({ id }) => shop.standin.changeWebhook({ id, url: 'https://old.example/hooks/shop' })),
    wanted: ['error', 'webhook', /to https:.* is missing/],
  },
  {
    name: 'a webhook of the wrong topic',
    plant: () => shop.standin.changeWebhook({ id: updated(), topic: 'order.created' }),
    wanted: ['error', 'webhook', /topic order\.updated.* is missing/],
  },
  {
    name: 'no webhook for deleted orders',
    plant: () => shop.standin.changeWebhook({ id: deleted(), topic: 'order.created' }),
    wanted: ['warning', 'webhook', /order\.deleted/],
  },
  {
    name: 'a status that no plugin registers',
    settings: { statuses: ['completed', 'delivered'] },
    wanted: ['error', 'statuses.1', /no status "delivered"/, /order list/],
  },
  {
    name: 'a port that WordPress does not deliver to',
    about: { hookUrl: 'https://closeloop.example:8443/hooks/shop' },
    wanted: ['error', 'http.publicUrl', /not to 8443/],
  },
  {
    name: 'an address in the local network',
    about: { hookUrl: 'http://192.168.1.7/hooks/shop' },
    wanted: ['error', 'http.publicUrl', /private/],
  },
  {
    name: 'a name of the local network',
    about: { hookUrl: 'https://closeloop/hooks/shop' },
    wanted: ['error', 'http.publicUrl', /private/],
  },
  {
    name: 'a receiver without encryption',
    about: { hookUrl: 'http://closeloop.example/hooks/shop' },
    wanted: ['error', 'http.publicUrl', /not https/],
  },
  {
    name: 'an encoded secret',
    settings: { webhookSecrets: ['Tom &amp; Jerry and friends'] },
    wanted: ['error', 'webhookSecrets.0', /HTML entity/],
  },
  {
    name: 'a secret with signs that WordPress may change',
    settings: { webhookSecrets: ['wc-test-secret-ABC', 'Tom & Jerry and friends'] },
    wanted: ['warning', 'webhookSecrets.1', /another form/],
  },
  {
    name: 'a secret short enough to guess',
    settings: { webhookSecrets: ['abc'] },
    wanted: ['warning', 'webhookSecrets.0', /guessed/],
  },
  {
    name: 'clocks that differ',
    plant: () =>
      shop.standin.faults.add({
        status: 200,
        times: 1,
        headers: { date: 'Fri, 20 Nov 2026 13:30:00 GMT', 'content-type': 'application/json' },
        body: '[]',
      }),
    wanted: ['warning', 'site', /differ by 90 minutes/],
  },
  { name: 'nowhere to write an answer', settings: { writeBack: {} }, wanted: ['warning', 'writeBack', /no answer/] },
  {
    name: 'a name that no order has',
    about: { reads: [{ at: 'rules.0.fields.Total', path: ['order', 'totl'] }] },
    wanted: ['warning', 'rules.0.fields.Total', /order has no totl/, /total/],
  },
  {
    name: 'a record that no order has',
    about: { reads: [{ at: 'rules.0.when', path: ['ticket', 'status'] }] },
    wanted: ['warning', 'rules.0.when', /no ticket/, /order, items, customer, shipping/],
  },
];

describe('check', () => {
  test('it finds nothing where all is well, and changes nothing', async () => {
    shop.standin.addStatus('delivered');
    const reads = [
      { at: 'a', path: ['order', 'meta', 'x'] },
      { at: 'b', path: ['customer', 'phone'] },
      { at: 'c', path: ['items'] },
    ];
    expect(await check({ statuses: ['completed', 'delivered'] }, { reads })).toEqual([]);
    expect(shop.standin.callCounts()).toEqual({
      'GET /wp-json/wc/v3/orders': 2,
      'POST /wp-json/wc/v3/orders/batch': 1,
      'GET /wp-json/wc/v3/webhooks': 1,
    });
  });

  test.each(planted)('it finds, alone and with the remedy, $name', async ({ plant, settings, about: more, wanted }) => {
    plant?.();
    // A webhook for every address, so that nothing but the address is wrong.
    const url = more?.hookUrl;
    if (url !== undefined) for (const { id } of shop.standin.webhooks()) shop.standin.changeWebhook({ id, url });
    const [level, at, problem, remedy = /./] = wanted;
    const findings = await check(settings, more);
    expect(findings).toContainEqual({
      level,
      at,
      problem: expect.stringMatching(problem),
      remedy: expect.stringMatching(remedy),
    });
    expect(findings.filter((finding) => finding.at !== at)).toEqual([]);
  });

  test('it takes a webhook of an action for enough where that tells every closing', async () => {
    shop.standin.changeWebhook({ id: updated(), topic: 'action.woocommerce_order_status_completed' });
    expect(await check()).toEqual([]);
  });

  test('it says when it is not known where the shop has to deliver', async () => {
    const { hookUrl: _, ...nowhere } = about;
    expect(await live().check?.(nowhere)).toMatchObject([{ level: 'warning', at: 'http.publicUrl' }]);
  });

  test('it leaves the shape of the address to a stand-in on this machine', async () => {
    const local = 'http://127.0.0.1:9000/hooks/shop';
    for (const { id } of shop.standin.webhooks()) shop.standin.changeWebhook({ id, url: local });
    expect(await shop.source.check?.({ ...about, hookUrl: local })).toEqual([]);
  });
});

describe('setup', () => {
  const steps = async () => (await live().setup?.(about)) ?? expect.fail('there is no setup');

  test('it has nothing to do where the webhooks are', async () => expect(await steps()).toEqual([]));

  test('it makes the webhooks with our secret, once', async () => {
    shop.standin.removeWebhooks();
    const todo = await steps();
    expect(todo.map(({ what }) => what)).toEqual([
      `create the webhook of the topic order.updated to ${hookUrl}`,
      `create the webhook of the topic order.deleted to ${hookUrl}`,
    ]);
    // Twice, as after an answer that was lost.
    for (const step of [...todo, ...todo]) expect(await step.apply()).toEqual({});
    expect(shop.standin.webhooks()).toMatchObject([
      {
        name: 'closeloop order.updated',
        topic: 'order.updated',
        deliveryUrl: hookUrl,
        status: 'active',
        secret: 'wc-test-secret-ABCdef0123456789',
      },
      { name: 'closeloop order.deleted', topic: 'order.deleted', deliveryUrl: hookUrl, status: 'active' },
    ]);
    expect(shop.standin.webhooks()).toHaveLength(2);
    expect(await steps()).toEqual([]);
    expect(await check()).toEqual([]);
  });

  test('it switches a webhook on again, with our secret', async () => {
    shop.standin.changeWebhook({ id: updated(), status: 'disabled' });
    for (const step of await steps()) await step.apply();
    expect(shop.standin.webhooks()[0]).toMatchObject({ status: 'active', secret: 'wc-test-secret-ABCdef0123456789' });
    expect(shop.standin.webhooks()).toHaveLength(2);
  });

  test('it leaves alone a webhook that somebody made meanwhile', async () => {
    shop.standin.removeWebhooks();
    const todo = await steps();
    shop.standin.addWebhook({ topic: 'order.updated', url: hookUrl, secret: 'theirs' });
    for (const step of todo) await step.apply();
    expect(shop.standin.webhooks().map(({ topic, secret }) => [topic, secret])).toEqual([
      ['order.updated', 'theirs'],
      ['order.deleted', 'wc-test-secret-ABCdef0123456789'],
    ]);
  });

  test("it leaves another installation's webhooks alone", async () => {
    for (const { id } of shop.standin.webhooks())
      shop.standin.changeWebhook({ id, url: 'https://staging.example/hooks/shop' });
    for (const step of await steps()) await step.apply();
    expect(shop.standin.webhooks().map(({ deliveryUrl }) => deliveryUrl)).toEqual([
      'https://staging.example/hooks/shop',
      'https://staging.example/hooks/shop',
      hookUrl,
      hookUrl,
    ]);
  });

  test('it needs to know where the shop has to deliver', async () => {
    const { hookUrl: _, ...nowhere } = about;
    await expect(live().setup?.(nowhere)).rejects.toMatchObject({ advice: { kind: 'config' } });
  });
});
