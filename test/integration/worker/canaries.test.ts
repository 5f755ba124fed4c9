import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { connectors } from '../../../connectors/index.ts';
import { startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import { startFreshdeskStandin } from '../../../standins/freshdesk/standin.ts';
import { startHubspotStandin } from '../../../standins/hubspot/standin.ts';
import { startIntercomStandin } from '../../../standins/intercom/standin.ts';
import { serve } from '../../../standins/kit/server.ts';
import { startShopifyStandin } from '../../../standins/shopify/standin.ts';
import { startWebhookStandin } from '../../../standins/webhook/standin.ts';
import { startWooCommerceStandin } from '../../../standins/woocommerce/standin.ts';
import { startZendeskStandin } from '../../../standins/zendesk/standin.ts';
import { type App, run } from '../../../worker/cli/app.ts';
import { loadConfig } from '../../../worker/config/config.ts';
import { createLog } from '../../../worker/operations/log.ts';
import { liveClock } from '../../../worker/pipeline/clock.ts';
import { until } from '../../support/loop.ts';
import { useRedis } from '../../support/redis.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

/*
 * Every person and every secret of this test has a canary in it. The loop runs with all connectors, through good days and bad
 * ones on which everybody who answers repeats what was sent; then everything that was written is searched.
 */

const redis = useRedis();
/** What every e-mail address, name, comment and secret begins with; phone numbers have digits of their own. */
const canary = /canary|555770\d\d/i;
const signing = (name: string) => `whsec_${Buffer.from(`canary-of-${name}`.padEnd(32, '.')).toString('base64')}`;

interface Person {
  name: string;
  email: string;
  phone: string;
}
let people = 0;
const person = (): Person => {
  const n = String(++people).padStart(2, '0');
  return { name: `Canary Number${n}`, email: `canary.${n}+x@example.com`, phone: `+372 5557 70${n}` };
};

/** One account at a vendor, whose records close by themselves. */
interface Account {
  /** Its section of the configuration. */
  settings: object;
  contact: string;
  /** An expression for a custom field. */
  who: string;
  listen(url: string): void;
  close(who: Person): Promise<unknown>;
  faults: { add(fault: object): void };
  stop(): Promise<void>;
}

const common = { comment: 'feedback_comment', answeredAt: 'feedback_at', status: 'feedback_status' };

async function zendesk(): Promise<Account> {
  const credentials = { clientId: 'closeloop', clientSecret: 'canary-zendesk-secret' };
  const { url, standin, close } = await startZendeskStandin({ credentials, jobs: { queuedMs: 0, workingMs: 0 } });
  const grade = standin.addTicketField({ title: 'Grade', type: 'integer' }).id;
  const comment = standin.addTicketField({ title: 'Comment', type: 'textarea' }).id;
  return {
    settings: {
      ...{ connector: 'zendesk', subdomain: 'acme', baseUrl: url, ...credentials },
      ...{ webhookSecrets: ['canary-zendesk-hook'], writeBack: { grade, comment, note: true, tags: true } },
    },
    contact: '[requester.phone, requester.email]',
    who: 'requester.name',
    listen: (hook) => standin.setWebhook({ url: hook, secrets: ['canary-zendesk-hook'] }),
    close: async ({ name, email, phone }) => {
      const requesterId = standin.addUser({ name, email, phone: phone.replaceAll(' ', '') }).id;
      await standin.solve(standin.addTicket({ requesterId, subject: `Call ${name}` }).id);
    },
    faults: standin.faults,
    stop: close,
  };
}

async function hubspot(): Promise<Account> {
  const accessToken = 'canary-hubspot-token';
  const { url, standin, close } = await startHubspotStandin({ accessToken, clientSecret: 'canary-hubspot-hook' });
  for (const [name, kind] of [
    ['feedback_grade', 'number'],
    ['feedback_comment', 'string'],
    ['feedback_at', 'datetime'],
  ] as const) {
    standin.addProperty({ type: 'tickets', name, kind });
  }
  standin.addProperty({ type: 'tickets', name: 'feedback_status', kind: 'enumeration', options: ['answered'] });
  return {
    settings: {
      ...{ connector: 'hubspot', accessToken, baseUrl: url, webhookSecrets: ['canary-hubspot-hook'] },
      writeBack: { grade: 'feedback_grade', ...common },
    },
    contact: 'contact.email',
    who: 'contact.email',
    listen: (hook) => standin.setWebhook({ url: hook, secrets: ['canary-hubspot-hook'] }),
    close: async ({ name, email, phone }) => {
      const contact = standin.addContact({ properties: { email, phone, firstname: name } }).id;
      const properties = { subject: `Call ${name}`, hs_pipeline: '0', hs_pipeline_stage: '1' };
      await standin.close(standin.addTicket({ properties, contacts: [contact] }).id);
    },
    faults: standin.faults,
    stop: close,
  };
}

async function shopify(): Promise<Account> {
  const clientSecret = 'canary-shopify-hook';
  const { url, standin, close } = await startShopifyStandin({ accessToken: 'canary-shopify-token', clientSecret });
  for (const [key, type] of [
    ['feedback_grade', 'number_integer'],
    ['feedback_comment', 'multi_line_text_field'],
    ['feedback_at', 'date_time'],
    ['feedback_status', 'single_line_text_field'],
  ] as const) {
    standin.addDefinition({ key, type });
  }
  return {
    settings: {
      ...{ connector: 'shopify', shop: standin.shop.domain, accessToken: 'canary-shopify-token', baseUrl: url },
      ...{ trigger: 'fulfilled', webhookSecrets: [clientSecret] },
      writeBack: { grade: 'feedback_grade', ...common, note: true },
    },
    contact: '[contact.phones, contact.email]',
    who: 'contact.email',
    listen: (hook) => {
      for (const topic of ['ORDERS_FULFILLED', 'FULFILLMENTS_UPDATE', 'ORDERS_CANCELLED'])
        standin.addSubscription({ topic, uri: hook });
    },
    close: async ({ name, email }) => {
      const customerId = standin.addCustomer({ email, firstName: name }).id;
      const { id } = standin.addOrder({ customerId, email, note: `Call ${name}` });
      await standin.fulfil({ id });
    },
    faults: standin.faults,
    stop: close,
  };
}

async function woocommerce(): Promise<Account> {
  const keys = { consumerKey: 'ck_canary', consumerSecret: 'cs_canary' };
  const { url, standin, close } = await startWooCommerceStandin(keys);
  return {
    settings: {
      ...{ connector: 'woocommerce', site: url, ...keys, auth: 'query', webhookSecrets: ['canary-woo-hook'] },
      writeBack: { grade: 'feedback_grade', ...common, note: true },
    },
    contact: 'customer.email',
    who: 'customer.email',
    listen: (hook) => {
      for (const topic of ['order.updated', 'order.deleted'])
        standin.addWebhook({ name: `closeloop ${topic}`, topic, url: hook, secret: 'canary-woo-hook' });
    },
    close: async ({ name, email, phone }) => {
      const billing = { email, phone, first_name: name, country: 'EE' };
      await standin.complete(standin.addOrder({ billing }).id);
    },
    faults: standin.faults,
    stop: close,
  };
}

async function intercom(): Promise<Account> {
  const accessToken = 'canary-intercom-token';
  const { url, standin, close } = await startIntercomStandin({ accessToken });
  for (const [name, dataType] of [
    ['Feedback grade', 'integer'],
    ['Feedback comment', 'string'],
  ] as const) {
    standin.addAttribute({ name, dataType });
  }
  return {
    settings: {
      ...{ connector: 'intercom', workspace: standin.appId, accessToken, adminId: standin.serviceAdminId },
      ...{ webhookSecrets: ['canary-intercom-hook'], baseUrl: url },
      writeBack: { grade: 'Feedback grade', comment: 'Feedback comment', note: true },
    },
    contact: '[contact.phone, contact.email]',
    who: 'contact.email',
    listen: (hook) => standin.setWebhook({ url: hook, secret: 'canary-intercom-hook' }),
    close: async ({ name, email, phone }) => {
      const contact = standin.addContact({ email, phone, name }).id;
      await standin.close({ id: standin.addConversation({ contacts: [contact], subject: `Call ${name}` }).id });
    },
    faults: standin.faults,
    stop: close,
  };
}

async function freshdesk(): Promise<Account> {
  const keys = { apiKey: 'canary-freshdesk-key', adminKey: 'canary-freshdesk-admin-key' };
  const { url, standin, close } = await startFreshdeskStandin(keys);
  standin.addField({ name: 'cf_grade', type: 'custom_number' });
  standin.addField({ name: 'cf_comment', type: 'custom_paragraph' });
  return {
    settings: {
      ...{ connector: 'freshdesk', subdomain: 'acme', apiKey: keys.apiKey, setupKey: keys.adminKey, baseUrl: url },
      ...{ webhookSecrets: ['canary-freshdesk-hook'] },
      writeBack: { grade: 'cf_grade', comment: 'cf_comment', note: true },
    },
    contact: '[requester.phone, requester.email]',
    who: 'requester.email',
    listen: (hook) => void standin.setWebhook({ url: hook, secret: 'canary-freshdesk-hook' }),
    close: async ({ name, email, phone }) => {
      const requesterId = standin.addContact({ email, phone, name }).id;
      await standin.resolve(standin.addTicket({ requesterId, subject: `Call ${name}` }).id);
    },
    faults: standin.faults,
    stop: close,
  };
}

async function webhook(): Promise<Account> {
  const { url, standin, close } = await startWebhookStandin();
  const secret = signing('webhook');
  return {
    settings: {
      connector: 'webhook',
      signature: { kind: 'standard', secrets: [secret] },
      event: { record: 'data.job.id', closed: 'type = "job.done"', person: 'data.customer.id', shape: 'data' },
      writeBack: {
        ...{ url: `${url}/answers?token=canary`, secrets: [standin.answerSecret], allowPrivate: true },
        include: ['comment', 'answers'],
      },
    },
    contact: 'customer.email',
    who: 'title',
    listen: (hook) => standin.setHook({ url: hook, secret }),
    close: async ({ name, email }) => {
      const customer = { email, id: `customer ${name}` };
      await standin.finish(standin.addJob({ id: `job of ${email}`, title: `Call ${name}`, customer }).id);
    },
    faults: standin.faults,
    stop: close,
  };
}

const campaign = 42;
let service: Awaited<ReturnType<typeof startFeedbackStandin>>;
let accounts: Map<string, Account>;
let app: App;
let logged = '';
/** What a webhook was sent, which is meant to hold the words. */
let toldOthers = '';
let stopTelling: () => Promise<void> = async () => undefined;

beforeAll(async () => {
  await redis.handle.client.flushall();
  service = await startFeedbackStandin({ seed: true });
  service.standin.addKey({ account: 'acme', key: 'canary-key' });
  const customFields = [{ name: 'closeloop' }, { name: 'Who' }];
  service.standin.addCampaign({ account: 'acme', id: campaign, name: 'Afterwards', type: 'mixed', customFields });
  accounts = new Map([
    ['desk', await zendesk()],
    ['crm', await hubspot()],
    ['shop', await shopify()],
    ['store', await woocommerce()],
    ['inbox', await intercom()],
    ['helpdesk', await freshdesk()],
    ['jobs', await webhook()],
  ]);
  const sources = [...accounts].map(([name, { settings, contact, who }]) => {
    const rule = `{ name: all, campaign: ${campaign}, contact: '${contact}', fields: { Who: '${who}' } }`;
    return `  ${name}: ${JSON.stringify(settings).slice(0, -1)}, "rules": [${rule}] }`;
  });
  const told = await serve(({ raw }) => {
    toldOthers += raw.toString();
    return { status: 200, body: { echo: raw.toString() } };
  });
  stopTelling = () => told.close();
  const events = 'answer.received, answer.changed, request.created, closing.skipped, follow-up.overdue';
  const secret = signing('webhooks');
  const toldAll = `secret: "${secret}", allowPrivate: true, events: [${events}], include: [contact, comment, fields]`;
  const text = `
feedback: { baseUrl: "${service.url}/api", apiKey: canary-key, timeZone: Europe/Tallinn, timeoutMs: 2000 }
policy:
  sms: { from: "00:00", until: "24:00" }
  answers: [{ name: told, settle: 0, do: [{ notify: url }, { send: [taken, refused] }] }]
webhooks:
  - { name: taken, url: "${told.url}?token=canary", ${toldAll} }
  - { name: refused, url: "${service.url}/nowhere?token=canary", ${toldAll} }
http: { port: 0 }
collect: { every: 300ms }
lookup: { after: 50ms }
retry: { for: 8s }
alerts: { url: "${service.url}/alerts?token=canary", secrets: ["${signing('alerts')}"] }
sources:
${sources.join('\n')}
`;
  const stream = new PassThrough();
  stream.on('data', (piece: Buffer) => {
    logged += piece.toString();
  });
  const { handle } = redis;
  const config = loadConfig(text, { env: {}, connectors });
  const runtime = { config, handle, redis: handle.client, close: async () => undefined };
  const log = createLog({ pretty: false, level: 'debug', stream });
  app = await run(runtime, { role: 'all', clock: liveClock, log, batchWindowMs: 10, sweepEveryMs: 300 });
  for (const [name, { listen }] of accounts) listen(`${app.url}/hooks/${name}`);
});

afterAll(async () => {
  await app?.close();
  await service?.close();
  await stopTelling();
  for (const { stop } of accounts?.values() ?? []) await stop();
});

/** Everything that Redis holds, names of keys and fields included, and what it wrote into its files. */
async function held(): Promise<string[]> {
  const { client } = redis.handle;
  const texts: string[] = [];
  for (const key of await client.keys('*')) {
    const kind = await client.type(key);
    if (kind === 'string') texts.push(`${key} ${await client.get(key)}`);
    if (kind === 'hash') texts.push(`${key} ${JSON.stringify(await client.hgetall(key))}`);
    if (kind === 'list') texts.push(`${key} ${JSON.stringify(await client.lrange(key, 0, -1))}`);
    if (kind === 'set') texts.push(`${key} ${JSON.stringify(await client.smembers(key))}`);
    if (kind === 'zset') texts.push(`${key} ${JSON.stringify(await client.zrange(key, '0', '-1'))}`);
    if (kind === 'stream') texts.push(`${key} ${JSON.stringify(await client.xrange(key, '-', '+'))}`);
  }
  return [...texts, ...(await filed())];
}

const filedBefore = new Map<string, number>();

/** What has come into Redis' files since the last look. */
async function filed(): Promise<string[]> {
  const [, dir = ''] = z.array(z.string()).parse(await redis.handle.client.config('GET', 'dir'));
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  return files.flatMap(({ parentPath, name }) => {
    const path = join(parentPath, name);
    const text = readFileSync(path, 'latin1');
    const fresh = text.slice(filedBefore.get(path) ?? 0);
    filedBefore.set(path, text.length);
    return fresh.split('\r\n');
  });
}

/** As it stands there, and what it says when it is unpacked: base64, hex, and as in addresses. */
function readings(text: string): string[] {
  const packed = text.match(/[A-Za-z0-9+/_-]{12,}={0,2}/g) ?? [];
  const unpacked = packed.flatMap((piece) => [
    Buffer.from(piece, 'base64').toString('latin1'),
    Buffer.from(piece.replace(/^\w+_/, ''), 'base64').toString('latin1'),
    ...(/^[0-9a-f]+$/i.test(piece) ? [Buffer.from(piece, 'hex').toString('latin1')] : []),
  ]);
  const spaceless = text.replaceAll(/%2B|[\s+]|%20/gi, '');
  return [text, spaceless, ...unpacked];
}

async function expectNoCanary(when: string): Promise<void> {
  const seen = (texts: readonly string[]) =>
    [...new Set(texts)]
      .filter((text) => readings(text).some((reading) => canary.test(reading)))
      .map((text) => text.slice(0, 600));
  expect(seen(logged.split('\n')).slice(0, 10), `log, ${when}`).toEqual([]);
  expect(seen(await held()).slice(0, 10), `Redis, ${when}`).toEqual([]);
}

async function statesOf(name: string): Promise<string[]> {
  const states: string[] = [];
  for await (const { state } of app.engine.pipelines.get(name)?.context.store.queries.all() ?? []) states.push(state);
  return states;
}

const settled = new Set(['written', 'failed', 'parked', 'skipped', 'expired', 'cancelled']);

/** Answers whoever was sent a request, until each source has as many journeys in the end as wanted, or has stopped. */
async function untilSettled(each: number): Promise<void> {
  const answered = new Set<number>();
  await until(async () => {
    for (const { id, sentAt } of service.standin.requests({ campaign })) {
      if (answered.has(id) || sentAt === null) continue;
      service.standin.answer({ request: id, grade: 4, comment: `Canary said ${id}` });
      answered.add(id);
    }
    const paused = await app.engine.paused();
    const counts = await Promise.all(
      [...accounts.keys()].map(async (name) => ({ name, states: await statesOf(name) })),
    );
    return counts.every(
      ({ name, states }) => name in paused || states.filter((state) => settled.has(state)).length >= each,
    );
  });
}

const parrot = {
  error: 'no canary.01+x@example.com +37255577001',
  error_description: 'no client canary-zendesk-secret',
  detail: 'Canary Number01 is on the blacklist',
  message: 'Property values were not valid: [{"name":"Canary Number01","error":"canary.01+x@example.com"}]',
  errors: [{ message: 'canary.01+x@example.com', path: ['Canary Number01'], extensions: { code: 'Canary 01' } }],
  'canary.01+x@example.com': ['Canary Number01 was asked already'],
  next: 'https://canary@example.com/?token=canary',
};
const headers = {
  'x-request-id': 'canary.01@example.com',
  'x-zendesk-api-warn': 'Removed restricted keys ["canary.01+x@example.com"] canary',
  location: 'https://canary:canary@canary.example.com/canary?token=canary',
};

/** Both the service and the vendors. */
function break_(fault: object): void {
  service.standin.faults.add(fault);
  for (const { faults } of accounts.values()) faults.add(fault);
}

async function closeOneEach(): Promise<void> {
  for (const { close } of accounts.values()) await close(person());
}

test('a search finds who is written in any form', () => {
  const { email, phone } = { email: 'canary.99+x@example.com', phone: '+372 5557 7099' };
  const written = [email, encodeURIComponent(email), Buffer.from(`{"to":"${email}"}`).toString('base64')];
  written.push(Buffer.from(email).toString('hex'), `to=${encodeURIComponent(phone)}`, phone.replaceAll(' ', ''));
  expect(written.filter((text) => !readings(text).some((reading) => canary.test(reading)))).toEqual([]);
});

test('nobody can be read in anything that is written on a good day (audit leak)', async () => {
  await closeOneEach();
  await untilSettled(1);
  for (const name of accounts.keys()) expect([name, await statesOf(name)]).toEqual([name, ['written']]);
  await until(() => toldOthers.includes('Canary said') && toldOthers.includes('answer.matched'));
  await expectNoCanary('on a good day');
});

const badDays: [what: string, faults: object[]][] = [
  [
    'that fails',
    [
      { status: 500, body: parrot },
      { status: 503, headers, body: '<html>canary.01@example.com</html>' },
    ],
  ],
  ['that is a page', [{ status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Canary Number01</html>' }]],
  ['of another shape', [{ status: 200, headers, body: parrot }]],
  ['that is cut', [{ then: 'cut' }, { then: 'work-then-cut' }]],
  ['that refuses the content', [{ status: 400, headers, body: parrot, times: 3 }]],
];
for (const [at, [what, faults]] of badDays.entries()) {
  test(`nor on a day with many an answer ${what} (audit leak)`, async () => {
    for (const fault of faults) break_({ times: 2, ...fault });
    await closeOneEach();
    await untilSettled(2 + at);
    await expectNoCanary(what);
  });
}

test('nor when strangers and the vendors send what they should not (audit leak)', async () => {
  const post = (path: string, body: string, more: Record<string, string> = {}) =>
    fetch(`${app.url}${path}`, { method: 'POST', body, headers: { 'content-type': 'application/json', ...more } });
  const said: string[] = [];
  for (const name of [...accounts.keys(), 'canary.01@example.com', 'canary']) {
    for (const body of ['{"canary.01@example.com":', '{"email":"canary.01@example.com"}', '']) {
      const signed = { 'x-hubspot-signature-v3': 'canary', 'webhook-id': 'canary', authorization: 'Bearer canary' };
      const answer = await post(`/hooks/${name}?token=canary`, body, signed);
      said.push(JSON.stringify([...answer.headers]), await answer.text());
    }
  }
  for (const path of ['/readyz', '/healthz', '/canary', '/hooks/desk?canary']) {
    const answer = await fetch(`${app.url}${path}`);
    said.push(JSON.stringify([...answer.headers]), await answer.text());
  }
  expect(said.filter((text) => canary.test(text))).toEqual([]);
  await expectNoCanary('after strange deliveries');
});

test('nor when everybody refuses the credentials, and says which (audit leak)', async () => {
  break_({ times: 30, status: 401, headers, body: parrot });
  await closeOneEach();
  await until(async () => {
    const paused = await app.engine.paused();
    return [...accounts.keys()].filter((name) => name in paused).length >= 3;
  });
  expect(JSON.stringify(await app.engine.paused())).not.toMatch(canary);
  await expectNoCanary('when credentials are refused');
});
