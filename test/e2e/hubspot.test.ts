import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { useRedis } from '../redis.ts';
import { until } from '../worker/harness.ts';
import { background, command, type Running, standin } from './processes.ts';

const redis = useRedis();
const secret = 'hubspot-e2e-secret';
const env = { FEEDBACK_API_KEY: 'demo-key' };
let dir: string;
let config: string;
let service: Awaited<ReturnType<typeof standin>>;
let crm: Awaited<ReturnType<typeof standin>>;
let intake: Running;
let worker: Running;
let hooks: string;
let ticketId: number;

const Made = z.object({ id: z.coerce.number() });

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'closeloop-e2e-'));
  config = join(dir, 'closeloop.yaml');
  [service, crm] = await Promise.all([standin('feedback'), standin('hubspot')]);
  const owner = Made.parse(await crm.control('POST', 'owners', { firstName: 'Ann', lastName: 'Agent' }));
  const contact = Made.parse(await crm.control('POST', 'contacts', { properties: { email: 'hanna@example.com' } }));
  for (const [name, kind] of [
    ['feedback_grade', 'number'],
    ['feedback_comment', 'string'],
    ['feedback_at', 'datetime'],
  ]) {
    await crm.control('POST', 'properties', { type: 'tickets', name, kind });
  }
  const properties = {
    subject: 'Router',
    hs_pipeline: '0',
    hs_pipeline_stage: '1',
    hubspot_owner_id: String(owner.id),
  };
  ticketId = Made.parse(await crm.control('POST', 'tickets', { properties, contacts: [contact.id] })).id;
  writeFileSync(
    config,
    `
feedback: { baseUrl: "${service.url}/api", apiKey: "\${FEEDBACK_API_KEY}", timeZone: Europe/Tallinn }
redis: { path: ${redis.socket} }
http: { port: 0 }
collect: { every: 300ms }
sources:
  crm:
    connector: hubspot
    baseUrl: ${crm.url}
    accessToken: hubspot-token
    webhookSecrets: ["${secret}"]
    rules:
      - { name: all, campaign: 12, contact: contact.email, fields: { Agent: owner.name } }
    writeBack: { grade: feedback_grade, comment: feedback_comment, answeredAt: feedback_at }
`,
  );
  // Two processes on one Redis: the intake never works, the worker never listens.
  intake = background(['start', '--config', config, '--role', 'intake'], env);
  worker = background(['start', '--config', config, '--role', 'worker'], env);
  hooks = JSON.parse(await intake.says(/\{.*"started"\}/)).hooks.replace('<source>', 'crm');
  await worker.says(/"started"/);
});

afterAll(async () => {
  await Promise.all([intake, worker, service, crm].map((one) => one?.stop()));
  rmSync(dir, { recursive: true, force: true });
});

function signed(url: string, body: string): RequestInit {
  const timestamp = String(Date.now());
  const signature = createHmac('sha256', secret).update(`POST${url}${body}${timestamp}`).digest('base64');
  return {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-hubspot-signature-v3': signature,
      'x-hubspot-request-timestamp': timestamp,
    },
  };
}

test('a signed webhook ends as a grade on the ticket, and our own echo starts nothing', async () => {
  await crm.control('PUT', 'webhook', {
    url: hooks,
    secrets: [secret],
    subscriptions: [
      { event: 'propertyChange', object: 'tickets', propertyName: 'hs_pipeline_stage' },
      { event: 'propertyChange', object: 'tickets', propertyName: 'feedback_grade' },
    ],
  });
  await crm.control('POST', `tickets/${ticketId}/close`, {});
  const [request] = await until(async () => {
    const found = await service.control('GET', 'requests?campaign=12');
    return Array.isArray(found) && found.length > 0 && found[0].sentAt ? found : undefined;
  });
  expect(request).toMatchObject({ customFields: { Agent: 'Ann Agent' } });
  await service.control('POST', 'answers', { contact: 'hanna@example.com', grade: 2, comment: 'Too slow' });
  const written = await until(async () => {
    const found = await crm.control('GET', `tickets/${ticketId}`);
    return JSON.stringify(found).includes('"feedback_grade":"2"') ? found : undefined;
  });
  expect(written).toMatchObject({ properties: { feedback_comment: 'Too slow' } });
  await crm.control('POST', 'idle', {});
  const list = await until(async () => {
    const one = await command(['journeys', 'list', '--config', config, '--json'], env);
    return one.out.includes('"written"') ? one : undefined;
  });
  expect(list.out.trim().split('\n')).toHaveLength(1);
  const shown = await command(['journeys', 'show', `crm/ticket-${ticketId}.1`, '--config', config], env);
  expect(shown.out).toMatch(
    /received[\s\S]*asked: feedback request[\s\S]*answered: grade 2[\s\S]*written on the record/,
  );
});

test('a webhook signed by hand is taken; one for another address, or an old one, is not', async () => {
  const events = JSON.stringify([
    {
      ...{ eventId: 1, subscriptionId: 2, portalId: 48211907, appId: 3190457, objectId: ticketId, attemptNumber: 0 },
      ...{
        occurredAt: Date.now(),
        subscriptionType: 'ticket.propertyChange',
        changeSource: 'CRM_UI',
        sourceId: 'userId:1',
      },
      ...{ propertyName: 'hs_pipeline_stage', propertyValue: '4' },
    },
  ]);
  expect((await fetch(hooks, signed(hooks, events))).status).toBe(202);
  expect((await fetch(hooks, signed('https://elsewhere.example.com/hooks/crm', events))).status).toBe(401);
  expect((await fetch(hooks, signed(hooks, '[{'))).status).toBe(400);
});

test('both roles end in order on SIGTERM', async () => {
  expect(await Promise.all([intake.stop(), worker.stop()])).toEqual([0, 0]);
});
