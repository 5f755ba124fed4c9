import { setTimeout as sleep } from 'node:timers/promises';
import { bareBullmq } from '../bare-bullmq.ts';
import { type Fakes, startFakes } from '../fakes.ts';
import { inTurns, type Measure } from '../harness.ts';
import { deliveriesOf, freshTickets, sendAll } from '../load.ts';
import { type BenchRedis, journeysIn, type Product, program, startProduct, startRedis } from '../product.ts';
import { node } from './commands.ts';

const inFlight = 200;
const sizes = { full: { answers: 5_000, rounds: 3 }, short: { answers: 60, rounds: 1 } };

interface Target {
  fakes: Fakes;
  redis: BenchRedis;
  product: Product;
  /** Requests of earlier rounds: in the counts by which closeloop sees that there are new grades. */
  earlier: number;
}

/**
 * Asks about these closings, has each answered, and waits until the answers are on their tickets.
 * @returns answers written a second: from the page that showed the first grade, to the last ticket that was written
 */
async function round(closings: readonly number[], { fakes, redis, product, earlier }: Target): Promise<number> {
  await fakes.reset({ requests: earlier });
  const created = fakes.created(closings.length);
  await sendAll(product.hooks, deliveriesOf(closings), inFlight);
  await created;
  while ((await journeysIn(redis, 'asked')) < closings.length) await sleep(50);
  await fakes.grade(closings.length);
  const written = fakes.written(closings.length);
  await node(program, 'collect', '--once', '--config', product.config);
  const { firstPageAt, lastWriteAt } = await written;
  return closings.length / ((lastWriteAt - firstPageAt) / 1_000);
}

export const writeBacks: Measure = {
  name: 'write-backs',
  async run(size) {
    const { answers, rounds } = sizes[size];
    const [fakes, redis, bare] = await Promise.all([startFakes(), startRedis(), startRedis()]);
    const product = await startProduct({ url: fakes.url, redis });
    const tickets = freshTickets();
    let earlier = 0;
    const [ours = [], theirs = []] = await inTurns(rounds, [
      async () => {
        const perSecond = await round(tickets(answers), { fakes, redis, product, earlier });
        earlier += answers;
        return perSecond;
      },
      async () => {
        const { ms } = await bareBullmq({ do: 'process', socket: bare.socket, jobs: answers, concurrency: 1_000 });
        return answers / (ms / 1_000);
      },
    ]);
    const { writes } = await fakes.written(answers);
    await product.stop();
    await Promise.all([fakes.close(), redis.stop(), bare.stop()]);
    return [
      {
        measure: 'answers collected and written on their tickets',
        unit: '1/s',
        closeloop: ours,
        counted: writes,
        baseline: { name: 'bare BullMQ, no-op jobs', rounds: theirs },
        target: { of: 'ratio', is: 'at least', figure: 0.4 },
      },
    ];
  },
};
