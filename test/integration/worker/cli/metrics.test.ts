import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CloseloopError } from '../../../../core/errors.ts';
import { createAdmin } from '../../../../worker/intake/admin.ts';
import { createMetrics, type Measured } from '../../../../worker/operations/prometheus.ts';
import { createBudget, remainingQuotas } from '../../../../worker/redis/budget.ts';
import { startLoop, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { scrape } from '../../../support/worker/operations/scrape.ts';

const redis = useRedis();
let sources = 0;
const fresh = () => `metered-${++sources}`;

async function startMetered(general = '') {
  const source = fresh();
  const loop = await startLoop(redis, { source, general: `admin: { port: 0 }\n${general}` });
  const look = () => scrape(loop.app.adminUrl);
  /** Waits until the series has this value. */
  const shows = (series: string, value: number) => until(async () => (await look()).of(series) === value);
  return { source, loop, look, shows };
}

describe('the metrics of a process', () => {
  test('they count a journey from its delivery to its grade on the record', async () => {
    const { source, loop, look, shows } = await startMetered();
    const before = await look();
    expect(before.of(`closeloop_deliveries_total{source="${source}",result="accepted"}`)).toBe(0);
    expect(before.of(`closeloop_creates_total{source="${source}",result="created"}`)).toBe(0);

    await loop.post(loop.vendor.close('m1').delivery);
    await loop.post('{}', { 'x-toy-secret': 'bad' });
    await loop.post('{}', {}, 'nobody');
    await loop.journey('m1.1', 'asked');
    loop.feedback.standin.answer({ contact: 'm1@example.com', grade: 4, comment: 'Thanks' });
    await loop.journey('m1.1', 'written');
    await shows(`closeloop_jobs_total{source="${source}",step="write-back",result="done"}`, 1);

    const { of, text } = await look();
    const counted = {
      deliveries: of(`closeloop_deliveries_total{source="${source}",result="accepted"}`),
      unauthorized: of(`closeloop_deliveries_total{source="${source}",result="unauthorized"}`),
      strangers: of('closeloop_deliveries_total{source="unknown",result="rejected"}'),
      created: of(`closeloop_creates_total{source="${source}",result="created"}`),
      create: of('closeloop_service_calls_total{operation="create",result="ok"}'),
      late: of(`closeloop_asking_lateness_seconds_count{source="${source}"}`),
      written: of(`closeloop_write_backs_total{source="${source}",result="written"}`),
      grades: of(`closeloop_grades_total{source="${source}",grade="4"}`),
      writes: of(`closeloop_vendor_calls_total{source="${source}",operation="writeBack",result="ok"}`),
      plans: of(`closeloop_step_duration_seconds_count{source="${source}",step="plan"}`),
      stored: of(`closeloop_journeys{source="${source}",state="written"}`),
      redis: of('closeloop_redis_up'),
    };
    const once = Object.fromEntries(Object.keys(counted).map((name) => [name, 1]));
    expect(counted).toEqual(once);
    expect(text).not.toMatch(/m1|example\.com|Thanks/);
  });

  test('they show a step that is stopped, since when its work waits, and that it goes on', async () => {
    const { source, loop, shows, look } = await startMetered();
    const pipeline = loop.app.engine.pipelines.get(source);
    if (!pipeline) throw new Error('the loop has its source');
    await pipeline.jobs.plan.queue.pause();
    await pipeline.pauses.set('plan', 'the key is refused');
    await loop.post(loop.vendor.close('m2').delivery);
    const { of } = await look();
    expect(of(`closeloop_stopped{source="${source}",step="plan"}`)).toBe(1);
    expect(of(`closeloop_queue_jobs{source="${source}",step="plan",state="waiting"}`)).toBe(1);
    expect(of(`closeloop_oldest_waiting_job_age_seconds{source="${source}",step="plan"}`)).toBeGreaterThan(0);
    // A sweep that is under way may find the queue paused, and tell of it once more.
    await until(async () => {
      await pipeline.pauses.clear([pipeline.jobs.plan.queue]);
      return (await look()).of(`closeloop_stopped{source="${source}",step="plan"}`) === 0;
    });
    await shows(`closeloop_queue_jobs{source="${source}",step="plan",state="waiting"}`, 0);
    await shows(`closeloop_oldest_waiting_job_age_seconds{source="${source}",step="plan"}`, 0);
  });

  test('they count work that is given up, and calls by how they ended', async () => {
    const { source, loop, shows } = await startMetered('retry: { for: 1ms }');
    const tired = (throttled: boolean) =>
      new CloseloopError('the toy is tired', { kind: 'transient', retryAfterMs: 20, throttled });
    loop.vendor.failures.read.push(tired(true), tired(false), tired(false));
    await loop.post(loop.vendor.close('m3').delivery);
    await shows(`closeloop_jobs_total{source="${source}",step="plan",result="given-up"}`, 1);
    await shows(`closeloop_vendor_calls_total{source="${source}",operation="read",result="throttled"}`, 1);
    await shows(`closeloop_vendor_calls_total{source="${source}",operation="read",result="transient"}`, 2);
  });

  test('they show what is left of a quota, and forget it when its window ends', async () => {
    const { handle } = redis;
    const ports = { now: () => new Date(), sleep: async () => undefined };
    const budget = createBudget(handle.client, { account: 'quotas' }, ports);
    await budget.reportRemaining({ limit: 700, remaining: 650, resetMs: 60_000 });
    await budget.reportRemaining({ limit: 5_000, remaining: 10, resetMs: 60_000 }, 'daily');
    await budget.reportRemaining({ limit: 4, remaining: 4, resetMs: 1 }, 'search');
    await budget.take();
    await until(async () => (await remainingQuotas(handle.client, 'quotas', new Date())).length === 2);
    const quotas = await remainingQuotas(handle.client, 'quotas', new Date());
    expect(quotas.sort((a, b) => a.limit - b.limit)).toEqual([
      { quota: 'calls', limit: 700, remaining: 649 },
      { quota: 'daily', limit: 5_000, remaining: 9 },
    ]);
  });

  test('they tell that Redis is away, and nothing as it was', async () => {
    const measured: Measured = {
      sources: [{ source: 'shop', journeys: { waiting: 3 }, overdueSeconds: 0, quotas: [] }],
      queues: [],
      stopped: [],
    };
    const answers = [Promise.resolve(measured), Promise.reject(new Error('away'))];
    const measure = () => answers.shift() ?? Promise.reject(new Error('away'));
    const { scrape: look } = createMetrics({ version: '1.0.0', role: 'all', sources: ['shop'], measure });
    expect((await look()).text).toMatch(
      /closeloop_redis_up 1[\s\S]*closeloop_journeys\{source="shop",state="waiting"\} 3/,
    );
    const { text } = await look();
    expect(text).toMatch(/closeloop_redis_up 0/);
    expect(text).not.toMatch(/closeloop_journeys\{/);
  });
});

describe('who may see them', () => {
  const shown = { type: 'text/plain; version=0.0.4', text: 'closeloop_redis_up 1\n' };
  const ask = async (host: string, tokens: string[] | undefined, authorization?: string) => {
    const health = { tryToStore: () => [], paused: async () => ({}), now: () => new Date() };
    const app = createAdmin({ ...health, host, tokens, scrape: async () => shown });
    const headers = authorization === undefined ? {} : { authorization };
    const { statusCode, body } = await app.inject({ url: '/metrics', headers });
    await app.close();
    return [statusCode, statusCode === 200 ? body : JSON.parse(body).error];
  };
  const tokens = ['0123456789abcdef', 'fedcba9876543210'];
  const rows: [
    what: string,
    host: string,
    tokens: string[] | undefined,
    authorization: string | undefined,
    status: number,
  ][] = [
    ['anybody on this machine', '127.0.0.1', undefined, undefined, 200],
    ['anybody on this machine, over IPv6', '::1', undefined, undefined, 200],
    ['nobody on the network without credentials', '0.0.0.0', undefined, undefined, 403],
    ['nobody on the network without credentials, whatever is sent', '10.0.0.7', undefined, 'Bearer x', 403],
    ['who sends the token', '0.0.0.0', tokens, 'Bearer 0123456789abcdef', 200],
    ['who sends the other token', '0.0.0.0', tokens, 'bearer fedcba9876543210', 200],
    ['nobody with a wrong token', '0.0.0.0', tokens, 'Bearer 0123456789abcdeF', 401],
    ['nobody with a part of a token', '0.0.0.0', tokens, 'Bearer 0123456789abcde', 401],
    ['nobody without a token, also on this machine', '127.0.0.1', tokens, undefined, 401],
    ['nobody by a scheme of another kind', '127.0.0.1', tokens, 'Basic 0123456789abcdef', 401],
  ];
  test.each(rows)('%s', async (_what, host, wanted, authorization, status) => {
    const [code, body] = await ask(host, wanted, authorization);
    expect(code).toBe(status);
    if (status === 200) expect(body).toBe(shown.text);
    else expect(body).toMatch(/admin\.tokens/);
  });

  const names: [what: string, tokens: string[] | undefined, headers: Record<string, string>, status: number][] = [
    ['under a name of this machine', undefined, { host: 'localhost:8081' }, 200],
    ['not under the name of a site that leads here', undefined, { host: 'evil.example' }, 421],
    ['not under that name with the port', undefined, { host: 'evil.example:8081' }, 421],
    ['not to what a proxy passes on', undefined, { host: 'localhost:8081', 'x-forwarded-for': '192.0.2.7' }, 421],
    ['under any name to who sends a token', tokens, { host: 'm.example', authorization: `Bearer ${tokens[0]}` }, 200],
  ];
  test.each(names)('anybody on this machine, %s', async (_what, wanted, headers, status) => {
    const health = { tryToStore: () => [], paused: async () => ({}), now: () => new Date() };
    const app = createAdmin({ ...health, host: '127.0.0.1', tokens: wanted, scrape: async () => shown });
    for (const url of ['/metrics', '/healthz', '/readyz'])
      expect([url, (await app.inject({ url, headers })).statusCode]).toEqual([url, status]);
    const malformed = await app.inject({ url: '/%zz', headers });
    expect(malformed.statusCode).toBe(status === 421 ? 421 : 400);
    await app.close();
  });

  test('the address of deliveries shows none', async () => {
    const { loop } = await startMetered();
    expect((await fetch(`${loop.app.url}/metrics`)).status).toBe(404);
  });
});

test('the documentation has a row for every metric, with its type and what it means', async () => {
  const measure = async () => ({ sources: [], queues: [], stopped: [] });
  const { scrape: look } = createMetrics({ version: '1.0.0', role: 'all', sources: [], measure });
  const { text } = await look();
  const types = new Map(
    [...text.matchAll(/^# TYPE (closeloop_\S+) (\w+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  );
  const helps = [...text.matchAll(/^# HELP (closeloop_\S+) (.*)$/gm)].map(([, name = '', help = '']) => [
    name,
    types.get(name),
    help,
  ]);
  const page = readFileSync(new URL('../../../../docs/monitoring.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `(closeloop_\w+)` \| (\w+) \|[^|]*\| (.*) \|$/gm)];
  expect(rows.map(([, name, type, help]) => [name, type, help])).toEqual(helps);
});
