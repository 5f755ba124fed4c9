import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useRedis } from '../redis.ts';
import { until } from '../worker/harness.ts';
import { background, command, type Running, standin } from './processes.ts';

const redis = useRedis();
const secret = 'zendesk-e2e-secret';
let dir: string;
let config: string;
let service: Awaited<ReturnType<typeof standin>>;
let desk: Awaited<ReturnType<typeof standin>>;
let loop: Running;
let hooks: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'closeloop-e2e-'));
  config = join(dir, 'closeloop.yaml');
  [service, desk] = await Promise.all([standin('feedback'), standin('zendesk')]);
  await desk.control('POST', 'users', { id: 9001, name: 'Ann Agent', role: 'agent' });
  await desk.control('POST', 'users', { id: 5001, name: 'Carl Customer', email: 'carl@example.com' });
  await desk.control('POST', 'groups', { id: 2001, name: 'Phone' });
  for (const [id, title, type] of [
    [360001, 'Grade', 'integer'],
    [360002, 'Comment', 'textarea'],
    [360003, 'Answered', 'date'],
    [360004, 'Store', 'text'],
  ]) {
    await desk.control('POST', 'ticket-fields', { id, title, type });
  }
  await desk.control('POST', 'tickets', {
    id: 41960,
    requesterId: 5001,
    assigneeId: 9001,
    groupId: 2001,
    tags: ['vip'],
    customFields: { 360004: 'Tartu' },
  });
  writeFileSync(
    config,
    `
feedback: { baseUrl: "${service.url}/api", apiKey: "\${FEEDBACK_API_KEY}", timeZone: Europe/Tallinn }
redis: { path: ${redis.socket} }
http: { port: 0 }
collect: { every: 300ms }
sources:
  support:
    connector: zendesk
    subdomain: acme
    baseUrl: ${desk.url}
    clientId: closeloop
    clientSecret: zendesk-client-secret
    webhookSecrets: ["old secret", "${secret}"]
    rules:
      - name: phone team
        when: ticket.group.name = "Phone" and $not("no_survey" in ticket.tags)
        campaign: 12
        contact: [requester.phone, requester.email]
        fields: { Store: ticket.fields.store, Agent: assignee.name }
    writeBack: { grade: 360001, comment: 360002, answeredAt: 360003, note: true, tags: true }
`,
  );
  loop = background(['start', '--config', config], { FEEDBACK_API_KEY: 'demo-key' });
  hooks = JSON.parse(await loop.says(/\{.*"started"\}/)).hooks.replace('<source>', 'support');
});

afterAll(async () => {
  await loop?.stop();
  await service?.stop();
  await desk?.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** As a person would with curl: the body signed by hand. */
function signed(body: string, key = secret): RequestInit {
  const timestamp = new Date().toISOString();
  const signature = createHmac('sha256', key).update(`${timestamp}${body}`).digest('base64');
  return {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-zendesk-webhook-signature': signature,
      'x-zendesk-webhook-signature-timestamp': timestamp,
    },
  };
}

test('a signed trigger webhook ends as a grade on the ticket, and the journey explains every step', async () => {
  await desk.control('POST', 'tickets/41960/solve', {});
  const answer = await fetch(hooks, signed('{"v":1,"source":"zendesk-trigger","ticket_id":"41960"}'));
  expect(answer.status).toBe(202);
  const [request] = await until(async () => {
    const found = await service.control('GET', 'requests?campaign=12');
    return Array.isArray(found) && found.length > 0 && found[0].sentAt ? found : undefined;
  });
  expect(request).toMatchObject({ customFields: { Store: 'Tartu', Agent: 'Ann Agent' } });
  await service.control('POST', 'answers', { contact: 'carl@example.com', grade: 5, comment: 'Great "help"' });
  const ticket = await until(async () => {
    const found = await desk.control('GET', 'tickets/41960');
    return JSON.stringify(found).includes('"360001":') ? found : undefined;
  });
  expect(ticket).toMatchObject({ fields: { 360002: 'Great "help"' }, mails: 0 });
  expect(JSON.stringify(ticket)).toMatch(/vip/);

  const shown = await until(async () => {
    const one = await command(['journeys', 'show', 'support/41960.1', '--config', config], {
      FEEDBACK_API_KEY: 'demo-key',
    });
    return one.out.includes('written on the record') ? one : undefined;
  });
  expect(shown.code).toBe(0);
  const steps = [
    'received',
    'rule "phone team", campaign 12',
    'contact: email',
    'to be asked at',
    'asked: feedback request',
    'answered: grade 5, with a comment',
    'written on the record',
  ];
  let at = 0;
  for (const text of steps) {
    at = shown.out.indexOf(text, at);
    expect([text, at > 0]).toEqual([text, true]);
  }
  expect(shown.out).not.toMatch(/carl@example|Great/);
  expect(loop.output()).not.toMatch(/carl@example|Great "help/);
});

test('a bad signature, an unknown source and broken JSON are refused and start nothing', async () => {
  const body = '{"v":1,"source":"zendesk-trigger","ticket_id":"41960"}';
  expect((await fetch(hooks, signed(body, 'another key'))).status).toBe(401);
  expect((await fetch(hooks.replace('support', 'nobody'), signed(body))).status).toBe(404);
  expect((await fetch(hooks, signed('{"ticket_id":'))).status).toBe(400);
});

test('mistakes in the configuration are told at once, with their place, and exit code 2', async () => {
  const missing = await command(['start', '--config', config]);
  expect(missing.code).toBe(2);
  expect(missing.err).toMatch(/closeloop\.yaml:2:\d+: feedback\.apiKey: .*FEEDBACK_API_KEY/);
  const nowhere = await command(['journeys', 'list', '--config', join(dir, 'none.yaml')]);
  expect([nowhere.code, nowhere.err]).toEqual([2, expect.stringContaining('none.yaml')]);
  const unknown = await command(['journeys', 'show', 'support/1.1', '--config', config], {
    FEEDBACK_API_KEY: 'demo-key',
  });
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('There is no journey "support/1.1"')]);
});

test('it ends in order on SIGTERM', async () => {
  expect(await loop.stop()).toBe(0);
});
