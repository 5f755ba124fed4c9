import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { verifyStandardWebhook } from '../../../../core/connector/standard-webhook.ts';
import { serve } from '../../../../standins/kit/server.ts';
import { Alerts } from '../../../../worker/operations/alerts.ts';
import { memoryLog, startLoop, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const Body = z.object({
  type: z.literal('closeloop.alert'),
  data: z.object({
    alerts: z.array(
      z.looseObject({ kind: z.string(), source: z.string(), why: z.string(), remedy: z.string(), count: z.number() }),
    ),
  }),
});
type Sent = { id: string | undefined; genuine: boolean; alerts: z.output<typeof Body>['data']['alerts'] };

/** Somebody who takes alerts, answering with these statuses first and 204 then. */
async function receiver(statuses: number[] = []) {
  const sent: Sent[] = [];
  const server = await serve(({ headers, raw }) => {
    const genuine = verifyStandardWebhook({ headers, raw, receivedAt: new Date() }, [secret]).ok;
    sent.push({ id: headers['webhook-id'], genuine, alerts: Body.parse(JSON.parse(raw.toString())).data.alerts });
    return { status: statuses.shift() ?? 204 };
  });
  onTestFinished(() => server.close());
  return { sent, url: server.url };
}

const settings = { secrets: [secret], again: 86_400_000, digest: false as const };
const alert = { kind: 'paused', source: 'support', why: 'the key was refused', remedy: 'give a new one' } as const;

async function fresh(url: string, now = () => new Date()) {
  await redis.handle.client.flushall();
  return new Alerts(redis.handle.client, { ...settings, url }, { fetch, now }, memoryLog().log);
}

test('it sends what came together as one signed message, equal ones counted', async () => {
  const { sent, url } = await receiver();
  const alerts = await fresh(url);
  for (let i = 0; i < 3; i++) await alerts.raise(alert);
  await alerts.raise({ ...alert, source: 'deals' });
  await alerts.send();
  expect(sent).toMatchObject([{ genuine: true, alerts: expect.any(Array) }]);
  expect(sent[0]?.alerts.map(({ source, count }) => [source, count]).toSorted()).toEqual([
    ['deals', 1],
    ['support', 3],
  ]);
  await alerts.send();
  expect(sent).toHaveLength(1);
});

test('it sends a message again, under the same id, until it is taken, and leaves a receiver that fails alone for longer and longer', async () => {
  const { sent, url } = await receiver([500, 301]);
  let now = new Date('2026-11-21T10:00:00Z');
  const alerts = await fresh(url, () => now);
  await alerts.raise(alert);
  await alerts.send();
  await alerts.raise({ ...alert, why: 'another' });
  for (const [minutes, calls] of [
    [0.9, 1],
    [0.2, 2],
    [1.9, 2],
    [0.2, 3],
    [0, 4],
  ] as const) {
    now = new Date(now.getTime() + minutes * 60_000);
    await alerts.send();
    expect(sent).toHaveLength(calls);
  }
  expect(new Set(sent.slice(0, 3).map(({ id }) => id)).size).toBe(1);
  expect(sent.map(({ alerts: some }) => some.map(({ why }) => why))).toEqual([
    ['the key was refused'],
    ['the key was refused'],
    ['the key was refused'],
    ['another'],
  ]);
});

test('it tells the same again after a day only, with how often it happened', async () => {
  const { sent, url } = await receiver();
  let now = new Date('2026-11-21T10:00:00Z');
  const alerts = await fresh(url, () => now);
  await alerts.raise(alert);
  await alerts.send();
  // The receiver's clock is real, and so the signature too old; what counts here is what comes when.
  for (let i = 0; i < 5; i++) {
    now = new Date(now.getTime() + 60_000);
    await alerts.raise(alert);
  }
  await alerts.send();
  expect(sent).toHaveLength(1);
  now = new Date('2026-11-22T10:00:01Z');
  await alerts.send();
  expect(sent.map(({ alerts: some }) => [some[0]?.count, some[0]?.first])).toEqual([
    [1, '2026-11-21T10:00:00.000Z'],
    [5, '2026-11-21T10:01:00.000Z'],
  ]);
});

test('it tells the same again though the clock was a month ahead when it told it last', async () => {
  const { sent, url } = await receiver();
  let now = new Date('2026-12-21T10:00:00Z');
  const alerts = await fresh(url, () => now);
  await alerts.raise(alert);
  await alerts.send();
  now = new Date('2026-11-21T10:00:00Z');
  await alerts.raise(alert);
  await alerts.send();
  await alerts.raise(alert);
  await alerts.send();
  expect(sent).toHaveLength(2);
});

test('it takes reasons that differ in numbers for one, and sends no more groups at once than a receiver can take', async () => {
  const { sent, url } = await receiver();
  const alerts = await fresh(url);
  for (let i = 0; i < 50; i++)
    await alerts.raise({ ...alert, kind: 'given-up', why: `ticket ${41_960 + i}: 422 (x-${i})` });
  await alerts.send();
  expect(sent[0]?.alerts).toMatchObject([{ count: 50, why: expect.stringMatching(/^ticket \d+: 422/) }]);
  const letters = 'abcdefghijklmnopqrst';
  for (const a of letters) for (const b of letters) await alerts.raise({ ...alert, why: `reason ${a}${b}` });
  for (let i = 0; i < 5; i++) await alerts.send();
  expect(sent.slice(1).map(({ alerts: some }) => some.length)).toEqual([100, 100, 100, 100]);
});

test('it forgets what has been quiet for two days, and nothing that waits to be told', async () => {
  const { sent, url } = await receiver([204, 204]);
  let now = new Date('2026-11-21T10:00:00Z');
  const { client } = redis.handle;
  let duringDelivery = async () => {};
  await client.flushall();
  const fetching: typeof fetch = async (...given) => {
    await duringDelivery();
    return await fetch(...given);
  };
  const ports = { fetch: fetching, now: () => now };
  const alerts = new Alerts(client, { ...settings, url }, ports, memoryLog().log);
  await alerts.raise(alert);
  await alerts.send();
  now = new Date('2026-11-25T10:00:00Z');
  await alerts.raise({ ...alert, why: 'another' });
  duringDelivery = async () => {
    duringDelivery = async () => {};
    await alerts.raise(alert);
  };
  await alerts.send();
  await alerts.send();
  expect(sent.map(({ alerts: some }) => some.map(({ why }) => why))).toEqual([[alert.why], ['another'], [alert.why]]);
  now = new Date('2026-11-29T10:00:00Z');
  await alerts.raise({ ...alert, why: 'a third' });
  await alerts.send();
  expect(await client.hlen('{cl}:alerts:what')).toBe(1);
});

test('it tells of a stopped source, of work given up and of webhooks that were missed', async () => {
  await redis.handle.client.flushall();
  const { sent, url } = await receiver();
  const general = `alerts: { url: "${url}", secrets: ["${secret}"] }`;
  await startLoop(redis, {
    source: 'alerting',
    general,
    rule: '{ name: all, campaign: 999, contact: customer.email }',
  });
  await until(() => sent.length > 0);
  expect(sent[0]).toMatchObject({
    genuine: true,
    alerts: [{ kind: 'paused', source: 'alerting', why: expect.stringMatching(/no campaign 999/) }],
  });
});

test('a reason of one long word is grouped as any other, its characters read once (audit loop)', async () => {
  const { sent, url } = await receiver();
  const alerts = await fresh(url);
  const why = `a file called ${'x'.repeat(300_000)} of request-17 is odd`;
  for (const said of [why, why.replace('17', '18')]) await alerts.raise({ ...alert, why: said });
  await alerts.send();
  expect(sent.map((one) => one.alerts.map(({ count }) => count))).toEqual([[2]]);
});
