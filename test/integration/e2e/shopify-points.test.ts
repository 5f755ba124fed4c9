import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { type FeedbackStandin, startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import type { StandinServer } from '../../../standins/kit/server.ts';
import { type ShopifyStandin, startShopifyStandin } from '../../../standins/shopify/standin.ts';
import type { App } from '../../../worker/cli/app.ts';
import type { VendorTime } from '../../../worker/pipeline/engine-options.ts';
import { until } from '../../support/loop.ts';
import { useRedis } from '../../support/redis.ts';
import { runHere } from '../../support/run-here.ts';

const redis = useRedis();
const orders = 1_000;

/**
 * Time that passes only while somebody waits for points, and never while a call to the shop is under way: what a busy machine does
 * slowly takes none of it. The shop's points come back by it.
 */
function waitingTime(account: string): VendorTime {
  let ms = Date.now();
  return {
    now: () => new Date(ms),
    sleep: async (wait) => {
      do await sleep(1);
      while ((await redis.handle.client.zcard(`{cl:${account}}:budget:under-way`)) > 0);
      ms += wait;
    },
  };
}

let open: {
  app: App;
  service: StandinServer & { standin: FeedbackStandin };
  shop: StandinServer & { standin: ShopifyStandin };
};
afterEach(async () => {
  await open.app.close();
  await open.shop.close();
  await open.service.close();
});

test.each([50, 100, 1_000])(
  'it asks about 1,000 orders as fast as %i points a second allow',
  async (restoreRate) => {
    const time = waitingTime(`shopify:plan-${restoreRate}.myshopify.com`);
    const [service, shop] = await Promise.all([
      startFeedbackStandin({ seed: true }),
      startShopifyStandin({ now: time.now }),
    ]);
    const { standin } = shop;
    standin.changeSettings({ maximumAvailable: 20 * restoreRate, restoreRate });
    const name = `plan-${restoreRate}`;
    const text = `
feedback: { baseUrl: "${service.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
policy: { sms: { from: "00:00", until: "24:00" } }
http: { port: 0 }
collect: { every: 1h }
poll: { every: 1h }
sources:
  ${name}:
    connector: shopify
    shop: plan-${restoreRate}.myshopify.com
    baseUrl: ${shop.url}
    accessToken: shpat_shopify-token
    webhookSecrets: [shopify-client-secret]
    trigger: fulfilled
    rules: [{ name: all, campaign: 12, contact: contact.email, fields: { Agent: order.source } }]`;
    const ids = Array.from({ length: orders }, (_, i) => {
      const customerId = standin.addCustomer({ email: `account-${i}@example.com` }).id;
      return standin.addOrder({ customerId, email: `customer-${i}@example.com` }).id;
    });
    for (const id of ids) await standin.fulfil({ id });
    const { app, told, contextOf } = await runHere(redis, text, { vendorTime: time });
    open = { app, service, shop };
    const { store, source } = contextOf(name);
    standin.drainPoints();
    const begun = time.now().getTime();
    const at = new Date();
    await app.engine.ingestion.store(
      name,
      ids.map((recordId) => ({ kind: 'closed', recordId, at, key: recordId, what: 'fulfilled' })),
      at,
    );
    await until(async () => (await store.lists.counts()).asked === orders);
    const seconds = (time.now().getTime() - begun) / 1_000;
    const { spent, refused } = standin.points();
    const calls = standin.totalCalls();
    // What can't be saved: every order is read whole once, and its state once more before its customer is asked.
    standin.changeSettings({ maximumAvailable: 20_000, restoreRate: 20_000 });
    await source.read(ids.slice(0, 100));
    await source.read(ids.slice(0, 100));
    const allowed = ((standin.points().spent - spent) * (orders / 100)) / restoreRate;
    const took = `${Math.round(seconds)} s, where the points allow ${Math.round(allowed)} s`;
    process.stdout.write(`${restoreRate} points a second: ${took}; ${calls} calls, ${refused} of them throttled\n`);
    expect(seconds).toBeLessThanOrEqual(1.3 * allowed);
    // The first read goes out alone, and those behind it before its answer tells what the bucket holds.
    expect(refused).toBeLessThanOrEqual(2);
    expect(told.filter(({ level }) => level === 'error')).toEqual([]);
  },
  600_000,
);
