import { setTimeout as sleep } from 'node:timers/promises';
import { startFakes } from '../fakes.ts';
import type { Measure } from '../harness.ts';
import { deliveriesOf, freshTickets, sendAll } from '../load.ts';
import { configure, journeysIn, program, startProduct, startRedis } from '../product.ts';
import { node } from './commands.ts';

const inFlight = 200;
const sizes = {
  full: { requests: 1_000_000, open: 2_000, rounds: 3 },
  short: { requests: 10_120, open: 120, rounds: 1 },
};

/** Calls that find one new grade among those that are still open, in an account that has many requests. */
export const collecting: Measure = {
  name: 'collecting',
  async run(size) {
    const { requests, open, rounds } = sizes[size];
    const [fakes, redis] = await Promise.all([startFakes(), startRedis()]);
    const options = { url: fakes.url, redis };
    const [product, { config, remove }] = await Promise.all([startProduct(options), configure(options)]);
    await fakes.reset({ requests: requests - open });
    const created = fakes.created(open);
    await sendAll(product.hooks, deliveriesOf(freshTickets()(open)), inFlight);
    await created;
    while ((await journeysIn(redis, 'asked')) < open) await sleep(50);
    // Else it collects as well, and what each pass read could not be told apart.
    await product.stop();
    const collect = async (graded: number) => {
      const before = await fakes.grade(graded);
      await node(program, 'collect', '--once', '--config', config);
      return (await fakes.grade(graded)).service - before.service;
    };
    // Which order the export has is known from the first pass over the whole of it.
    const whole = await collect(1);
    const ours: number[] = [];
    for (let graded = 2; graded <= rounds + 1; graded++) ours.push(await collect(graded));
    const found = open - (await journeysIn(redis, 'asked')) - 1;
    await Promise.all([fakes.close(), redis.stop()]);
    remove();
    return [
      {
        measure: `calls that find one new grade among ${open} open ones, of ${requests} requests`,
        unit: '',
        closeloop: ours,
        counted: found / rounds,
        baseline: { name: 'a pass over the whole export', rounds: ours.map(() => whole) },
        target: { of: 'ratio', is: 'at most', figure: 0.05 },
      },
    ];
  },
};
