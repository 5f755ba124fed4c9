import { startFakes } from '../fakes.ts';
import { inTurns, type Measure } from '../harness.ts';
import { freshTickets } from '../load.ts';
import { deskOfFakes, startProduct, startRedis } from '../product.ts';
import { answerAll, type Target } from './write-backs.ts';

const sizes = { full: { answers: 3_000, rounds: 3 }, short: { answers: 60, rounds: 1 } };
const actions = 3;
const rules = `
    answers:
      - { name: all, settle: 0, do: [{ reopen: { status: open } }, { note: '"Graded " & answer.grade' }, { tag: [unhappy] }] }`;

interface ActingTarget extends Omit<Target, 'earlier'> {
  acts: number;
}

/** Milliseconds from the page that showed the first grade to the last write or action. */
async function round(closings: readonly number[], earlier: number, target: ActingTarget): Promise<number> {
  const { lastWriteAt } = await answerAll(closings, { ...target, earlier });
  const { firstPageAt, lastActAt } = await target.fakes.acted(target.acts * closings.length);
  return Math.max(lastWriteAt, lastActAt) - firstPageAt;
}

async function open(acts: number): Promise<ActingTarget> {
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
