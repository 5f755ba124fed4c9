import { expect, test } from 'vitest';
import { Outage } from '../../../../worker/operations/outage.ts';
import { ask } from '../../../../worker/pipeline/ask/ask.ts';
import { plan } from '../../../../worker/pipeline/plan/plan.ts';
import { memoryLog } from '../../../support/loop.ts';
import { eventOf, hour, useManual } from '../../../support/manual.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';

const service = useManual();
const { unitContext } = service;

test('of a thousand jobs that have begun when the service goes away a few call it, and the others wait without a try', async () => {
  const { context, store, vendor } = unitContext();
  const ids = Array.from({ length: 1_000 }, (_, n) => `a${n}`);
  for (const id of ids) vendor.close(id);
  await Promise.all(ids.map((id) => plan(eventOf(id), context)));
  service.standin.faults.add({ path: '/api/', status: 503, times: 1_000_000 });
  service.standin.clearCalls();
  const ends = await Promise.allSettled(ids.map((id) => ask({ journeyId: `${id}.1` }, context)));
  const calls = Object.values(service.standin.calls()).reduce((sum, n) => sum + n, 0);
  expect(calls).toBeLessThanOrEqual(250);
  const waiting = ends.filter((end) => end.status === 'fulfilled');
  expect(waiting.length).toBeGreaterThanOrEqual(750);
  for (const { value } of waiting) expect(value).toMatchObject({ do: 'wait' });
  expect((await store.lists.counts()).waiting).toBe(1_000);
});

test('a poll leaves a vendor alone that does not answer, until it is time to find out', async () => {
  const vendor = new ToyVendor();
  let polls = 0;
  vendor.pages = async () => {
    polls += 1;
    return { events: [], cursor: 'c', done: true, reached: new Date() };
  };
  const { pipeline } = unitContext({ vendor, general: 'poll: { every: 1s }' });
  const { client } = service.redis.handle;
  await pipeline.poll();
  await client.hset('{cl:calm}:poll', 'begunAt', 0);
  for (let n = 0; n < 3; n++) await pipeline.vendor.failed('no connection');
  await pipeline.poll();
  expect(polls).toBe(0);
  await client.hset('{cl:calm}:outage', 'probeAt', 1);
  await pipeline.poll();
  expect(polls).toBe(1);
});

test('that a delivery came in and was read does not count as an answer of a vendor that is down', async () => {
  const vendor = new ToyVendor();
  const { pipeline } = unitContext({ vendor });
  for (let n = 0; n < 3; n++) await pipeline.vendor.failed('no connection');
  const raw = Buffer.from(vendor.close('a').delivery);
  const delivery = { method: 'POST', url: '/hooks/calm', headers: {}, raw, receivedAt: new Date() };
  expect(await pipeline.context.source.events(delivery)).toMatchObject({ ok: true });
  expect(await pipeline.vendor.down({ now: true })).toMatchObject({ why: 'no connection' });
});

test('an outage lasts as long as the other side asks to be left alone, though failures are forgotten before', async () => {
  const { client } = service.redis.handle;
  const key = '{cl}:asked-to-wait';
  const outage = new Outage(client, { endpoint: 'Feedback service', key, log: memoryLog().log });
  await outage.failed('503', 2 * hour);
  await outage.failed('503');
  expect(await client.pttl(key)).toBeGreaterThan(2 * hour);
});
