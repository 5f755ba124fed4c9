import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { CloseloopError } from '../../../core/errors.ts';
import { ifStill } from '../../../worker/journey/transitions.ts';
import { createBudget } from '../../../worker/redis/budget.ts';
import { freePort } from '../../support/free-port.ts';
import { type Loop, startLoop, until } from '../../support/loop.ts';
import { findPrometheus, startPrometheus } from '../../support/prometheus.ts';
import { useRedis } from '../../support/redis.ts';
import { startService } from '../../support/service.ts';
import { ToyVendor } from '../../support/toy-connector.ts';
import { scrape } from '../../support/worker/operations/scrape.ts';

const run = promisify(execFile);
const redis = useRedis();
const file = resolve(import.meta.dirname, '../../../deploy/prometheus/alerts.yml');
const rules = readFileSync(file, 'utf8');
const Rules = z.object({ groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string() })) })) });
const names = Rules.parse(parse(rules)).groups.flatMap((group) => group.rules.map(({ alert }) => alert));

/** What the tests make shorter in their copy of the rules, so that an incident takes seconds. */
const shorter: [written: RegExp, instead: string][] = [
  [/for: \d+m/g, 'for: 0s'],
  [/\[\d+m\]/g, '[8s]'],
  [/_age_seconds\) > \d+/g, '_age_seconds) > 2'],
];
const quickRules = shorter.reduce((text, [written, instead]) => text.replaceAll(written, instead), rules);

/** promtool, with what it is given on its standard input. */
async function promtool(args: readonly string[], input = ''): Promise<string> {
  const { promtool: tool } = await findPrometheus();
  const running = run(tool, [...args]);
  running.child.stdin?.end(input);
  const { stdout, stderr } = await running;
  return stdout + stderr;
}

test('promtool takes the rules, and they do what they say in time', async () => {
  expect(await promtool(['check', 'rules', file])).toMatch(/SUCCESS: \d+ rules found/);
  expect(await promtool(['test', 'rules', resolve(import.meta.dirname, 'alerts.promtool.yml')])).toMatch(/SUCCESS/);
  const folder = await mkdtemp(join(tmpdir(), 'closeloop-rules-'));
  await writeFile(join(folder, 'quick.yml'), quickRules);
  expect(await promtool(['check', 'rules', join(folder, 'quick.yml')])).toMatch(/SUCCESS/);
  await rm(folder, { recursive: true });
});

test('the dashboard asks what Prometheus understands, of metrics that there are', async () => {
  const Panels = z.object({ panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })) })) });
  const text = readFileSync(resolve(import.meta.dirname, '../../../deploy/grafana/closeloop.json'), 'utf8');
  const queries = Panels.parse(JSON.parse(text)).panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const page = readFileSync(resolve(import.meta.dirname, '../../../docs/monitoring.md'), 'utf8');
  const documented = new Set([...page.matchAll(/^\| `(closeloop_\w+)`/gm)].map(([, name]) => name));
  const asked = new Set([...text.matchAll(/closeloop_\w+/g)].map(([name]) => name.replace(/_bucket$/, '')));
  expect([...asked].filter((name) => !documented.has(name))).toEqual([]);
  // Grafana puts its own values in for these.
  const rulesOf = (expr: string, i: number) => ({
    record: `dashboard:query${i}`,
    expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$source', 'support'),
  });
  const folder = await mkdtemp(join(tmpdir(), 'closeloop-dashboard-'));
  await writeFile(
    join(folder, 'queries.yml'),
    JSON.stringify({ groups: [{ name: 'all', rules: queries.map(rulesOf) }] }),
  );
  expect(await promtool(['check', 'rules', join(folder, 'queries.yml')])).toMatch(/SUCCESS/);
  await rm(folder, { recursive: true });
});

/** Something goes wrong, of which these alerts tell; and what mends it. */
interface Incident {
  alerts: readonly string[];
  happens: () => Promise<void>;
  mended: () => Promise<void>;
}

const nothing = async (): Promise<void> => undefined;

test('a real Prometheus scrapes it; each alert fires in its incident, and clears', async () => {
  const port = await freePort();
  const feedback = await startService();
  const vendor = Object.assign(new ToyVendor(), { account: 'watched' });
  const start = () =>
    startLoop(redis, {
      source: 'watched',
      vendor,
      feedback,
      // What fails is given up at its second attempt, where that is wanted.
      general: `admin: { port: ${port} }\nretry: { for: 1ms }`,
      // A sweep would let a job of a stopped stage through, which succeeds here, and so end the stop.
      sweepEveryMs: 3_600_000,
    });
  const running: { loop: Loop } = { loop: await start() };
  const prometheus = await startPrometheus(quickRules, [`127.0.0.1:${port}`]);
  onTestFinished(() => prometheus.stop());
  await until(async () => (await prometheus.targets()).every(({ health }) => health === 'up'));
  expect(await promtool(['check', 'metrics'], (await scrape(running.loop.app.adminUrl)).text)).toBe('');
  expect(await prometheus.firing()).toEqual([]);

  const pipeline = () => running.loop.app.engine.pipelines.get('watched') ?? expect.fail('there is the source');
  const tired = () => new CloseloopError('the toy is tired', { kind: 'transient', retryAfterMs: 20 });
  let closings = 0;
  const close = async (): Promise<string> => {
    closings += 1;
    await running.loop.post(vendor.close(`w${closings}`).delivery);
    return `w${closings}`;
  };
  const askedOf = async (id: string) => await running.loop.journey(`${id}.1`, 'asked');
  const budget = createBudget(
    redis.handle.client,
    { account: 'toy:watched' },
    { now: () => new Date(), sleep: nothing },
  );
  const stop = async (stage: 'plan' | 'ask') => {
    await pipeline().jobs[stage].queue.pause();
    await pipeline().pauses.set(stage, 'the key is refused');
    await close();
  };
  const resume = async (stage: 'plan' | 'ask') => {
    await pipeline().pauses.clear([pipeline().jobs[stage].queue]);
    await askedOf(`w${closings}`);
  };

  const incidents: Incident[] = [
    {
      alerts: ['CloseloopStopped', 'CloseloopWorkWaits'],
      happens: () => stop('plan'),
      mended: () => resume('plan'),
    },
    { alerts: ['CloseloopAskingLate'], happens: () => stop('ask'), mended: () => resume('ask') },
    {
      alerts: ['CloseloopDeliveriesRefused'],
      happens: async () => {
        for (let i = 0; i < 20; i++) await running.loop.post('{}', { 'x-toy-secret': 'bad' });
      },
      mended: nothing,
    },
    {
      alerts: ['CloseloopRedisAway', 'CloseloopDeliveriesNotStored'],
      happens: async () => {
        await redis.handle.client.call('CLIENT', 'PAUSE', '15000', 'ALL');
        await close();
      },
      mended: nothing,
    },
    {
      alerts: ['CloseloopGivenUp', 'CloseloopVendorCallsFail', 'CloseloopEndpointAway'],
      happens: async () => {
        vendor.failures.read.push(...Array.from({ length: 1_000 }, tired));
        const isAway = async () => (await pipeline().vendor.down({ now: true })) !== undefined;
        // What is given up fails twice, and a vendor is away when three calls in a row have failed.
        while (!(await isAway())) {
          const id = await close();
          const isGivenUp = async () => (await running.loop.store.get(`${id}.1`))?.state === 'failed';
          await until(async () => (await isGivenUp()) || (await isAway()));
        }
      },
      mended: async () => {
        vendor.failures.read.length = 0;
        await askedOf(await close());
      },
    },
    {
      alerts: ['CloseloopUnknownOutcomes'],
      happens: async () => {
        feedback.standin.faults.add({ method: 'POST', path: '/appeals', then: 'work-then-cut' });
        await close();
      },
      mended: async () => {
        await askedOf(`w${closings}`);
      },
    },
    {
      alerts: ['CloseloopServiceCallsFail'],
      happens: async () => {
        feedback.standin.faults.add({ path: '.', status: 500, times: 100_000 });
      },
      mended: async () => {
        feedback.standin.faults.clear();
        await askedOf(await close());
      },
    },
    {
      alerts: ['CloseloopParked'],
      happens: async () => {
        const id = await close();
        await askedOf(id);
        vendor.results.push({ ok: false, why: 'closed', message: 'the record is closed for good' });
        feedback.standin.answer({ contact: `${id}@example.com`, grade: 4 });
        await running.loop.journey(`${id}.1`, 'parked');
      },
      mended: async () => {
        const settle = ifStill('parked', { to: 'cancelled', at: new Date(), why: 'done by hand' });
        await running.loop.store.update(`w${closings}.1`, settle);
      },
    },
    {
      alerts: ['CloseloopQuotaLow'],
      happens: () => budget.reportRemaining({ limit: 1_000, remaining: 50, resetMs: 10_000 }, 'daily'),
      mended: nothing,
    },
    {
      alerts: ['CloseloopDown'],
      happens: () => running.loop.close(),
      mended: async () => {
        running.loop = await start();
      },
    },
  ];
  expect(incidents.flatMap(({ alerts }) => alerts).sort()).toEqual([...names].sort());

  for (const { alerts, happens, mended } of incidents) {
    // Each alert that was seen to fire counts, also if it is over before another one fires.
    const fired = new Set<string>();
    await happens();
    await until(async () => {
      for (const name of await prometheus.firing()) fired.add(name);
      return alerts.every((name) => fired.has(name));
    });
    await mended();
    await until(async () => (await prometheus.firing()).every((name) => !alerts.includes(name)));
  }
  await until(async () => (await prometheus.firing()).length === 0);
});
