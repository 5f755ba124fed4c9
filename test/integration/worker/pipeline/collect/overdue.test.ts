import { expect, test } from 'vitest';
import { begunKey, failingKey, seenKey } from '../../../../../worker/redis/keys.ts';
import { hour, useManual } from '../../../../support/manual.ts';

const service = useManual();
const { redis, unitContext } = service;
const general = `alerts: { url: "https://ops.example.com", secrets: ["whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="] }`;
const rule = (campaign: number) => `{ name: all, campaign: ${campaign}, contact: customer.email }`;

/** In a process of its own each time: what is known is in Redis. */
async function pass(asksIn = 12): Promise<void> {
  const { engine } = unitContext({ general, rule: rule(asksIn) });
  await engine.collecting.stage.run({ campaign: 12 });
  await engine.collecting.maintain();
}
const hasFailedFor = (hours: number) => redis.handle.client.hset(failingKey, '12', Date.now() - hours * hour);
const alerts = async (): Promise<unknown[]> =>
  Object.values(await redis.handle.client.hgetall('{cl}:alerts:what')).map((text) => JSON.parse(text));

const switchOff = () => service.standin.changeCampaign({ id: 12, state: 'inactive' });
const breakDown = () => service.standin.faults.add({ method: 'GET', path: '/campaigns', status: 500, times: 100 });

test.each([
  ['its campaign was switched off', switchOff, /activate it, or remove the rule/],
  ['the service fails', breakDown, /in the log/],
])('it tells a person when grades have not come in for a day: %s', async (_, happen, remedy) => {
  happen();
  await pass();
  await hasFailedFor(23);
  await pass();
  expect(await alerts()).toEqual([]);
  await hasFailedFor(25);
  await pass();
  expect(await alerts()).toMatchObject([
    {
      kind: 'paused',
      source: 'collect',
      why: expect.stringContaining('campaign 12'),
      remedy: expect.stringMatching(remedy),
    },
  ]);
});

test('it counts from the first pass that failed after the last good one', async () => {
  await hasFailedFor(25);
  await pass();
  switchOff();
  await redis.handle.client.del(seenKey(12));
  await pass();
  expect(await alerts()).toEqual([]);
  const since = Number(await redis.handle.client.hget(failingKey, '12'));
  expect(Date.now() - since).toBeLessThan(hour);
});

test('it says nothing of a campaign that is gone and that no rule asks in any more', async () => {
  switchOff();
  await hasFailedFor(25);
  await pass(13);
  expect(await alerts()).toEqual([]);
});

test('it tells when no pass begins any more, though no pass is there to tell it (audit 19)', async () => {
  const { engine, told } = unitContext({ general });
  await engine.collecting.maintain();
  expect(await alerts()).toEqual([]);
  await redis.handle.client.hset(begunKey, '12', Date.now() - 2 * hour);
  await engine.collecting.maintain();
  await engine.collecting.maintain();
  const why = 'campaign 12: no pass over its grades begins any more';
  expect(await alerts()).toMatchObject([{ kind: 'paused', source: 'collect', why }]);
  expect(told.filter(({ level }) => level === 'error')).toMatchObject([{ fields: { why } }]);
});

test('a schedule whose job is lost is made anew (audit 19)', async () => {
  const { engine } = unitContext();
  await engine.collecting.maintain();
  const [{ jobs } = expect.fail('no stage')] = engine.gradeStages;
  const { queue } = jobs;
  const [before] = await queue.getJobs(['delayed', 'waiting']);
  expect(before?.data).toEqual({ campaign: 12 });
  // As after a lost write, or a hand in Redis: the schedule stands, and its job is gone.
  await redis.handle.client.del(`{cl}:collect:${before?.id}`);
  await redis.handle.client.del('{cl}:collect:delayed', '{cl}:collect:wait');
  await engine.collecting.maintain();
  const [after, ...more] = await queue.getJobs(['delayed', 'waiting']);
  expect(after?.data).toEqual({ campaign: 12 });
  expect(more).toEqual([]);
  await engine.collecting.maintain();
  expect((await queue.getJobs(['delayed', 'waiting'])).map(({ id }) => id)).toEqual([after?.id]);
});
