import { setTimeout as sleep } from 'node:timers/promises';
import { startFakes } from '../fakes.ts';
import type { Measure } from '../harness.ts';
import { deliveriesOf, freshTickets, sendAll } from '../load.ts';
import { processUse } from '../machine.ts';
import { startProduct, startRedis } from '../product.ts';

const inFlight = 200;
const sizes = { full: { closings: 20_000, rounds: 3, restMs: 5_000 }, short: { closings: 60, rounds: 1, restMs: 500 } };
const megabyte = 1_000_000;

/** Resident memory of a process that has just begun, and the most it ever has while closings come as fast as they can. */
export const memory: Measure = {
  name: 'memory',
  async run(size) {
    const { closings, rounds, restMs } = sizes[size];
    const fakes = await startFakes();
    const tickets = freshTickets();
    const idle: number[] = [];
    const loaded: number[] = [];
    let counted = 0;
    // A process of its own for each round, as memory that was once taken is rarely given back.
    for (let round = 0; round < rounds; round++) {
      const redis = await startRedis();
      const product = await startProduct({ url: fakes.url, redis });
      await sleep(restMs);
      idle.push(processUse(product.pid).resident / megabyte);
      await fakes.reset();
      const created = fakes.created(closings);
      await sendAll(product.hooks, deliveriesOf(tickets(closings)), inFlight);
      counted = (await created).creates;
      loaded.push(processUse(product.pid).peak / megabyte);
      await product.stop();
      await redis.stop();
    }
    await fakes.close();
    return [
      {
        measure: 'resident memory, idle',
        unit: 'MB',
        closeloop: idle,
        counted,
        target: { of: 'value', is: 'at most', figure: 130 },
      },
      {
        measure: `resident memory, at most, under a load of ${closings} closings`,
        unit: 'MB',
        closeloop: loaded,
        counted,
        target: { of: 'value', is: 'at most', figure: 300 },
      },
    ];
  },
};
