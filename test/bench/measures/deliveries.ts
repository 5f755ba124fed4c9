import { tagOf } from '../../../worker/redis/keys.ts';
import { bareBullmq } from '../bare-bullmq.ts';
import { startFakes } from '../fakes.ts';
import { inTurns, type Measure } from '../harness.ts';
import { deliveriesOf, freshTickets, sendAll } from '../load.ts';
import { type BenchRedis, source, startProduct, startRedis } from '../product.ts';

const inFlight = 200;
const sizes = { full: { jobs: 10_000, rounds: 5 }, short: { jobs: 100, rounds: 1 } };

/** Events in jobs that wait; the id of a job that holds several tells how many. */
async function storedEvents(client: BenchRedis['client']): Promise<number> {
  const ids = await client.lrange(`${tagOf(source)}:plan:wait`, 0, -1);
  return ids.reduce((sum, id) => sum + Number(/^together-(\d+)-/.exec(id)?.[1] ?? 1), 0);
}

/** Verified, stored, flushed to the disk and answered, with nothing else to do; beside that BullMQ's adding alone. */
export const deliveries: Measure = {
  name: 'deliveries',
  async run(size) {
    const { jobs, rounds } = sizes[size];
    const [fakes, redis, bare] = await Promise.all([startFakes(), startRedis(), startRedis()]);
    const product = await startProduct({ url: fakes.url, redis, role: 'intake' });
    const tickets = freshTickets();
    const bytes = deliveriesOf([100_000])[0]?.body.length ?? 0;
    const [ours = [], theirs = []] = await inTurns(rounds, [
      async () => {
        const signed = deliveriesOf(tickets(jobs));
        const { from, to } = await sendAll(product.hooks, signed, inFlight);
        return jobs / ((to - from) / 1_000);
      },
      async () => jobs / ((await bareBullmq({ do: 'add', socket: bare.socket, jobs, inFlight, bytes })).ms / 1_000),
    ]);
    await product.stop();
    const stored = await storedEvents(redis.client);
    await Promise.all([fakes.close(), redis.stop(), bare.stop()]);
    return [
      {
        measure: 'accepted deliveries, verified and durable',
        unit: '1/s',
        closeloop: ours,
        counted: stored / (rounds + 1),
        baseline: { name: 'bare BullMQ add', rounds: theirs },
        target: { of: 'ratio', is: 'at least', figure: 0.6 },
      },
    ];
  },
};
