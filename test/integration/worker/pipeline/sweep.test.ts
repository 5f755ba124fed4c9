import { describe, expect, test } from 'vitest';
import { livePorts } from '../../../../worker/cli/live-ports.ts';
import { loadConfig } from '../../../../worker/config/config.ts';
import type { Journey, JourneyState } from '../../../../worker/journey/journey.ts';
import { JourneyStore } from '../../../../worker/journey/store.ts';
import { pack } from '../../../../worker/journey/stored-journey.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { liveClock } from '../../../../worker/pipeline/clock.ts';
import { Engine } from '../../../../worker/pipeline/engine.ts';
import { sweep } from '../../../../worker/pipeline/sweep.ts';
import { memoryLog } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { testSeal } from '../../../support/seal.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';

const redis = useRedis();
let sources = 0;

const now = new Date('2026-05-04T09:00:00Z');
const ago = (ms: number) => new Date(now.getTime() - ms);
const day = 86_400_000;
const settings = { expireAfterMs: 14 * day, retentionMs: 400 * day };

/** What the sweep does to a source whose queues nobody works on. */
async function fresh() {
  const source = `sweep-${++sources}`;
  const text = `
feedback: { baseUrl: "http://127.0.0.1:9/api", apiKey: key, timeZone: Europe/Tallinn }
sources: { ${source}: { connector: toy, secret: good, rules: [{ name: all, campaign: 12, contact: customer.email }] } }
`;
  const { log, told } = memoryLog();
  const engine = new Engine({
    seal: testSeal,
    config: loadConfig(text, { env: {}, connectors: [new ToyVendor().connector] }),
    redis: redis.handle.client,
    connection: redis.handle.bull(),
    intakeConnection: redis.handle.bullIntake,
    replicated: redis.handle.replicated,
    clock: liveClock,
    ports: livePorts,
    log,
  });
  const pipeline = engine.pipelines.get(source) ?? expect.fail('no pipeline');
  const context = { ...pipeline.context, clock: { ...liveClock, now: () => now } };

  /** A journey that came into its last state at `at`. */
  const journey = async (id: string, states: readonly JourneyState[], at: Date, more: Partial<Journey> = {}) => {
    const store = new JourneyStore(redis.handle.client, source, { now: () => at, seal: testSeal });
    const claim = { recordId: id, closing: 'one', closedAt: at, eventKey: id, receivedAt: at };
    await store.getOrCreate(claim, ['received']);
    for (const to of states) {
      await store.update(`${id}.1`, (one) => ({ journey: step(one, to, at, more), trace: [to] }));
    }
  };
  const jobs = async (stage: 'ask' | 'writeBack') =>
    (await pipeline.jobs[stage].queue.getJobs()).map(({ data }) => data.journeyId).sort();
  return { context, told, journey, jobs, store: context.store, close: () => engine.close(0) };
}

const toAsked = ['waiting', 'creating', 'asked'] as const;
const toWritten = [...toAsked, 'answered', 'written'] as const;
const answer = { grade: 5, comment: null, seenAt: now, version: 1 };

test('it expires what was never answered, and only that', async () => {
  const { context, journey, store, told, close } = await fresh();
  await journey('old', toAsked, ago(15 * day));
  await journey('young', toAsked, ago(13 * day));
  await journey('answered', [...toAsked, 'answered'], ago(15 * day), { answer });
  await sweep(context, settings);
  expect((await store.get('old.1'))?.state).toBe('expired');
  expect((await store.trace('old.1')).at(-1)?.text).toBe('expired: no answer came');
  expect((await store.get('young.1'))?.state).toBe('asked');
  expect((await store.get('answered.1'))?.state).toBe('answered');
  await sweep(context, settings);
  expect(told.filter(({ message }) => message === 'expired')).toHaveLength(1);
  await close();
});

test('it looks at the others though a journey of another version is among them', async () => {
  const { context, journey, store, jobs, told, close } = await fresh();
  await journey('strange', toAsked, ago(16 * day));
  await journey('old', toAsked, ago(15 * day));
  await journey('overdue', ['waiting'], ago(day), { dueAt: ago(120_000) });
  const key = `{cl:${context.name}}:journey:strange.1`;
  const strange = testSeal.sealBytes(pack({ state: 'a state of next year' }, []), 'journey of strange');
  await redis.handle.client.set(key, Buffer.concat([Buffer.from('9 asked '), strange]));
  await sweep(context, settings);
  expect((await store.get('old.1'))?.state).toBe('expired');
  expect(await jobs('ask')).toEqual(['overdue.1']);
  expect(told.filter(({ level }) => level === 'warn')).toMatchObject([
    { fields: { journey: `${context.name}/strange.1`, why: 'ZodError' } },
  ]);
  await close();
});

test('it comes to those behind a page of journeys that can not be read, also where all are due at once (audit 18)', async () => {
  const { context, journey, store, close } = await fresh();
  const at = ago(16 * day);
  for (let i = 0; i < 7; i++) {
    await journey(`strange-${i}`, toAsked, at);
    await redis.handle.client.set(`{cl:${context.name}}:journey:strange-${i}.1`, '9 asked of-next-year');
  }
  await journey('z-same-moment', toAsked, at);
  await journey('later', toAsked, ago(15 * day));
  const places = new Map();
  for (let round = 0; round < 4; round++) await sweep(context, { ...settings, pageSize: 3 }, places);
  expect((await store.get('z-same-moment.1'))?.state).toBe('expired');
  expect((await store.get('later.1'))?.state).toBe('expired');
  await journey('new', toAsked, ago(17 * day));
  for (let round = 0; round < 4; round++) await sweep(context, { ...settings, pageSize: 3 }, places);
  expect((await store.get('new.1'))?.state).toBe('expired');
  await close();
});

test('one sweep ends all that is due, however many pages that is', async () => {
  const { context, store, journey, close } = await fresh();
  for (let n = 0; n < 20; n++) await journey(`silent${n}`, toAsked, ago(16 * day));
  await sweep(context, { ...settings, pageSize: 3 });
  expect(await store.lists.counts()).toMatchObject({ asked: 0, expired: 20 });
  await close();
});

describe('lost jobs', () => {
  test('it adds the ask of a journey that should have been asked or resolved a minute ago', async () => {
    const { context, journey, jobs, close } = await fresh();
    await journey('overdue', ['waiting'], ago(day), { dueAt: ago(120_000) });
    await journey('due', ['waiting'], ago(day), { dueAt: ago(1_000) });
    await journey('later', ['waiting'], ago(day), { dueAt: new Date(now.getTime() + day) });
    await journey('stuck', ['waiting', 'creating'], ago(120_000));
    await journey('busy', ['waiting', 'creating'], ago(1_000));
    await sweep(context, settings);
    await sweep(context, settings);
    expect(await jobs('ask')).toEqual(['overdue.1', 'stuck.1']);
    await close();
  });

  test('it adds the write-back of an answer that was never written', async () => {
    const { context, journey, jobs, close } = await fresh();
    await journey('unwritten', [...toAsked, 'answered'], ago(120_000), { answer });
    await journey('under-way', [...toAsked, 'answered'], ago(1_000), { answer });
    await journey('written', toWritten, ago(120_000), { answer });
    await sweep(context, settings);
    await sweep(context, settings);
    expect(await jobs('writeBack')).toEqual(['unwritten.1']);
    await close();
  });
});

describe('retention', () => {
  const rows: [state: JourneyState, states: readonly JourneyState[]][] = [
    ['skipped', ['skipped']],
    ['cancelled', ['waiting', 'cancelled']],
    ['failed', ['failed']],
    ['parked', ['waiting', 'creating', 'parked']],
    ['written', toWritten],
    ['expired', [...toAsked, 'expired']],
  ];
  test('it removes what has been settled for longer than that, in every settled state, and nothing else', async () => {
    const { context, journey, store, close } = await fresh();
    for (const [state, states] of rows) {
      await journey(`old-${state}`, states, ago(401 * day));
      await journey(`young-${state}`, states, ago(399 * day));
    }
    await sweep(context, settings);
    for (const [state] of rows) {
      expect([state, await store.get(`old-${state}.1`), (await store.get(`young-${state}.1`))?.state]).toEqual([
        state,
        undefined,
        state,
      ]);
    }
    const keys = await redis.handle.client.keys(`{cl:${context.name}}:*old-*`);
    expect(keys).toEqual([]);
    await close();
  });

  test('it keeps a journey with work outstanding, however old', async () => {
    const { context, journey, store, close } = await fresh();
    await journey('waiting', ['waiting'], ago(500 * day), { dueAt: ago(1_000) });
    await journey('creating', ['waiting', 'creating'], ago(500 * day));
    await journey('answered', [...toAsked, 'answered'], ago(500 * day), { answer });
    await sweep(context, settings);
    expect(await store.lists.counts()).toMatchObject({ waiting: 1, creating: 1, answered: 1 });
    await close();
  });
});

test('it tells once of a follow-up that is overdue, and takes out of the list what no journey confirms', async () => {
  const { context, journey, store, close } = await fresh();
  const due = (ms: number) =>
    ({ state: 'open', rule: 'unhappy', to: 'agent', openedAt: ago(day), dueAt: ago(ms) }) as const;
  await journey('late', [...toAsked, 'answered'], ago(1_000), { answer, followUp: due(1_000) });
  await journey('soon', [...toAsked, 'answered'], ago(1_000), { answer, followUp: due(-1_000) });
  await journey('kept', [...toAsked, 'answered'], ago(1_000), { answer, followUp: { ...due(1_000), state: 'done' } });
  for (const id of ['late.1', 'kept.1', 'gone.1']) await context.followUps.put('open', id, ago(1_000));
  await context.followUps.put('open', 'soon.1', ago(-1_000));
  const alerts: unknown[] = [];
  const alert = async (...told: unknown[]) => void alerts.push(told);
  for (let i = 0; i < 3; i++) await sweep({ ...context, alert }, settings);
  expect(alerts).toEqual([
    ['to-do', 'a follow-up is overdue', expect.stringContaining('follow-ups list'), [`${context.name}/late.1`]],
  ]);
  expect((await store.get('late.1'))?.followUp?.alertedAt).toEqual(now);
  expect((await store.trace('late.1')).at(-1)?.text).toBe('follow-up is overdue');
  expect(await context.followUps.count('open')).toBe(2);
  expect(await context.followUps.count('done')).toBe(1);
  await close();
});
