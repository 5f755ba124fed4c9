import { expect, test } from 'vitest';
import { startIntercomStandin } from '../../../standins/intercom/standin.ts';
import { countCalls } from '../../support/call-count.ts';
import { useRedis } from '../../support/redis.ts';

const redis = useRedis();

// The plan of the facts is 501: 67 searches to plan, 67 to ask, 67 for contacts, 300 writes. Batches that leave half full on a busy machine cost more.
test('it needs at most 560 calls for 1,000 conversations closed together, of which 300 are answered', async () => {
  const closings = 1_000;
  const { standin, url, close } = await startIntercomStandin();
  standin.addAttribute({ name: 'Feedback grade', dataType: 'integer' });
  standin.addAttribute({ name: 'Feedback comment' });
  const ids = Array.from({ length: closings }, (_, i) => {
    const contact = standin.addContact({ email: `customer-${i}@example.com` }).id;
    return standin.addConversation({ contacts: [contact] }).id;
  });
  const { calls } = await countCalls(redis, {
    vendor: 'Intercom',
    settings: `
    connector: intercom
    workspace: ${standin.appId}
    accessToken: ${standin.accessToken}
    adminId: "${standin.serviceAdminId}"
    webhookSecrets: [a-client-secret]
    baseUrl: ${url}
    rules: [{ name: all, campaign: 12, contact: contact.email, fields: { Agent: agent.name } }]
    writeBack: { grade: Feedback grade, comment: Feedback comment }`,
    closings,
    answered: 300,
    async close(hook) {
      standin.setWebhook({ url: hook, secret: 'a-client-secret' });
      standin.changeSender({ concurrency: 50 });
      await standin.closeAll({ ids });
    },
    standin,
  });
  await close();
  expect(calls).toBeLessThanOrEqual(560);
});
