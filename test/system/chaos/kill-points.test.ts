import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, type TestContext, test } from 'vitest';
import { startEmbeddedRedis } from '../../../worker/redis/embedded.ts';
import { type KillPoint, killedAt, killPoints } from '../../support/kill-points.ts';
import { until } from '../../support/loop.ts';
import { serverCache } from '../../support/redis-cache.ts';
import { createBalancer } from './balancer.ts';
import { journeysIn, type StoredJourney } from './evidence.ts';
import { Customers } from './load.ts';
import { type PlannedRecord, type RuleName, slowDelayMs, sources } from './planned-record.ts';
import { accountZone, campaigns, versionOf, windowFrom } from './policy.ts';
import { runCloseloop } from './processes.ts';
import { chanceOf } from './random.ts';
import { type Shown, shown } from './shown.ts';
import { openWorld, type World } from './world.ts';

const create = { method: 'POST', path: '^/api/appeals/$' };
const id = 41_960;
const record: PlannedRecord = {
  id,
  vendor: 'desk',
  rule: 'once',
  ticket: { subject: 'once', store: 'Tartu', flag: '' },
  people: [{ email: 'carl@example.com', language: 'en', zone: accountZone }],
  at: 0,
  acts: [],
  answers: [{ afterMs: 0, grade: 4, comment: 'Fine.' }],
};

const act = (world: World, what: 'close' | 'reopen'): void => world.act(record, { do: what });

/** One way through the loop. The process under test dies somewhere on it; a clean one takes up what it left. */
interface Scenario {
  reaches: readonly KillPoint[];
  rule?: RuleName;
  answers?: PlannedRecord['answers'];
  config?: (text: string) => string;
  /** Before any process runs. */
  prepare?: (stage: Stage) => Promise<void> | void;
  /** With a clean process, which is gone before the one under test begins. */
  before?: (stage: Stage) => Promise<void>;
  /** What happens while the process under test runs. Repeated to the clean one where it wasn't acknowledged. */
  live?: (stage: Stage) => Promise<void>;
  ends: { state: string; requests: number; grade: number | null };
}

interface Stage {
  world: World;
  redis: Redis;
  journey(): Promise<StoredJourney | undefined>;
  /** The vendor tells of what happened until somebody has acknowledged it. */
  insist(signal?: AbortSignal): Promise<void>;
}

const closes: Pick<Scenario, 'live' | 'ends'> = {
  live: async ({ world }) => act(world, 'close'),
  ends: { state: 'written', requests: 1, grade: 4 },
};

const scenarios: readonly Scenario[] = [
  {
    ...closes,
    reaches: [
      'event-received',
      'event-stored',
      'plan-begun',
      'record-read',
      'contact-locked',
      'last-asked-noted',
      'intent-saved',
      'create-answered',
      'campaign-noted',
      'asked-saved',
      'collect-begun',
      'answer-saved',
      'write-back-queued',
      'collected-noted',
      'write-back-begun',
      'vendor-written',
      'written-saved',
    ],
  },
  {
    // Asked to wait, it asks by a job of its own.
    ...closes,
    prepare: ({ world }) => world.order({ at: 0, on: 'feedback', fault: { ...create, status: 429 } }),
    reaches: ['ask-queued', 'ask-begun', 'record-read-again'],
  },
  {
    ...closes,
    // The service did the work, and its answer got lost.
    prepare: ({ world }) => world.order({ at: 0, on: 'feedback', fault: { ...create, then: 'work-then-cut' } }),
    reaches: ['unknown-noted', 'searched'],
  },
  {
    ...closes,
    prepare: ({ world }) => world.order({ at: 0, on: 'feedback', fault: { ...create, then: 'cut' } }),
    reaches: ['back-to-waiting'],
  },
  {
    ...closes,
    // Due only later: the journey waits.
    rule: 'slow',
    reaches: ['decision-saved'],
  },
  {
    rule: 'slow',
    // A busy machine reopens the record only after a while.
    config: (text) => text.replaceAll(`${slowDelayMs}ms`, '30s'),
    live: async ({ world, journey, insist }) => {
      act(world, 'close');
      await insist();
      await until(async () => (await journey())?.state === 'waiting');
      await sleep(1_100);
      act(world, 'reopen');
    },
    reaches: ['cancelled-saved'],
    ends: { state: 'cancelled', requests: 0, grade: null },
  },
  {
    // The service sends an hour later: reopened before, the record takes its request back.
    answers: [],
    config: (text) =>
      text.replace('timeoutMs: 1000 }', 'timeoutMs: 1000, operations: { create: { body: { scheduled: null } } } }'),
    prepare: ({ world }) => world.feedback.changeCampaign({ id: campaigns.desk.main, sendDelay: 60 }),
    live: async ({ world, journey, insist }) => {
      act(world, 'close');
      await insist();
      await until(async () => (await journey())?.state === 'asked');
      await sleep(1_100);
      act(world, 'reopen');
    },
    reaches: ['withdrawing-saved', 'request-cancelled'],
    ends: { state: 'cancelled', requests: 1, grade: null },
  },
  {
    answers: [],
    config: (text) => `${text}\nexpireAfter: 1s\n`,
    before: async ({ world, journey, insist }) => {
      act(world, 'close');
      await insist();
      await until(async () => (await journey())?.state === 'asked');
      await sleep(1_000);
    },
    reaches: ['expired-saved'],
    ends: { state: 'expired', requests: 1, grade: null },
  },
  {
    // No webhook tells of it: the poll does, which leaves webhooks two minutes.
    prepare: async ({ world, redis }) => {
      world.desk.removeWebhooks();
      await redis.hset('{cl:support}:poll', 'since', Date.now() - 600_000);
      world.backdate(300_000, () => act(world, 'close'));
    },
    reaches: ['poll-events-queued', 'poll-cursor-saved'],
    ends: closes.ends,
  },
];

/** Locks of dead processes end by themselves, within a minute: that minute is over now. */
async function minutePasses(redis: Redis): Promise<void> {
  const locks = [...(await redis.keys('*:lock')), ...(await redis.keys('{cl}:lock:*'))];
  if (locks.length > 0) await redis.del(locks);
}

/** It came to its end, and the process lives: no step of this name was on its way. */
async function livedThrough(doomed: { isAlive(): boolean }, stage: Stage, { ends }: Scenario): Promise<string> {
  while (doomed.isAlive() && (await stage.journey())?.state !== ends.state) await sleep(50);
  await sleep(2_000);
  return 'not at all';
}

async function play(
  name: KillPoint,
  scenario: Scenario,
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
): Promise<{ died: unknown; journey: StoredJourney | undefined; world: World; shown: Shown }> {
  const dir = mkdtempSync(join(tmpdir(), 'closeloop-failpoint-'));
  const server = await startEmbeddedRedis({ dir, cache: serverCache, say: () => undefined, fsync: 'everysec' });
  const redis = new Redis({ path: server.socket });
  const chance = chanceOf(1);
  const balancer = createBalancer(chance);
  const rule = scenario.rule ?? record.rule;
  const ticket = { ...record.ticket, subject: rule };
  const told = { ...record, rule, ticket, answers: scenario.answers ?? record.answers };
  const customers = new Customers([told]);
  const world = await openWorld({
    balancer,
    chance,
    onTaken: (taken) => customers.got(taken),
  });
  const config = join(dir, 'closeloop.yaml');
  const settings = { window: windowFrom(Date.now()), capPerHour: 100 };
  const policy = { version: versionOf(0), settings };
  const whole = world.config({ redisSocket: server.socket, collectEveryMs: 200, deskName: sources.desk, ...policy });
  // One help desk alone: the other accounts' polls and grades would pass the same points.
  const text = whole.slice(0, whole.indexOf(`\n  ${sources.plain}:`));
  writeFileSync(config, scenario.config?.(text) ?? text);
  const start = (env: Record<string, string> = {}) =>
    runCloseloop({ role: 'all', name, config, logs: dir, env, onUrl: (url) => balancer.urls.splice(0, 1, url) });
  const running = new Set<ReturnType<typeof start>>();
  const answering = setInterval(() => customers.act(world), 20);
  onTestFinished(async () => {
    clearInterval(answering);
    for (const one of running) await one.kill();
    redis.disconnect();
    await world.end();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const stage: Stage = {
    world,
    redis,
    journey: async () => (await journeysIn(redis))[0],
    insist: async () => {
      while (balancer.acknowledged.length === 0) {
        await world.idle();
        if (balancer.acknowledged.length > 0) return;
        await world.desk.fireWebhook({ id, eventId: 'once' });
        await sleep(50);
      }
    },
  };
  world.add(told);
  await scenario.prepare?.(stage);
  if (scenario.before) {
    const clean = start();
    running.add(clean);
    await clean.started;
    await scenario.before(stage);
    await clean.kill();
    running.delete(clean);
  }
  const doomed = start(killedAt(name));
  running.add(doomed);
  await Promise.race([doomed.started, doomed.ended]);
  // Some of what happens may wait for what the process never gets to: it goes on with the clean one.
  const lived = scenario.live?.(stage);
  const died = await Promise.race([doomed.ended, livedThrough(doomed, stage, scenario)]);
  await minutePasses(redis);
  const clean = start();
  running.add(clean);
  await clean.started;
  if (scenario.live) await stage.insist();
  await lived;
  const journey = await until(async () => {
    const [one, ...more] = await journeysIn(redis);
    expect(more).toEqual([]);
    return one?.state === scenario.ends.state ? one : undefined;
  });
  // Nothing more is to come: no job is left, but for a look at what the vendor may carry out late, a quarter of an hour away.
  await until(async () => {
    const left = ['plan', 'ask', 'write-back'].map(async (queue) => [
      ...(await redis.lrange(`{cl:support}:${queue}:wait`, 0, -1)),
      ...(await redis.lrange(`{cl:support}:${queue}:active`, 0, -1)),
      ...(await redis.zrange(`{cl:support}:${queue}:delayed`, '0', '-1')),
    ]);
    return (await Promise.all(left)).flat().every((job) => job.startsWith('late-write-'));
  });
  return { died, journey, world, shown: shown(world, 'desk', id) };
}

test('every point has a scenario that reaches it, and one alone', () => {
  expect(scenarios.flatMap(({ reaches }) => reaches).toSorted()).toEqual(Object.keys(killPoints).toSorted());
});

describe.concurrent('a process that is killed at', () => {
  test.for(scenarios.flatMap(({ reaches }) => reaches))(
    '%s: it is taken up from there, and the customer asked once',
    { timeout: 300_000 },
    async (name, { expect, onTestFinished }) => {
      const scenario = scenarios.find(({ reaches }) => reaches.includes(name));
      if (!scenario) throw new Error(`no scenario reaches ${name}`);
      const { died, journey, world, shown } = await play(name, scenario, { onTestFinished });
      const { requests, grade, state } = scenario.ends;
      expect({
        died,
        state: journey?.state,
        requests: world.taken.length,
        grade: shown.grade,
        notes: shown.notes,
      }).toEqual({ died: 'SIGKILL', state, requests, grade, notes: grade === null ? [] : [`support/${id}.1.v1`] });
    },
  );
});
