import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signed, startDesk } from '../../../examples/helpdesk-connector/desk.ts';
import { until } from '../../support/loop.ts';
import { background, type Running } from '../../support/processes.ts';
import { useRedis } from '../../support/redis.ts';
import { standinHere } from '../../support/standin-here.ts';

const example = resolve(import.meta.dirname, '../../../examples/helpdesk-connector/connector.ts');
const redis = useRedis();
const secret = 'deskly-e2e-secret';
let dir: string;
let service: Awaited<ReturnType<typeof standinHere>>;
let desk: Awaited<ReturnType<typeof startDesk>>;
let loop: Running;

// Somebody else's folder: nothing of closeloop in it or above it, only the connector's file and the configuration.
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'closeloop-outside-'));
  cpSync(example, join(dir, 'my-connector.ts'));
  [service, desk] = await Promise.all([
    standinHere('feedback'),
    startDesk({ email: 'carl@example.com', subject: 'No heating' }),
  ]);
  writeFileSync(
    join(dir, 'closeloop.yaml'),
    `
feedback: { baseUrl: "${service.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
policy: { sms: { from: "00:00", until: "24:00" } }
redis: { path: ${redis.socket} }
http: { port: 0 }
collect: { every: 300ms }
sources:
  desk:
    connector: ./my-connector.ts
    baseUrl: ${desk.url}
    apiKey: key
    webhookSecrets: [${secret}]
    rules:
      - { name: all, campaign: 12, contact: customer.email, fields: { Store: ticket.subject } }
`,
  );
  loop = background(['start', '--config', join(dir, 'closeloop.yaml')]);
});

afterAll(async () => {
  await loop?.stop();
  await service?.close();
  await desk?.stop();
  rmSync(dir, { recursive: true, force: true });
});

test('a connector from outside the package carries a closing to a grade on its record', async () => {
  const started: { hooks: string } = JSON.parse(await loop.says(/\{.*"started"\}/));
  const closed = desk.close();
  const body = JSON.stringify(closed);
  const headers = { 'content-type': 'application/json', ...signed(body, secret) };
  const answer = await fetch(started.hooks.replace('<source>', 'desk'), { method: 'POST', body, headers });
  expect(answer.status).toBe(202);
  await until(async () => {
    const found = await service.control('GET', 'requests?campaign=12');
    return Array.isArray(found) && found.length > 0 && found[0].sentAt;
  });
  await service.control('POST', 'answers', { contact: 'carl@example.com', grade: 4, comment: 'Warm again' });
  expect(await until(() => desk.ticket(closed.ticket.id)?.grade ?? undefined)).toBe(4);
});
