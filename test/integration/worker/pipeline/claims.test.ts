import { expect, test } from 'vitest';
import { type Advice, CloseloopError } from '../../../../core/errors.ts';
import { Claims, mostTogether } from '../../../../worker/pipeline/job-queue.ts';
import { done } from '../../../../worker/pipeline/jobs.ts';
import { until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import {
  type NumberStageOptions,
  numberStages,
  type ProcessNumber,
} from '../../../support/worker/pipeline/numbered-jobs.ts';
import { haveStalled } from '../../../support/worker/pipeline/stalled.ts';

const redis = useRedis();
let sources = 0;

/** A queue of its own, and two stages that work on it, as two processes do. */
function fresh(process: ProcessNumber, options: NumberStageOptions = {}) {
  const source = `claims-${++sources}`;
  const queue = { prefix: `{cl:${source}}`, name: 'write-back' };
  const claims = new Claims(redis.handle.client, queue);
  const running = new Set<number>();
  /** What two jobs were working on. */
  const twice: number[] = [];
  const watched: ProcessNumber = async (n, run) => {
    if (running.has(n)) twice.push(n);
    running.add(n);
    return await process(n, run).finally(() => running.delete(n));
  };
  const { open, runs, givenUp } = numberStages(source, watched, options);
  let ids = 0;
  const together = { keyOf: ({ n }: { n: number }) => `a key ${n}`, idOf: () => `job-${++ids}`, claims };
  const openOne = () => open({ ...queue, connection: redis.handle.bull(), together });
  const [one, two] = [openOne(), openOne()];
  const { jobs, empty } = one;
  const want = (...numbers: number[]) => jobs.addWanted(numbers.map((n) => ({ n })));
  const start = () => [one, two].map(({ stage }) => stage.start());
  const held = async () => (await jobs.queue.getJobs(['waiting'])).map(({ data }) => [data].flat().length).toSorted();
  const claimed = () => redis.handle.client.hgetall(`${queue.prefix}:claims:write-back`);
  return { jobs, claims, runs, twice, givenUp, want, start, held, empty, claimed };
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
const failure = (advice: Advice) => new CloseloopError('the vendor said no', advice);

test('what is wanted is added once, many to a job, and done', async () => {
  const { want, held, start, runs, empty, claimed } = fresh(async () => done);
  await want(...numbers(2 * mostTogether + 1));
  await want(...numbers(2 * mostTogether + 1), 7);
  expect(await held()).toEqual([1, mostTogether, mostTogether]);
  await want(200, 3, 201);
  expect(await held()).toEqual([1, 2, mostTogether, mostTogether]);
  start();
  await empty();
  expect([runs.size, ...new Set(runs.values())]).toEqual([2 * mostTogether + 3, 1]);
  expect(await claimed()).toEqual({});
});

test.each([[[1]], [[1, 2, 3]]])(
  'what is wanted while it is worked on is worked on once more afterwards (%j)',
  async (all) => {
    const gate = Promise.withResolvers<void>();
    const { want, jobs, start, runs, twice, empty, claimed } = fresh(async (n, run) => {
      if (n < 9 && run === 1) await gate.promise;
      return done;
    });
    await want(...all);
    start();
    await until(() => runs.size === all.length);
    await want(1);
    await want(1, 9);
    // Added by somebody who does not know that it is worked on.
    await jobs.addSingly([{ n: 1 }]);
    await until(async () => (await jobs.queue.getJobCountByTypes('waiting', 'active')) === 1);
    gate.resolve();
    await until(() => runs.get(1) === 2 && runs.get(9) === 1);
    await empty();
    expect(Object.fromEntries(runs)).toEqual({ ...Object.fromEntries(all.map((n) => [n, 1])), 1: 2, 9: 1 });
    expect([twice, await claimed()]).toEqual([[], {}]);
  },
);

test('what waits for a further try is not added besides', async () => {
  const { want, jobs, start, runs, empty, claimed } = fresh(async (n, run) => {
    if (n < 3 && run === 1) throw failure({ kind: 'transient' });
    return done;
  });
  await want(1);
  await want(2, 3);
  start();
  await until(async () => (await jobs.queue.getDelayedCount()) === 2 && runs.has(3));
  await want(1, 2);
  expect(await jobs.queue.getJobCountByTypes('waiting')).toBe(0);
  for (const job of await jobs.queue.getDelayed()) await job.promote();
  await empty();
  expect(Object.fromEntries(runs)).toEqual({ 1: 2, 2: 2, 3: 1 });
  expect(await claimed()).toEqual({});
});

test('what was wanted again while it was being given up is added anew', async () => {
  const gate = Promise.withResolvers<void>();
  const { want, start, runs, givenUp, empty, claimed } = fresh(async (_, run) => {
    if (run > 1) return done;
    await gate.promise;
    throw failure({ kind: 'permanent' });
  });
  await want(1);
  start();
  await until(() => runs.has(1));
  await want(1);
  gate.resolve();
  await until(() => runs.get(1) === 2);
  await empty();
  expect([givenUp, await claimed()]).toEqual([[1], {}]);
});

test('a claim counts only while its job is there, and keeps others out only while a worker has that', async () => {
  const { jobs, claims, want, held } = fresh(async () => done);
  // A process was killed before it added the job.
  await claims.hand(new Map([['a key 1', 'never-added']]));
  await want(1, 2);
  expect(await held()).toEqual([2]);
  const [job] = await jobs.queue.getJobs(['waiting']);
  const id = job?.id ?? '';
  const lock = jobs.queue.toKey(`${id}:lock`);
  await redis.handle.client.set(lock, 'a-worker');
  expect(await claims.begin(['a key 1', 'a key 2'], id)).toEqual(['a key 1', 'a key 2']);
  expect(await claims.begin(['a key 1', 'a key 3'], 'another')).toEqual(['a key 3']);
  // Its worker was killed: whoever is first goes on.
  await redis.handle.client.del(lock);
  expect(await claims.want(['a key 1', 'a key 2'])).toEqual([]);
  expect(await claims.begin(['a key 1'], 'another')).toEqual(['a key 1']);
  expect(await claims.end(['a key 1', 'a key 2'], id)).toEqual(['a key 2']);
});

test('what a killed process was working on gets jobs of its own, each of which holds its claim', async () => {
  const { want, jobs, claims, start, runs, twice, empty, claimed } = fresh(async () => done);
  await want(1, 2, 3);
  const [job] = await jobs.queue.getJobs(['waiting']);
  const id = job?.id ?? '';
  await claims.begin(['a key 1', 'a key 2', 'a key 3'], id);
  // An answer came while it was away.
  await want(1);
  await haveStalled(jobs, 1);
  start();
  await empty();
  expect([Object.fromEntries(runs), twice, await claimed()]).toEqual([{ 1: 1, 2: 1, 3: 1 }, [], {}]);
});
