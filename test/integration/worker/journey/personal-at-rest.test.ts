import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { connectors } from '../../../../connectors/index.ts';
import { signStandardWebhook } from '../../../../core/connector/standard-webhook.ts';
import { startFeedbackStandin } from '../../../../standins/feedback/standin.ts';
import { serve } from '../../../../standins/kit/server.ts';
import { type App, run } from '../../../../worker/cli/app.ts';
import { loadConfig } from '../../../../worker/config/config.ts';
import type { Journey } from '../../../../worker/journey/journey.ts';
import { liveClock } from '../../../../worker/pipeline/clock.ts';
import { memoryLog, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
const secret = `whsec_${Buffer.alloc(32, 'jobs to us').toString('base64')}`;
const campaign = 42;
const values = { Shop: 'Kaubamaja am Ring', Agent: 'Liis Tamm' };
const comment = 'Väga hea teenindus, aitäh!';

let service: Awaited<ReturnType<typeof startFeedbackStandin>>;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let app: App;
let memory: ReturnType<typeof memoryLog>;

beforeEach(async () => {
  await redis.handle.client.flushall();
  service = await startFeedbackStandin({ seed: true });
  receiver = await startReceiver();
  const customFields = [{ name: 'closeloop' }, { name: 'Shop' }, { name: 'Agent' }];
  service.standin.addCampaign({ account: 'acme', id: campaign, name: 'After the job', type: 'mixed', customFields });
  const text = `
feedback: { baseUrl: "${service.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
policy: { sms: { from: "00:00", until: "24:00" } }
http: { port: 0 }
collect: { every: 200ms }
sources:
  jobs:
    connector: webhook
    signature: { kind: standard, secrets: ["${secret}"] }
    event:
      id: id
      record: record
      closed: type = "done"
      person: person
      shape: $
      erase: { when: type = "forget", contacts: contact }
    writeBack: { url: "${receiver.url}", secrets: ["${secret}"], allowPrivate: true }
    rules:
      - { name: all, campaign: ${campaign}, contact: contact, fields: { Shop: shop, Agent: agent } }
`;
  const { handle } = redis;
  const config = loadConfig(text, { env: {}, connectors });
  memory = memoryLog();
  const runtime = { config, handle, redis: handle.client, close: async () => undefined };
  const timing = { batchWindowMs: 10, sweepEveryMs: 200 };
  app = await run(runtime, { role: 'all', clock: liveClock, log: memory.log, ...timing });
});

afterEach(async () => {
  await app?.close();
  await Promise.all([service?.close(), receiver?.close()]);
});

/** Takes the answers that are written back. */
async function startReceiver() {
  const records: string[] = [];
  const server = await serve(({ raw }) => {
    records.push(Written.parse(JSON.parse(raw.toString())).data.record);
    return { status: 204 };
  });
  return { url: `${server.url}/answers`, records, close: () => server.close() };
}
const Written = z.object({ data: z.object({ record: z.string() }) });

let deliveries = 0;
async function deliver(body: object): Promise<void> {
  const text = JSON.stringify(body);
  const headers = signStandardWebhook({ id: `msg_${++deliveries}`, at: new Date(), body: text }, [secret]);
  const answer = await fetch(`${app.url}/hooks/jobs`, {
    method: 'POST',
    body: text,
    headers: { 'content-type': 'application/json', ...headers },
  });
  expect(answer.status).toBe(202);
}

/** Everything that Redis holds, names of keys and fields included. */
async function everything(): Promise<string> {
  const { client } = redis.handle;
  const texts: string[] = [];
  for (const key of await client.keys('*')) {
    const kind = await client.type(key);
    const held = {
      string: () => client.get(key),
      hash: () => client.hgetall(key),
      list: () => client.lrange(key, 0, -1),
      set: () => client.smembers(key),
      zset: () => client.zrange(key, '0', '-1'),
      stream: () => client.xrange(key, '-', '+'),
      // It ended meanwhile.
      none: () => null,
    }[kind];
    if (!held) expect.fail(`${key} is a ${kind}`);
    texts.push(key, JSON.stringify(await held()));
  }
  return texts.join('\n');
}

/** As it might stand there, and what anybody could compute from it. */
function formsOf(text: string): string[] {
  const spellings = [text, text.toLowerCase(), encodeURIComponent(text), text.replaceAll(' ', ''), `contact:${text}`];
  const digests = spellings.flatMap((one) =>
    (['hex', 'base64', 'base64url'] as const).map((form) => createHash('sha256').update(one).digest(form).slice(0, 20)),
  );
  return [...spellings.slice(0, 4), JSON.stringify(text).slice(1, -1), ...digests];
}

async function expectNothingOf(texts: readonly string[], when: string): Promise<void> {
  const held = (await everything()).toLowerCase();
  const found = texts.filter((text) => formsOf(text).some((form) => held.includes(form.toLowerCase())));
  expect(found, when).toEqual([]);
  const logged = JSON.stringify(memory.told).toLowerCase();
  expect(
    texts.filter((text) => logged.includes(text.toLowerCase())),
    `log, ${when}`,
  ).toEqual([]);
}

const people: [what: string, record: string, contact: string][] = [
  ['an e-mail address', 'Anna.Kask+home@example.com', 'anna.kask+home@example.com'],
  ['a phone number', '+372 5551 2345', '+372 5551 2345'],
  ['a number', '41960', 'anna.kask+home@example.com'],
];

for (const [what, record, contact] of people) {
  test(`nothing personal can be read in Redis of a record that is called by ${what}, nor found when its person is erased (audit 8)`, async () => {
    const { context, jobs } = app.engine.pipelines.get('jobs') ?? expect.fail('no pipeline');
    const called = record === '41960' ? [] : [record];
    const person = 'customer Anna Kask';
    const secrets = [...called, contact, person, ...Object.values(values), comment];
    const done = { type: 'done', id: record, record, person, contact, shop: values.Shop, agent: values.Agent };

    await jobs.plan.queue.pause();
    await deliver(done);
    await expectNothingOf(secrets, 'while the closing waits to be planned');
    await jobs.plan.queue.resume();
    const [request] = await until(() => {
      const all = service.standin.requests({ campaign });
      return all.length > 0 && all;
    });
    await expectNothingOf(secrets, 'once asked');
    service.standin.answer({ request: request?.id ?? 0, grade: 5, comment });
    await until(() => receiver.records.length > 0);
    expect(receiver.records).toEqual([record]);
    const journeys = async () => {
      const all: Journey[] = [];
      for await (const one of context.store.queries.all()) all.push(one);
      return all;
    };
    await until(async () => (await journeys())[0]?.state === 'written');
    expect(await journeys()).toMatchObject([{ contact: {}, values, answer: { grade: 5, comment } }]);
    await expectNothingOf(secrets, 'once written back');

    await jobs.erase.queue.pause();
    await deliver({ type: 'forget', id: `forget ${record}`, record, person, contact });
    await expectNothingOf(secrets, 'while the erasure waits');
    await jobs.erase.queue.resume();
    await until(async () => (await context.erasures.all())[0]?.writtenAnswers?.startsWith('left at'));
    expect(await journeys()).toMatchObject([{ erasedAt: expect.any(Date) }]);
    expect(service.standin.requests({ campaign }).map(({ email, phone }) => email ?? phone)).not.toContain(contact);
    await expectNothingOf(secrets, 'once erased');
    // Nor with the key: nothing that was sealed is left of them.
    const [left] = await journeys();
    expect(left).toBeDefined();
    for (const name of ['contact', 'values', 'personId', 'answer']) expect(left).not.toHaveProperty(name);
    expect(await context.snapshots.of([left?.recordId ?? ''])).toEqual([undefined]);
    // It was told to forget the record, by the id that it knows.
    expect(receiver.records).toEqual([record, record]);
    await deliver({ ...done, id: `${record} again` });
    await expectNothingOf(secrets, 'when another event comes');
  });
}
