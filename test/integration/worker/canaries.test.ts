import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import { serve } from '../../../standins/kit/server.ts';
import { startWebhookStandin } from '../../../standins/webhook/standin.ts';
import type { App } from '../../../worker/cli/app.ts';
import { createLog } from '../../../worker/operations/log.ts';
import { until } from '../../support/loop.ts';
import { useRedis } from '../../support/redis.ts';
import { runHere } from '../../support/run-here.ts';
import { type Person, type StandinAccount, standinAccounts } from '../../support/standin-accounts.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

/*
 * Every person and every secret of this test has a canary in it. The loop runs with all connectors, through good days and bad
 * ones on which everybody who answers repeats what was sent; then everything that was written is searched.
 */

const redis = useRedis();
/** What every e-mail address, name, comment and secret begins with; phone numbers have digits of their own. */
const canary = /canary|555770\d\d/i;
const signing = (name: string) => `whsec_${Buffer.from(`canary-of-${name}`.padEnd(32, '.')).toString('base64')}`;

/** A due time of BullMQ, milliseconds times 4096: longer than any phone number, and at some moments with the digits of one. */
const bullScore = /^\d{16}$/;

type Account = Omit<StandinAccount, 'standin' | 'agent' | 'gradeOn'> & {
  standin: Pick<StandinAccount['standin'], 'faults'>;
};
let people = 0;
const person = (): Person => {
  const n = String(++people).padStart(2, '0');
  return { name: `Canary Number${n}`, email: `canary.${n}+x@example.com`, phone: `+372 5557 70${n}` };
};

async function webhook(): Promise<Account> {
  const { url, standin, close: stop } = await startWebhookStandin();
  const secret = signing('webhook');
  return {
    ...{ standin, stop, contact: 'customer.email', who: 'title' },
    settings: {
      connector: 'webhook',
      signature: { kind: 'standard', secrets: [secret] },
      event: { record: 'data.job.id', closed: 'type = "job.done"', person: 'data.customer.id', shape: 'data' },
    },
    writeBack: {
      ...{ url: `${url}/answers?token=canary`, secrets: [standin.answerSecret], allowPrivate: true },
      include: ['comment', 'answers'],
    },
    listen: (hook) => standin.setHook({ url: hook, secret }),
    add: async ({ name, email }) => {
      const customer = { email, id: `customer ${name}` };
      return standin.addJob({ id: `job of ${email}`, title: `Call ${name}`, customer }).id;
    },
    close: (ids: string[]) => Promise.all(ids.map((id) => standin.finish(id))),
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
  const { zendesk, hubspot, shopify, woocommerce, intercom, freshdesk } = standinAccounts;
  accounts = new Map([
    ['desk', await zendesk('canary')],
    ['crm', await hubspot('canary')],
    ['shop', await shopify('canary')],
    ['store', await woocommerce('canary')],
    ['inbox', await intercom('canary')],
    ['helpdesk', await freshdesk('canary')],
    ['jobs', await webhook()],
  ]);
  const alsoWritten: Record<string, object> = {
    ...{ desk: { note: true, tags: true }, shop: { note: true }, store: { note: true } },
    ...{ inbox: { note: true }, helpdesk: { note: true } },
  };
  const sources = [...accounts].map(([name, { settings, writeBack, contact, who }]) => {
    const rule = `{ name: all, campaign: ${campaign}, contact: '${contact}', fields: { Who: '${who}' } }`;
    const query = name === 'store' ? { auth: 'query' } : {};
    const all = { ...settings, ...query, writeBack: { ...writeBack, ...alsoWritten[name] } };
    return `  ${name}: ${JSON.stringify(all).slice(0, -1)}, "rules": [${rule}] }`;
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
  const log = createLog({ pretty: false, level: 'debug', stream });
  ({ app } = await runHere(redis, text, { log, batchWindowMs: 10, sweepEveryMs: 300 }));
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
      .filter((text) => !bullScore.test(text))
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
  for (const { standin } of accounts.values()) standin.faults.add(fault);
}

async function closeOneEach(): Promise<void> {
  for (const { add, close } of accounts.values()) await close([await add(person())]);
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
