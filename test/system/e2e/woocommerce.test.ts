import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectors } from '../../../connectors/index.ts';
import { startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import { startWooCommerceStandin } from '../../../standins/woocommerce/standin.ts';
import { type App, run } from '../../../worker/cli/app.ts';
import { loadConfig } from '../../../worker/config/config.ts';
import type { JourneyState } from '../../../worker/journey/journey.ts';
import { liveClock } from '../../../worker/pipeline/clock.ts';
import { tagOf } from '../../../worker/redis/keys.ts';
import { commandHere } from '../../support/command-here.ts';
import { freePort } from '../../support/free-port.ts';
import { memoryLog, type Told, until } from '../../support/loop.ts';
import { useRedis } from '../../support/redis.ts';

const redis = useRedis();
const secret = 'wcE2eSecretOfFortyLettersAndDigits012345';
const minute = 60_000;

/** The shop's clock is ours, and this. */
let offsetMs = 0;
let feedback: Awaited<ReturnType<typeof startFeedbackStandin>>;
let shop: Awaited<ReturnType<typeof startWooCommerceStandin>>;
let app: App;
let told: Told[];
let config: string;
let dir: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'closeloop-woocommerce-'));
  config = join(dir, 'closeloop.yaml');
  feedback = await startFeedbackStandin({ seed: true });
  const customFields = [{ name: 'Store' }, { name: 'Agent' }, { name: 'closeloop' }];
  feedback.standin.addCampaign({ account: 'acme', id: 40, name: 'After delivery', type: 'mixed', customFields });
  shop = await startWooCommerceStandin({ now: () => new Date(Date.now() + offsetMs) });
  const port = await freePort();
  writeFileSync(
    config,
    `
feedback: { baseUrl: "${feedback.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
policy: { sms: { from: "00:00", until: "24:00" } }
redis: { path: ${redis.socket} }
secretsKey: ${Buffer.alloc(32, 1).toString('base64')}
http: { port: ${port}, publicUrl: "http://127.0.0.1:${port}" }
poll: { every: 300ms }
collect: { every: 300ms }
sources:
  shop:
    connector: woocommerce
    site: ${shop.url}
    consumerKey: ck_standin
    consumerSecret: cs_standin
    webhookSecrets: [${secret}]
    rules:
      - { name: furniture, when: order.meta.kind = "furniture", campaign: 40, contact: customer.email, fields: &fields { Store: shipping.city, Agent: order.createdVia }, delay: 2h }
      - { name: all, campaign: 40, contact: [customer.phone, customer.email], fields: *fields }
    writeBack: { grade: feedback_grade, comment: feedback_comment, answeredAt: feedback_at, status: feedback_status, note: true }
`,
  );
  const { handle } = redis;
  // This shop has been looked after for an hour.
  await handle.client.hset(`${tagOf('shop')}:poll`, 'since', Date.now() - 60 * minute);
  const memory = memoryLog();
  told = memory.told;
  const runtime = {
    config: loadConfig(readFileSync(config, 'utf8'), { env: {}, connectors }),
    handle,
    redis: handle.client,
    close: async () => undefined,
  };
  app = await run(runtime, { role: 'all', clock: liveClock, log: memory.log, sweepEveryMs: 200 });
});

afterAll(async () => {
  await app?.close();
  await shop?.close();
  await feedback?.close();
  rmSync(dir, { recursive: true, force: true });
});

function order(name: string, meta: Record<string, string> = {}): number {
  const address = { email: `${name}@example.com`, first_name: name, city: 'Tartu', country: 'EE' };
  return shop.standin.addOrder({ billing: address, shipping: { city: 'Tartu', country: 'EE' }, meta }).id;
}

const context = () => app.engine.pipelines.get('shop')?.context ?? expect.fail('no pipeline');
const store = () => context().store;
const journeyIn = (id: number, state: JourneyState) =>
  until(async () => {
    const journey = await store().get(`${id}.1`);
    return journey?.state === state ? journey : undefined;
  });
const hooks = () => `${app.url}/hooks/shop`;

test('setup makes the webhooks, and check then finds nothing', async () => {
  const before = await commandHere(['check', '--config', config, '--json']);
  expect([before.code, before.out]).toEqual([1, expect.stringContaining('no webhook of the topic order.updated')]);
  const made = await commandHere(['setup', '--config', config, '--yes']);
  expect([made.code, made.err]).toEqual([0, expect.stringContaining('create a webhook of the topic order.updated')]);
  expect(shop.standin.webhooks()).toMatchObject([
    { topic: 'order.updated', deliveryUrl: hooks(), secret },
    { topic: 'order.deleted', deliveryUrl: hooks(), secret },
  ]);
  const after = await commandHere(['check', '--config', config, '--json']);
  expect([after.code, after.out]).toEqual([0, expect.stringMatching(/"findings":\[\]/)]);
  expect((await commandHere(['setup', '--config', config, '--yes'])).err).toContain('Nothing to do');
});

test('the ping of a saved webhook is answered 200, a bad signature 401', async () => {
  const ping = await fetch(hooks(), { method: 'POST', body: new URLSearchParams({ webhook_id: '7' }) });
  expect(ping.status).toBe(200);
  const headers = { 'content-type': 'application/json', 'x-wc-webhook-signature': 'AAAA' };
  expect((await fetch(hooks(), { method: 'POST', body: '{}', headers })).status).toBe(401);
});

test('a refund cancels the request that waits', async () => {
  const id = order('anna', { kind: 'furniture' });
  const [delivery] = await shop.standin.complete(id);
  expect(delivery).toMatchObject({ delivered: true, status: 200 });
  await journeyIn(id, 'waiting');
  await shop.standin.refund({ id });
  expect(await journeyIn(id, 'cancelled')).toMatchObject({ why: 'the order was refunded' });
});

test('a second order is asked about, its grade written, and a changed grade again, without an echo', async () => {
  const id = order('bert');
  await shop.standin.complete(id);
  const { requestId } = await journeyIn(id, 'asked');
  const request = Number(requestId);
  await until(() => feedback.standin.requests().some((one) => one.id === request && one.sentAt));
  feedback.standin.answer({ request, grade: 5, comment: 'Fast <b>and</b> good' });
  await until(() => shop.standin.order(id).values.feedback_grade === '5');
  feedback.standin.answer({ request, grade: 2, comment: 'It broke' });
  await until(() => shop.standin.order(id).values.feedback_grade === '2' && shop.standin.order(id).notes.length === 2);
  await journeyIn(id, 'written');
  expect(shop.standin.order(id)).toMatchObject({
    values: { feedback_comment: 'It broke', feedback_status: 'answered' },
    mails: 0,
    recalculations: 0,
  });
  await shop.standin.idle();
  expect(await store().get(`${id}.2`)).toBeUndefined();
  expect(feedback.standin.requests({ contact: 'bert@example.com' })).toHaveLength(1);
  expect(shop.standin.webhooks().map(({ failures }) => failures)).toEqual([0, 0]);
});

test('a customer who is to be forgotten is masked at the service, gone here and from the order, with proof', async () => {
  const id = order('dora');
  await shop.standin.complete(id);
  const { requestId } = await journeyIn(id, 'asked');
  const request = Number(requestId);
  await until(() => feedback.standin.requests().some((one) => one.id === request && one.sentAt));
  feedback.standin.answer({ request, grade: 1, comment: 'My neighbour took it' });
  await journeyIn(id, 'written');
  // WooCommerce tells nobody of it: a person does.
  const masked = await commandHere(['contact', 'mask', 'dora@example.com', '--yes', '--config', config, '--json']);
  expect(masked.code, masked.err).toBe(0);
  const proof = await until(async () => (await context().erasures.all()).find(({ copies }) => copies === 'none left'));
  expect(proof).toMatchObject({ journeys: 1, contacts: 1 });
  expect(feedback.standin.requests().find((one) => one.id === request)).toMatchObject({ masked: true });
  const gone = await store().get(`${id}.1`);
  expect(gone?.erasedAt).toBeInstanceOf(Date);
  expect(JSON.stringify([gone, proof, told])).not.toMatch(/dora@example|neighbour/);
  const { values, notes } = shop.standin.order(id);
  expect([Object.keys(values).filter((key) => key.startsWith('feedback_')), notes]).toEqual([[], []]);
});

test('an order that no webhook reported is found by the poll, which switches the webhook on again', async () => {
  const [webhook] = shop.standin.webhooks();
  shop.standin.changeWebhook({ id: webhook?.id ?? 0, status: 'disabled' });
  // Completed a while ago: a webhook would have reported it by now.
  offsetMs = -5 * minute;
  const id = order('carl');
  await shop.standin.complete(id);
  await journeyIn(id, 'asked');
  expect((await store().get(`${id}.1`))?.state).toBe('asked');
  expect(shop.standin.webhooks()[0]?.status).toBe('disabled');
  offsetMs = 25 * 60 * minute;
  await until(() => shop.standin.webhooks()[0]?.status === 'active');
  // Told when the shop has answered, a moment later.
  const onAgain = await until(() => told.find(({ message }) => /it is on again/.test(message)));
  expect(onAgain).toMatchObject({
    level: 'warn',
    fields: { site: shop.url, webhook: String(webhook?.id), topic: 'order.updated' },
  });
  expect(told.filter(({ level }) => level === 'error')).toEqual([]);
});
