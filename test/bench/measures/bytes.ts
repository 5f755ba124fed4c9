import { setTimeout as sleep } from 'node:timers/promises';
import { tagOf } from '../../../worker/redis/keys.ts';
import { bareBullmq } from '../bare-bullmq.ts';
import { startFakes } from '../fakes.ts';
import type { Measure } from '../harness.ts';
import { deliveriesOf, freshTickets, sendAll } from '../load.ts';
import { type BenchRedis, source, startProduct, startRedis } from '../product.ts';

const inFlight = 200;
const sizes = { full: 100_000, short: 60 };

async function usedBy(redis: BenchRedis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.client.info('memory'))?.[1]);
}

/** What a journey takes in Redis, by the state in which `rule` leaves it: all its keys, its indexes, and its job. */
async function perJourney(count: number, rule: string, state: string): Promise<{ bytes: number; counted: number }> {
  const [fakes, redis] = await Promise.all([startFakes(), startRedis()]);
  const product = await startProduct({ url: fakes.url, redis, rule });
  const tickets = freshTickets();
  const index = `${tagOf(source)}:state:${state}`;
  // What is there before: scripts, the queues' own keys, the first of everything.
  await sendAll(product.hooks, deliveriesOf(tickets(50)), inFlight);
  const until = async (journeys: number) => {
    while ((await redis.client.zcard(index)) < journeys) await sleep(50);
    await sleep(200);
  };
  await until(50);
  const before = await usedBy(redis);
  await sendAll(product.hooks, deliveriesOf(tickets(count)), inFlight);
  await until(50 + count);
  const [bytes, counted] = [((await usedBy(redis)) - before) / count, (await redis.client.zcard(index)) - 50];
  await product.stop();
  await Promise.all([fakes.close(), redis.stop()]);
  return { bytes, counted };
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
    const row = (what: string, { bytes: one, counted }: typeof waiting, figure?: number) => ({
      measure: `Redis bytes for a journey that ${what}`,
      unit: 'B',
      closeloop: [one],
      counted,
      baseline: { name: 'bare BullMQ delayed job', rounds: [job] },
      ...(figure !== undefined && { target: { of: 'value' as const, is: 'at most' as const, figure } }),
    });
    return [
      row('waits, its job included', waiting, 2_100),
      row('was skipped', skipped, 600),
      row('has asked, and waits for the answer', asked),
    ];
  },
};
