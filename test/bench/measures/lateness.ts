import { bareBullmq } from '../bare-bullmq.ts';
import { startFakes } from '../fakes.ts';
import { type Measure, quantile } from '../harness.ts';
import { deliveriesOf, freshTickets, sendAll } from '../load.ts';
import { startProduct, startRedis } from '../product.ts';

const inFlight = 200;
/** `planMs`: so long there is to plan them all, before they are due. */
const sizes = {
  full: { closings: 10_000, planMs: 90_000, rounds: 3 },
  short: { closings: 60, planMs: 8_000, rounds: 1 },
};

/** How late the slowest hundredth was created, of closings that were planned long before and are all due at one instant. */
async function ours(closings: number, planMs: number): Promise<{ lateMs: number; counted: number }> {
  const [fakes, redis] = await Promise.all([startFakes(), startRedis()]);
  const delaySeconds = Math.ceil((Date.now() - fakes.closedAt.getTime() + planMs) / 1_000);
  const due = fakes.closedAt.getTime() + delaySeconds * 1_000;
  const product = await startProduct({ url: fakes.url, redis, rule: `delay: ${delaySeconds}s` });
  const created = fakes.created(closings);
  await sendAll(product.hooks, deliveriesOf(freshTickets()(closings)), inFlight);
  await created;
  const late = (await fakes.times()).map((at) => at - due).sort((a, b) => a - b);
  await product.stop();
  await Promise.all([fakes.close(), redis.stop()]);
  if ((late[0] ?? 0) < 0) throw new Error('a request was created before it was due');
  return { lateMs: quantile(late, 0.99), counted: late.length };
}

export const lateness: Measure = {
  name: 'lateness',
  async run(size) {
    const { closings, planMs, rounds } = sizes[size];
    const own = [];
    const bare: number[] = [];
    // Each in a process of its own, with nothing behind it.
    for (let round = 0; round < rounds; round++) {
      own.push(await ours(closings, planMs));
      const redis = await startRedis();
      bare.push((await bareBullmq({ do: 'due', socket: redis.socket, jobs: closings, inMs: planMs / 2 })).ms);
      await redis.stop();
    }
    return [
      {
        measure: `lateness of ${closings} due at once, 99th percentile, until created`,
        unit: 'ms',
        closeloop: own.map(({ lateMs }) => lateMs),
        counted: own.at(-1)?.counted ?? 0,
        baseline: { name: 'bare BullMQ delayed jobs', rounds: bare },
        target: { of: 'ratio', is: 'at most', figure: 2 },
      },
    ];
  },
};
