import { expect, test } from 'vitest';
import { connectors } from '../../../connectors/index.ts';
import { startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import { startIntercomStandin } from '../../../standins/intercom/standin.ts';
import { run } from '../../../worker/cli/app.ts';
import { loadConfig } from '../../../worker/config/config.ts';
import { liveClock } from '../../../worker/pipeline/clock.ts';
import { memoryLog, until } from '../../support/loop.ts';
import { useRedis } from '../../support/redis.ts';

const redis = useRedis();

// The plan of the facts is 501: 67 searches to plan, 67 to ask, 67 for contacts, 300 writes. Batches that leave half full on a busy machine cost more.
test('it needs at most 560 calls for 1,000 conversations closed together, of which 300 are answered', async () => {
  const [closings, answered] = [1_000, 300];
  const [service, other] = await Promise.all([startFeedbackStandin({ seed: true }), startIntercomStandin()]);
  const { standin } = other;
  const { handle } = redis;
  const text = `
feedback: { baseUrl: "${service.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
http: { port: 0 }
collect: { every: 1h }
poll: { every: 1h }
sources:
  intercom-thousand:
    connector: intercom
    workspace: ${standin.appId}
    accessToken: ${standin.accessToken}
    adminId: "${standin.serviceAdminId}"
    webhookSecrets: [a-client-secret]
    baseUrl: ${other.url}
    rules: [{ name: all, campaign: 12, contact: contact.email, fields: { Agent: agent.name } }]
    writeBack: { grade: Feedback grade, comment: Feedback comment }`;
  standin.addAttribute({ name: 'Feedback grade', dataType: 'integer' });
  standin.addAttribute({ name: 'Feedback comment' });
  const ids = Array.from({ length: closings }, (_, i) => {
    const contact = standin.addContact({ email: `customer-${i}@example.com` }).id;
    return standin.addConversation({ contacts: [contact] }).id;
  });
  const { log, told } = memoryLog();
  const runtime = {
    config: loadConfig(text, { env: {}, connectors }),
    handle,
    redis: handle.client,
    close: async () => undefined,
  };
  const loop = await run(runtime, { role: 'all', clock: liveClock, log });
  const journeys = loop.engine.pipelines.get('intercom-thousand')?.context.store ?? expect.fail('no pipeline');
  standin.setWebhook({ url: `${loop.url}/hooks/intercom-thousand`, secret: 'a-client-secret' });
  standin.changeSender({ concurrency: 50 });
  await standin.closeAll({ ids });
  await until(async () => (await journeys.queries.counts()).asked === closings);
  for (const { id } of service.standin.requests().slice(0, answered)) service.standin.answer({ request: id, grade: 4 });
  await loop.engine.collecting.now();
  await until(async () => (await journeys.queries.counts()).written === answered);
  await standin.idle();
  const calls = standin.totalCalls();
  process.stdout.write(`Intercom, ${closings} closings: ${calls} calls ${JSON.stringify(standin.callCounts())}\n`);
  // On a starved machine Redis may answer late: the vendor is told to come again, and does.
  const errors = told.filter(({ level, message }) => level === 'error' && !message.startsWith('delivery not stored'));
  expect(errors).toEqual([]);
  await loop.close();
  await Promise.all([service.close(), other.close()]);
  expect(calls).toBeLessThanOrEqual(560);
});
