import { expect, test } from 'vitest';
import { startShopifyStandin } from '../../../standins/shopify/standin.ts';
import { countCalls } from '../../support/call-count.ts';
import { useRedis } from '../../support/redis.ts';

const redis = useRedis();

test('it needs at most 120 calls for 1,000 orders delivered together, reads and write-backs', async () => {
  const closings = 1_000;
  const { standin, url, close } = await startShopifyStandin();
  // A large shop: the points of a small one would stretch the same calls over two minutes.
  standin.changeSettings({ maximumAvailable: 40_000, restoreRate: 2_000 });
  const ids = Array.from({ length: closings }, (_, i) => {
    const customerId = standin.addCustomer({ email: `account-${i}@example.com` }).id;
    return standin.addOrder({ customerId, email: `customer-${i}@example.com` }).id;
  });
  for (const id of ids) await standin.fulfil({ id });
  const { calls } = await countCalls(redis, {
    vendor: 'Shopify',
    settings: `
    connector: shopify
    shop: acme.myshopify.com
    baseUrl: ${url}
    accessToken: shpat_shopify-token
    webhookSecrets: [shopify-client-secret]
    rules: [{ name: all, campaign: 12, contact: contact.email, fields: { Agent: order.source } }]
    writeBack: { grade: feedback_grade, comment: feedback_comment, answeredAt: feedback_at, status: feedback_status, tags: true }`,
    closings,
    async close(hook) {
      standin.addSubscription({ topic: 'FULFILLMENTS_UPDATE', uri: hook });
      // A delivery that a busy machine answers late comes again soon, but not eight times in a moment: then the webhook is removed.
      standin.changeSender({ concurrency: 50, pauseScale: 0.01 });
      await Promise.all(ids.map((id) => standin.deliver(id)));
    },
    standin,
  });
  expect(standin.order(ids[0] ?? '').metafields).toMatchObject({ '$app.feedback_grade': '4' });
  await close();
  expect(calls).toBeLessThanOrEqual(120);
}, 180_000);
