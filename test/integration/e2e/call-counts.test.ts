import { beforeEach, expect, test, vi } from 'vitest';
import { startHubspotStandin } from '../../../standins/hubspot/standin.ts';
import { startZendeskStandin } from '../../../standins/zendesk/standin.ts';
import { countCalls } from '../../support/call-count.ts';
import { useRedis } from '../../support/redis.ts';

// Two thousand journeys, both ends and Redis on one machine, which may be a busy one.
vi.setConfig({ testTimeout: 240_000 });

const redis = useRedis();
// Each has a service of its own, whose requests begin with the same ids.
beforeEach(() => redis.handle.client.flushall());
const closings = 1_000;
/** Some ten above the calls where a thousand records are read, planned and asked about within seconds: on a slow machine they are read a second time. */
const atMost = { zendesk: 55, hubspot: 66 };

test(`it needs at most ${atMost.zendesk} calls to Zendesk for ${closings} closings arriving together, job polls included`, async () => {
  const desk = await startZendeskStandin();
  const { standin } = desk;
  standin.addUser({ id: 9001, name: 'Ann Agent', role: 'agent' });
  standin.addGroup({ id: 2001, name: 'Phone' });
  standin.addTicketField({ id: 360001, title: 'Grade', type: 'integer' });
  for (let i = 1; i <= closings; i++) {
    const user = standin.addUser({ name: `Customer ${i}`, email: `customer-${i}@example.com` });
    standin.addTicket({ id: 10_000 + i, requesterId: user.id, assigneeId: 9001, groupId: 2001 });
  }
  const { calls, requests } = await countCalls(redis, {
    vendor: 'Zendesk',
    closings,
    standin,
    settings: `
    connector: zendesk
    subdomain: acme
    baseUrl: ${desk.url}
    clientId: ${standin.credentials.clientId}
    clientSecret: ${standin.credentials.clientSecret}
    webhookSecrets: [a-secret]
    rules: [{ name: all, campaign: 12, contact: requester.email, fields: { Agent: assignee.name } }]
    writeBack: { grade: 360001, note: true, tags: true }`,
    async close(url) {
      standin.setWebhook({ url, secrets: ['a-secret'] });
      standin.changeSender({ concurrency: 50 });
      await Promise.all(Array.from({ length: closings }, (_, i) => standin.solve(10_001 + i)));
    },
  });
  expect(requests).toBe(closings);
  expect(calls).toBeLessThanOrEqual(atMost.zendesk);
  await desk.close();
});

test(`it needs at most ${atMost.hubspot} calls to HubSpot for ${closings} closings arriving together, notes included`, async () => {
  const crm = await startHubspotStandin();
  const { standin } = crm;
  const owner = standin.addOwner({});
  standin.addProperty({ type: 'tickets', name: 'feedback_grade', kind: 'number' });
  const ids = Array.from({ length: closings }, (_, i) => {
    const contact = standin.addContact({ properties: { email: `customer-${i}@example.com` } });
    const properties = { hs_pipeline: '0', hs_pipeline_stage: '1', hubspot_owner_id: owner.id };
    return standin.addTicket({ properties, contacts: [contact.id] }).id;
  });
  const { calls, requests } = await countCalls(redis, {
    vendor: 'HubSpot',
    closings,
    standin,
    settings: `
    connector: hubspot
    baseUrl: ${crm.url}
    accessToken: hubspot-token
    webhookSecrets: [a-secret]
    rules: [{ name: all, campaign: 12, contact: contact.email, fields: { Agent: owner.name } }]
    writeBack: { grade: feedback_grade, note: true }`,
    async close(url) {
      standin.setWebhook({ url, secrets: ['a-secret'] });
      // A delivery that a busy machine answers late comes again soon, not within a day.
      standin.changeSender({ pauseScale: 0 });
      await standin.closeAll({ ids });
    },
  });
  expect(requests).toBe(closings);
  expect(standin.record('tickets', ids[0] ?? 0).properties.feedback_grade).toBe('4');
  expect(calls).toBeLessThanOrEqual(atMost.hubspot);
  await crm.close();
});
