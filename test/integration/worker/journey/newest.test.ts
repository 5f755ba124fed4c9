import { expect, test } from 'vitest';
import { z } from 'zod';
import { step } from '../../../../worker/journey/transitions.ts';
import { useManual } from '../../../support/manual.ts';
import { listOf } from '../../../support/state-lists.ts';

const service = useManual();
const { redis, unitContext } = service;

/** Skipped journeys, changed at these times. */
async function skippedAt(times: readonly number[]) {
  const { store } = unitContext();
  for (const [n, ms] of times.entries()) {
    const at = new Date(ms);
    const closing = { recordId: `r${n}`, closing: 'c', closedAt: at, eventKey: `${n}`, receivedAt: at };
    const { journey } = await store.getOrCreate(closing, []);
    await store.update(journey.id, (now) => ({ journey: step(now, 'skipped', at), trace: [] }));
  }
  return store;
}

test('the last changed ones of very many are read without the others', async () => {
  const store = await skippedAt([1_000, 2_000]);
  const many = Array.from({ length: 50_000 }, (_, n) => [`old${n}.1`, n / 100] as const);
  await listOf(redis.handle.client, store.source, 'skipped').add(many);
  await redis.handle.client.config('RESETSTAT');
  const found: string[] = [];
  for await (const { id } of store.queries.newest(['skipped', 'failed'])) {
    found.push(id);
    if (found.length === 2) break;
  }
  expect(found).toEqual(['r1.1', 'r0.1']);
  const stats = z.string().parse(await redis.handle.client.info('commandstats'));
  const calls = [...stats.matchAll(/cmdstat_\S+:calls=(\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0);
  expect(calls).toBeLessThanOrEqual(20);
});

test('each comes once, in its order, though many were changed at once, and those that were shown move away', async () => {
  const store = await skippedAt([5, ...Array.from({ length: 450 }, () => 7), 9]);
  const found: string[] = [];
  for await (const journey of store.queries.newest(['failed', 'skipped'])) {
    found.push(journey.id);
    await store.forget(journey);
  }
  expect([new Set(found).size, found.length]).toEqual([452, 452]);
  expect([found.at(0), found.at(-1)]).toEqual(['r451.1', 'r0.1']);
});

test('a page deep among very many of one instant is found without those before it, also where its place has moved on', async () => {
  const { store } = unitContext();
  const list = listOf(redis.handle.client, store.source, 'waiting');
  const ids = Array.from({ length: 30_000 }, (_, n) => `r${n}.1`).toSorted();
  await list.add([...ids.map((id) => [id, 7] as const), ['before', 6], ['after', 8]]);
  const sent = async () => Number(/total_net_output_bytes:(\d+)/.exec(await redis.handle.client.info('stats'))?.[1]);
  for (const isGone of [false, true]) {
    const [place = ''] = ids.slice(10_000);
    if (isGone) await list.remove([[place, 7]]);
    const begun = await sent();
    const found: string[] = [];
    for await (const { id } of store.queries.latest(['waiting', 'failed'], { id: place, at: 7 })) {
      found.push(id);
      if (found.length === 3) break;
    }
    expect(found).toEqual(ids.slice(9_997, 10_000).toReversed());
    expect((await sent()) - begun).toBeLessThan(30_000);
  }
  const all: string[] = [];
  for await (const { id } of store.queries.latest(['waiting'], { id: ids[1] ?? '', at: 7 })) all.push(id);
  expect(all).toEqual([ids[0], 'before']);
});
