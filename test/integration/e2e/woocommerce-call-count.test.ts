import { expect, test } from 'vitest';
import { startWooCommerceStandin } from '../../../standins/woocommerce/standin.ts';
import { countCalls } from '../../support/call-count.ts';
import { useRedis } from '../../support/redis.ts';

const redis = useRedis();
const secret = 'wcE2eSecretOfFortyLettersAndDigits012345';

test('it needs at most 70 calls for 1,000 orders completed together, reads and write-backs', async () => {
  const closings = 1_000;
  const { standin, url, close } = await startWooCommerceStandin();
  const ids = Array.from({ length: closings }, (_, i) => {
    const billing = { email: `customer-${i}@example.com` };
    return standin.addOrder({ billing, customerId: i + 1 }).id;
  });
  const { calls } = await countCalls(redis, {
    vendor: 'WooCommerce',
    settings: `
    connector: woocommerce
    site: ${url}
    consumerKey: ck_standin
    consumerSecret: cs_standin
    webhookSecrets: [${secret}]
    rules: [{ name: all, campaign: 12, contact: customer.email, fields: { Agent: order.createdVia } }]
    writeBack: { grade: feedback_grade, comment: feedback_comment, answeredAt: feedback_at, status: feedback_status }`,
    closings,
    async close(hook) {
      standin.addWebhook({ url: hook, secret });
      standin.changeSender({ concurrency: 50 });
      await standin.completeAll({ ids });
    },
    standin,
  });
  expect(standin.order(ids[0] ?? 0).values.feedback_grade).toBe('4');
  await close();
  expect(calls).toBeLessThanOrEqual(70);
});
