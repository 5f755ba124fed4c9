import { beforeEach, expect, test } from 'vitest';
import { barrierKeys } from '../../support/barrier.ts';
import { type KillPoint, killedAt } from '../../support/kill-points.ts';
import { until } from '../../support/loop.ts';
import { startWorld } from '../../support/loop-processes.ts';
import { useRedis } from '../../support/redis.ts';

// 60 closings of one person, 20 in each of three sources, which know them by two addresses and ask by one or the other: five processes
// have twelve each, and hold all sixty just before they lock the person, so that all of them ask at once. The service takes its time.

const redis = useRedis();
beforeEach(() => redis.handle.client.flushall());

/** By whom each source asks first. */
const contacts = {
  mail: '[customer.email, customer.phone]',
  text: '[customer.phone, customer.email]',
  shop: '[customer.email, customer.phone]',
};
const sources = Object.keys(contacts);
const idsOf = (source: string) => Array.from({ length: 20 }, (_, i) => `${source}-${i}`);
const rules = Object.fromEntries(
  Object.entries(contacts).map(([name, contact]) => [
    name,
    `{ name: all, campaign: 12, contact: ${contact}, delay: 1s }`,
  ]),
);

/** Four jobs of each source in each process: sixty at once are all that there are, and fill every process. */
async function allAskAtOnce(): Promise<void> {
  const held = await until(async () => {
    const counts = Object.values(await redis.handle.client.hgetall(barrierKeys.held)).map(Number);
    return counts.reduce((sum, n) => sum + n, 0) >= 60 && counts;
  });
  expect(held).toEqual([12, 12, 12, 12, 12]);
  await redis.handle.client.set(barrierKeys.open, 'yes');
}

async function startRace(throttle: string, dies?: KillPoint) {
  const world = await startWorld(redis, 'mail', sources.flatMap(idsOf), {
    rules,
    policy: `throttle: ${throttle}`,
    customer: { email: 'erika@b.ee', phone: '+37255512345' },
    // A process that is to die holds nothing.
    ...(dies === undefined && { barrier: { jobsAtOnce: 4 } }),
  });
  const { standin } = world;
  const intake = await world.start('intake');
  const workers = await Promise.all(Array.from({ length: 5 }, () => world.start('worker', dies && killedAt(dies))));
  standin.faults.add({ method: 'GET', path: '/api/contacts/', delayMs: 30, times: 1_000 });
  standin.faults.add({ method: 'POST', path: '/api/appeals/$', delayMs: 100, times: 1_000 });
  // Again where it was not taken, as vendors do.
  const tell = (source: string, id: string) =>
    until(async () => (await world.post(intake.url, [id], '', source)).status === 202);
  // One after the other: what comes together is one job, which one process has.
  for (const source of sources) for (const id of idsOf(source)) await tell(source, id);
  if (dies === undefined) await allAskAtOnce();
  const journeys = async () => {
    const all = sources.flatMap((source) => idsOf(source).map((id) => world.storeOf(source).get(`${id}.1`)));
    return (await Promise.all(all)).filter((journey) => journey !== undefined);
  };
  /** All journeys, once every one of them has come to an end, or to the day on which it goes on. */
  const settled = async () => {
    await until(() => standin.requests().length > 0);
    standin.faults.clear();
    return await until(async () => {
      const all = await journeys();
      const late = Date.now() + 1_800_000;
      const isSettled = all.map(({ state, dueAt }) =>
        state === 'waiting' ? dueAt !== undefined && dueAt.getTime() > late : ['asked', 'skipped'].includes(state),
      );
      return all.length === 60 && isSettled.every(Boolean) && all;
    });
  };
  return { world, standin, workers, settled };
}

test('one request goes to a person whom three sources ask at once by two addresses, and the others are dropped', async () => {
  const { standin, settled } = await startRace('30d');
  const all = await settled();
  expect(standin.requests()).toHaveLength(1);
  expect(all.filter(({ state }) => state === 'asked')).toHaveLength(1);
  const skipped = all.filter(({ state }) => state === 'skipped');
  expect(skipped).toHaveLength(59);
  for (const journey of skipped)
    expect(journey).toMatchObject({
      reason: 'throttled',
      why: expect.stringMatching(/throttle of policy, 30d: until \d{4}-/),
    });
});

test('… or wait until the period is over', async () => {
  const { world, standin, settled } = await startRace('{ period: 1h, otherwise: defer }');
  const all = await settled();
  expect(standin.requests()).toHaveLength(1);
  const [asked] = all.filter(({ state }) => state === 'asked');
  const waiting = all.filter(({ state }) => state === 'waiting');
  expect(waiting).toHaveLength(59);
  for (const { dueAt } of waiting)
    expect(dueAt?.getTime()).toBeGreaterThanOrEqual((asked?.askedAt?.getTime() ?? 0) + 3_600_000);
  const [{ source, id } = expect.fail('none waits')] = waiting;
  const trace = (await world.storeOf(source).trace(id)).map(({ text }) => text).join('\n');
  expect(trace).toMatch(/waits: the person was asked at \S+ \(.*; throttle of policy, 1h: until/);
});

test.each<KillPoint>(['last-asked-noted', 'create-answered'])(
  'one request goes to them also where a worker is killed in the middle (%s)',
  async (point) => {
    const { world, standin, workers, settled } = await startRace('30d', point);
    await until(() => workers.some(({ child }) => child.signalCode !== null));
    for (const worker of workers) await worker.kill();
    standin.faults.clear();
    await world.locksEnd();
    await world.start('worker');
    await settled();
    expect(standin.requests()).toHaveLength(1);
  },
);
