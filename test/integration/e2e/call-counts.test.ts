import { beforeEach, expect, test, vi } from 'vitest';
import { connectors } from '../../../connectors/index.ts';
import { startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import { startHubspotStandin } from '../../../standins/hubspot/standin.ts';
import { startZendeskStandin } from '../../../standins/zendesk/standin.ts';
import { run } from '../../../worker/cli/app.ts';
import { loadConfig } from '../../../worker/config/config.ts';
import { liveClock } from '../../../worker/pipeline/clock.ts';
import { memoryLog, until } from '../../support/loop.ts';
import { useRedis } from '../../support/redis.ts';

// Two thousand journeys, both ends and Redis on one machine, which may be a busy one.
vi.setConfig({ testTimeout: 240_000 });

const redis = useRedis();
// Each has a service of its own, whose requests begin with the same ids.
beforeEach(() => redis.handle.client.flushall());
const closings = 1_000;
const atMost = 70;

/** The loop in this process on one source; resolves, with the errors that it told, when every journey is written. */
async function everyTicket(
  source: string,
  options: { feedbackUrl: string; settings: string; fire: (hooks: string) => Promise<unknown>; answer: () => void },
) {
  const config = loadConfig(
    `
feedback: { baseUrl: "${options.feedbackUrl}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
http: { port: 0 }
collect: { every: 1h }
sources:
  ${source}:
${options.settings}
`,
    { env: {}, connectors },
  );
  const { log, told } = memoryLog();
  const { handle } = redis;
  const runtime = { config, handle, redis: handle.client, close: async () => undefined };
  const app = await run(runtime, { role: 'all', clock: liveClock, log });
  const store = app.engine.pipelines.get(source)?.context.store ?? expect.fail('no pipeline');
  await options.fire(`${app.url}/hooks/${source}`);
  await until(async () => (await store.queries.counts()).asked === closings);
  options.answer();
  await app.engine.collecting.now();
  await until(async () => (await store.queries.counts()).written === closings);
  await app.close();
  // On a starved machine Redis may answer late: the vendor is told to come again, and does.
  return told.filter(({ level, message }) => level === 'error' && !message.startsWith('delivery not stored'));
}

test(`it needs at most ${atMost} calls to Zendesk for ${closings} closings arriving together, job polls included`, async () => {
  const feedback = await startFeedbackStandin({ seed: true });
  const desk = await startZendeskStandin();
  const { standin } = desk;
  standin.addUser({ id: 9001, name: 'Ann Agent', role: 'agent' });
  standin.addGroup({ id: 2001, name: 'Phone' });
  standin.addTicketField({ id: 360001, title: 'Grade', type: 'integer' });
  for (let i = 1; i <= closings; i++) {
    const user = standin.addUser({ name: `Customer ${i}`, email: `customer-${i}@example.com` });
    standin.addTicket({ id: 10_000 + i, requesterId: user.id, assigneeId: 9001, groupId: 2001 });
  }
  const errors = await everyTicket('zendesk-thousand', {
    feedbackUrl: feedback.url,
    settings: `
    connector: zendesk
    subdomain: acme
    baseUrl: ${desk.url}
    clientId: ${standin.credentials.clientId}
    clientSecret: ${standin.credentials.clientSecret}
    webhookSecrets: [a-secret]
    rules: [{ name: all, campaign: 12, contact: requester.email, fields: { Agent: assignee.name } }]
    writeBack: { grade: 360001, note: true, tags: true }`,
    fire: async (url) => {
      standin.setWebhook({ url, secrets: ['a-secret'] });
      standin.changeSender({ concurrency: 50 });
      await Promise.all(Array.from({ length: closings }, (_, i) => standin.solve(10_001 + i)));
    },
    answer: () => {
      for (const { id } of feedback.standin.requests()) feedback.standin.answer({ request: id, grade: 5 });
    },
  });
  const calls = standin.callCounts();
  process.stdout.write(`Zendesk, ${closings} closings: ${standin.totalCalls()} calls ${JSON.stringify(calls)}\n`);
  expect(errors).toEqual([]);
  expect(feedback.standin.requests()).toHaveLength(closings);
  expect(standin.totalCalls()).toBeLessThanOrEqual(atMost);
  await desk.close();
  await feedback.close();
});

test(`it needs at most ${atMost} calls to HubSpot for ${closings} closings arriving together`, async () => {
  const feedback = await startFeedbackStandin({ seed: true });
  const crm = await startHubspotStandin();
  const { standin } = crm;
  const owner = standin.addOwner({});
  standin.addProperty({ type: 'tickets', name: 'feedback_grade', kind: 'number' });
  const ids = Array.from({ length: closings }, (_, i) => {
    const contact = standin.addContact({ properties: { email: `customer-${i}@example.com` } });
    const properties = { hs_pipeline: '0', hs_pipeline_stage: '1', hubspot_owner_id: owner.id };
    return standin.addTicket({ properties, contacts: [contact.id] }).id;
  });
  const errors = await everyTicket('hubspot-thousand', {
    feedbackUrl: feedback.url,
    settings: `
    connector: hubspot
    baseUrl: ${crm.url}
    accessToken: hubspot-token
    webhookSecrets: [a-secret]
    rules: [{ name: all, campaign: 12, contact: contact.email, fields: { Agent: owner.name } }]
    writeBack: { grade: feedback_grade }`,
    fire: async (url) => {
      standin.setWebhook({ url, secrets: ['a-secret'] });
      // A delivery that a busy machine answers late comes again soon, not within a day.
      standin.changeSender({ pauseScale: 0 });
      await standin.closeAll({ ids });
    },
    answer: () => {
      for (const { id } of feedback.standin.requests()) feedback.standin.answer({ request: id, grade: 4 });
    },
  });
  process.stdout.write(
    `HubSpot, ${closings} closings: ${standin.totalCalls()} calls ${JSON.stringify(standin.callCounts())}\n`,
  );
  expect(errors).toEqual([]);
  expect(feedback.standin.requests()).toHaveLength(closings);
  expect(standin.record('tickets', ids[0] ?? 0).properties.feedback_grade).toBe('4');
  expect(standin.totalCalls()).toBeLessThanOrEqual(atMost);
  await crm.close();
  await feedback.close();
});
