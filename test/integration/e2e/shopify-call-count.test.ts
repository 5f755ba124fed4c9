import { expect, test } from 'vitest';
import { connectors } from '../../../connectors/index.ts';
import { startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import { startShopifyStandin } from '../../../standins/shopify/standin.ts';
import { run } from '../../../worker/cli/app.ts';
import { loadConfig } from '../../../worker/config/config.ts';
import { liveClock } from '../../../worker/pipeline/clock.ts';
import { memoryLog, until } from '../../support/loop.ts';
import { useRedis } from '../../support/redis.ts';

const redis = useRedis();

test('it needs at most 120 calls for 1,000 orders delivered together, reads and write-backs', async () => {
  const closings = 1_000;
  const [service, other] = await Promise.all([startFeedbackStandin({ seed: true }), startShopifyStandin()]);
  const { standin } = other;
  // A large shop: the points of a small one would stretch the same calls over two minutes.
  standin.changeSettings({ maximumAvailable: 40_000, restoreRate: 2_000 });
  const { handle } = redis;
  const text = `
feedback: { baseUrl: "${service.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
http: { port: 0 }
collect: { every: 1h }
poll: { every: 1h }
sources:
  shopify-thousand:
    connector: shopify
    shop: acme.myshopify.com
    baseUrl: ${other.url}
    accessToken: shpat_shopify-token
    webhookSecrets: [shopify-client-secret]
    rules: [{ name: all, campaign: 12, contact: contact.email, fields: { Agent: order.source } }]
    writeBack: { grade: feedback_grade, comment: feedback_comment, answeredAt: feedback_at, status: feedback_status, tags: true }`;
  const ids = Array.from({ length: closings }, (_, i) => {
    const customerId = standin.addCustomer({ email: `account-${i}@example.com` }).id;
    return standin.addOrder({ customerId, email: `customer-${i}@example.com` }).id;
  });
  for (const id of ids) await standin.fulfil({ id });
  const { log, told } = memoryLog();
  const runtime = {
    config: loadConfig(text, { env: {}, connectors }),
    handle,
    redis: handle.client,
    close: async () => undefined,
  };
  const loop = await run(runtime, { role: 'all', clock: liveClock, log });
  const journeys = loop.engine.pipelines.get('shopify-thousand')?.context.store ?? expect.fail('no pipeline');
  standin.addSubscription({ topic: 'FULFILLMENTS_UPDATE', uri: `${loop.url}/hooks/shopify-thousand` });
  // A delivery that a busy machine answers late comes again soon, but not eight times in a moment: then the webhook is removed.
  standin.changeSender({ concurrency: 50, pauseScale: 0.01 });
  await Promise.all(ids.map((id) => standin.deliver(id)));
  await until(async () => (await journeys.queries.counts()).asked === closings);
  for (const { id } of service.standin.requests()) service.standin.answer({ request: id, grade: 4 });
  await loop.engine.collecting.now();
  await until(async () => (await journeys.queries.counts()).written === closings);
  await standin.idle();
  const calls = standin.totalCalls();
  process.stdout.write(`Shopify, ${closings} closings: ${calls} calls ${JSON.stringify(standin.callCounts())}\n`);
  // On a starved machine Redis may answer late: the vendor is told to come again, and does.
  const errors = told.filter(({ level, message }) => level === 'error' && !message.startsWith('delivery not stored'));
  expect(errors).toEqual([]);
  expect(standin.order(ids[0] ?? '').metafields).toMatchObject({ '$app.feedback_grade': '4' });
  expect(calls).toBeLessThanOrEqual(120);
  await loop.close();
  await other.close();
  await service.close();
}, 180_000);
