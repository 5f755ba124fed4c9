import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { JourneyState } from '../../../worker/journey/states.ts';
import { bareBullmq } from '../bare-bullmq.ts';
import { startFakes } from '../fakes.ts';
import type { Measure, Row } from '../harness.ts';
import { deliveriesOf, freshTickets, sendAll } from '../load.ts';
import { type BenchRedis, journeysIn, startProduct, startRedis } from '../product.ts';

const inFlight = 200;
/** Parts of fewer bytes are not shown. */
const least = 5;
const sizes = { full: 100_000, short: 60 };

async function usedBy(redis: BenchRedis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.client.info('memory'))?.[1]);
}

/** What keys are about: `journey`, `ask job`, `ask:delayed` … */
function kindOf(key: string): string {
  const [kind = '', part = ''] = key.slice(key.indexOf('}:') + 2).split(':');
  if (part.startsWith(`${kind}-`)) return `${kind} job`;
  return ['ask', 'plan', 'write-back', 'collect', 'state'].includes(kind) ? `${kind}:${part}` : kind;
}

/** Bytes of all keys, by what they are about, as Redis counts those of each key. */
async function byKind({ client }: BenchRedis): Promise<Map<string, number>> {
  const sums = new Map<string, number>();
  for await (const found of client.scanStream({ count: 1_000 })) {
    const keys = z.array(z.string()).parse(found);
    const pipeline = client.pipeline();
    for (const key of keys) pipeline.memory('USAGE', key, 'SAMPLES', 0);
    const sizes = z.array(z.tuple([z.unknown(), z.number().nullable()])).parse(await pipeline.exec());
    for (const [i, [, size]] of sizes.entries()) {
      const kind = kindOf(keys[i] ?? '');
      sums.set(kind, (sums.get(kind) ?? 0) + (size ?? 0));
    }
  }
  return sums;
}

interface PerJourney {
  bytes: number;
  counted: number;
  /** Of these, by what the keys are about; the most first. */
  parts: [kind: string, bytes: number][];
}

/** What a journey takes in Redis, by the state in which `rule` leaves it: all its keys, its indexes, and its job. */
async function perJourney(count: number, rule: string, state: JourneyState): Promise<PerJourney> {
  const [fakes, redis] = await Promise.all([startFakes(), startRedis()]);
  const product = await startProduct({ url: fakes.url, redis, rule });
  const tickets = freshTickets();
  // What is there before: scripts, the queues' own keys, the first of everything.
  await sendAll(product.hooks, deliveriesOf(tickets(50)), inFlight);
  const until = async (journeys: number) => {
    while ((await journeysIn(redis, state)) < journeys) await sleep(50);
    await sleep(200);
  };
  await until(50);
  const [before, kindsBefore] = [await usedBy(redis), await byKind(redis)];
  await sendAll(product.hooks, deliveriesOf(tickets(count)), inFlight);
  await until(50 + count);
  const [bytes, counted] = [((await usedBy(redis)) - before) / count, (await journeysIn(redis, state)) - 50];
  const parts = [...(await byKind(redis))].map(([kind, all]): [string, number] => {
    return [kind, (all - (kindsBefore.get(kind) ?? 0)) / count];
  });
  await product.stop();
  await Promise.all([fakes.close(), redis.stop()]);
  return { bytes, counted, parts: parts.filter(([, one]) => one >= least).sort(([, a], [, b]) => b - a) };
}

async function perBareJob(jobs: number): Promise<number> {
  const redis = await startRedis();
  await bareBullmq({ do: 'delay', socket: redis.socket, jobs: 50, bytes: 30 });
  const before = await usedBy(redis);
  await bareBullmq({ do: 'delay', socket: redis.socket, jobs, bytes: 30 });
  const bytes = ((await usedBy(redis)) - before) / jobs;
  await redis.stop();
  return bytes;
}

/** Redis' memory for each journey that waits, and for each that is over. */
export const bytes: Measure = {
  name: 'bytes',
  async run(size) {
    const count = sizes[size];
    const job = await perBareJob(count);
    const waiting = await perJourney(count, 'delay: 30d', 'waiting');
    const skipped = await perJourney(count, 'when: ticket.id = 0', 'skipped');
    const asked = await perJourney(count, '', 'asked');
    const rows = (what: string, { bytes: one, counted, parts }: PerJourney, figure?: number): Row[] => [
      {
        measure: `Redis bytes for a journey that ${what}`,
        unit: 'B',
        closeloop: [one],
        counted,
        baseline: { name: 'bare BullMQ delayed job', rounds: [job] },
        ...(figure !== undefined && { target: { of: 'value', is: 'at most', figure } }),
      },
      ...parts.map(([kind, part]) => ({ measure: `  ${kind}`, unit: 'B', closeloop: [part], counted })),
    ];
    return [
      ...rows('waits, its job included', waiting, 2_100),
      ...rows('was skipped', skipped, 600),
      ...rows('has asked, and waits for the answer', asked, 600),
    ];
  },
};
