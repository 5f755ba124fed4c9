import { setTimeout as sleep } from 'node:timers/promises';
import { type Fakes, startFakes } from '../fakes.ts';
import { inTurns, type Measure } from '../harness.ts';
import { deliveriesOf, freshTickets, sendAll } from '../load.ts';
import {
  type BenchRedis,
  deskOfFakes,
  journeysIn,
  type Product,
  program,
  startProduct,
  startRedis,
} from '../product.ts';
import { node } from './commands.ts';

const inFlight = 200;
const sizes = { full: { answers: 3_000, rounds: 3 }, short: { answers: 60, rounds: 1 } };
const actions = 3;
const rules = `
    answers:
      - { name: all, settle: 0, do: [{ reopen: { status: open } }, { note: '"Graded " & answer.grade' }, { tag: [unhappy] }] }`;

interface Target {
  fakes: Fakes;
  redis: BenchRedis;
  product: Product;
  acts: number;
}

/** Milliseconds from the page that showed the first grade to the last write or action. */
async function round(closings: readonly number[], earlier: number, target: Target): Promise<number> {
  const { fakes, redis, product, acts } = target;
  await fakes.reset({ requests: earlier });
  const created = fakes.created(closings.length);
  await sendAll(product.hooks, deliveriesOf(closings), inFlight);
  await created;
  while ((await journeysIn(redis, 'asked')) < closings.length) await sleep(50);
  await fakes.grade(closings.length);
  await node(program, 'collect', '--once', '--config', product.config);
  const { lastWriteAt } = await fakes.written(closings.length);
  const { firstPageAt, lastActAt } = await fakes.acted(acts * closings.length);
  return Math.max(lastWriteAt, lastActAt) - firstPageAt;
}

async function open(acts: number): Promise<Target> {
  const [fakes, redis] = await Promise.all([startFakes(), startRedis()]);
  const settings = `${deskOfFakes(fakes.url, '')}${acts > 0 ? rules : ''}`;
  return { fakes, redis, product: await startProduct({ url: fakes.url, redis, settings }), acts };
}

/** What three actions for each answer add to writing the answer. */
export const acting: Measure = {
  name: 'acting',
  async run(size) {
    const { answers, rounds } = sizes[size];
    const targets = await Promise.all([open(actions), open(0)]);
    const tickets = freshTickets();
    const [withActions = [], without = []] = await inTurns(
      rounds,
      targets.map((target) => {
        let earlier = 0;
        return async () => {
          const ms = await round(tickets(answers), earlier, target);
          earlier += answers;
          return ms / answers;
        };
      }),
    );
    const { acts } = await targets[0].fakes.acted(0);
    for (const { product, fakes, redis } of targets) {
      await product.stop();
      await Promise.all([fakes.close(), redis.stop()]);
    }
    return [
      {
        measure: 'an answer written, with three actions',
        unit: 'ms',
        closeloop: withActions,
        counted: acts / actions,
        baseline: { name: 'an answer written', rounds: without },
        target: { of: 'ratio', is: 'at most', figure: 2 },
      },
    ];
  },
};
